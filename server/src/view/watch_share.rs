//! How many folders are watched: what the kernel gives a user is for the user's other programs, too.

use crate::limits::WATCHED_FOLDERS_MAX;
use crate::storage;
use std::path::Path;
use std::sync::OnceLock;

const ALLOWED: &str = "/proc/sys/fs/inotify/max_user_watches";
/// One workspace takes no more than this part of it.
const SHARE: usize = 2;

pub(super) const RAISE: &str =
    "the system's limit is reached: raise it with `sudo sysctl fs.inotify.max_user_watches=1048576`";

/// Why no more than so many folders of a workspace are watched, where that is so.
pub(super) fn why_no_more(watched: usize) -> Option<String> {
    static OF_USER: OnceLock<usize> = OnceLock::new();
    let read = || storage::read_text(Path::new(ALLOWED), 64).ok().flatten()?.trim().parse().ok();
    why_not(watched, *OF_USER.get_or_init(|| read().unwrap_or(usize::MAX)))
}

fn why_not(watched: usize, of_user: usize) -> Option<String> {
    if watched >= WATCHED_FOLDERS_MAX {
        return Some(format!("it has more than {WATCHED_FOLDERS_MAX} folders"));
    }
    (watched >= of_user / SHARE).then(|| format!("half of what the user may watch is taken; {RAISE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_leaves_the_user_half_of_what_may_be_watched() {
        assert_eq!(why_not(9_999, 20_000), None);
        assert!(why_not(10_000, 20_000).is_some_and(|why| why.contains("max_user_watches")));
        assert_eq!(why_not(WATCHED_FOLDERS_MAX - 1, usize::MAX), None);
        assert!(why_not(WATCHED_FOLDERS_MAX, usize::MAX).is_some());
    }
}
