//! What the user changed in the state of a repository, and what of that the agent has to know.

use super::entry::{Content, Entry, FileEntry, digest};
use super::git_fingerprint::Print;
use super::git_paths::is_index;
use crate::neutral::neutral_line;
use crate::paths::WorkspacePath;

/// What the user has where that is not what both sides last had.
pub(super) struct Change {
    pub(super) path: WorkspacePath,
    pub(super) entry: Entry,
    pub(super) print: Option<Print>,
}

/// What the agent has to know of changes that it does not see: which these are, and in words.
pub(super) fn news_of(own: &WorkspacePath, changes: &[Change]) -> Option<(String, String)> {
    const NAMED_MAX: usize = 5;
    const SAID_MAX: usize = 100;
    if changes.is_empty() {
        return None;
    }
    let which: Vec<String> =
        changes.iter().map(|change| format!("{} {:?}", change.path, change.print)).collect();
    let named = changes.iter().filter(|change| !is_index(&change.path)).take(NAMED_MAX).map(|change| {
        let name = change.path.as_path().strip_prefix(own.as_path()).unwrap_or(change.path.as_path());
        let says = match &change.entry {
            Entry::Missing => "removed".to_owned(),
            Entry::File(FileEntry { content: Content::Whole(bytes), .. }) if bytes.len() <= SAID_MAX => {
                String::from_utf8_lossy(bytes).trim().to_owned()
            }
            _ => "changed".to_owned(),
        };
        neutral_line(&format!("{}: {says}", name.display()))
    });
    let named: Vec<String> = named.collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) };
    let sentence = format!(
        "[the user changed the state of git in {}{named}. You had changed your copy of it, so that your HEAD, index and \
         branches stay as you left them and don't show this. The user's commits are there by their hashes]\n",
        neutral_line(own.as_str())
    );
    Some((digest(which.join("\n").as_bytes()), sentence))
}
