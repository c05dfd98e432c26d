//! The disk that a sandbox writes to is the user's, and nothing else bounds how much it writes. So it is watched, and
//! the sandbox is ended before the disk is full.

use crate::limits::{SANDBOX_DISK_KEPT_FILES, SANDBOX_DISK_KEPT_MIB, SANDBOX_DISK_LOOK_MS};
use crate::storage;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Waits until less is free than is kept for the user, and says so. What is kept is never more than half of what was
/// free at the beginning: who starts with little may use some of it.
pub(super) async fn nearly_full(folder: PathBuf) -> String {
    let Ok(at_first) = Free::on(&folder) else {
        // What cannot be asked now cannot be asked later; a full disk is then the command's own error.
        return std::future::pending().await;
    };
    let mib_kept = SANDBOX_DISK_KEPT_MIB.min(at_first.mib / 2);
    let files_kept = SANDBOX_DISK_KEPT_FILES.min(at_first.files / 2);
    loop {
        tokio::time::sleep(Duration::from_millis(SANDBOX_DISK_LOOK_MS)).await;
        let left = match Free::on(&folder) {
            Ok(free) if free.mib < mib_kept => format!("{} MiB are free", free.mib),
            Ok(free) if free.files < files_kept => format!("{} more files can be made", free.files),
            _ => continue,
        };
        let place = folder.display();
        return format!("it was ended because the disk is nearly full: {left} where {place} is");
    }
}

/// What the user may still write. Empty files fill a disk, too.
struct Free {
    mib: u64,
    files: u64,
}

impl Free {
    fn on(folder: &Path) -> io::Result<Self> {
        let files = storage::free_files(folder)?.unwrap_or(u64::MAX);
        Ok(Self { mib: storage::free_mib(folder)?, files })
    }
}
