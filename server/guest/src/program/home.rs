//! How much is in the agent's home. It is counted between calls, so no call waits for it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::Instant;

/// Files that are counted. A home with more of them holds at least that.
const FILES_MAX: usize = 1 << 20;
/// Counting takes no more than this share of the time.
const SHARE: u32 = 10;

/// The agent's home.
pub(super) struct Home {
    path: Option<PathBuf>,
    bytes: AtomicU64,
    /// When it may be counted again. Held while it is counted.
    next: Mutex<Instant>,
}

impl Home {
    #[expect(clippy::disallowed_methods, reason = "the guest has no environment layer")]
    pub(super) fn of_program() -> Self {
        Self::at(std::env::var_os("HOME").map(PathBuf::from))
    }

    fn at(path: Option<PathBuf>) -> Self {
        Self { path, bytes: AtomicU64::new(0), next: Mutex::new(Instant::now()) }
    }

    /// What it took of the disk when it was counted last.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts it, unless it is being counted or was a moment ago.
    pub(super) fn count(&self) {
        let mut next = match self.next.try_lock() {
            Ok(next) => next,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let begun = Instant::now();
        if let Some(path) = self.path.as_deref().filter(|_| *next <= begun) {
            self.bytes.store(allocated(path), Ordering::Relaxed);
            *next = Instant::now() + begun.elapsed() * SHARE;
        }
    }
}

/// What all below a folder takes of its disk. No link is followed, and nothing that is mounted there is counted.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn allocated(folder: &Path) -> u64 {
    const BLOCK_BYTES: u64 = 512;
    let Ok(top) = folder.symlink_metadata() else { return 0 };
    let (mut bytes, mut files) = (0, 0);
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // What can't be looked at can't be counted.
            let Ok(facts) = entry.metadata() else { continue };
            files += 1;
            if facts.dev() != top.dev() || files > FILES_MAX {
                continue;
            }
            bytes += facts.blocks() * BLOCK_BYTES;
            if facts.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange the world themselves")]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_home_is_counted_and_no_link_is_followed() {
        let top = tempfile::tempdir().unwrap();
        let home = top.path().join("home");
        std::fs::create_dir_all(home.join("deep/er")).unwrap();
        std::fs::write(top.path().join("outside"), vec![1; 4 << 20]).unwrap();
        std::os::unix::fs::symlink(top.path().join("outside"), home.join("link")).unwrap();
        std::os::unix::fs::symlink(top.path(), home.join("deep/up")).unwrap();
        std::fs::write(home.join("deep/er/file"), vec![1; 1 << 20]).unwrap();
        let home = Home::at(Some(home));
        home.count();
        assert!((1 << 20..2 << 20).contains(&home.bytes()), "{}", home.bytes());
    }
}
