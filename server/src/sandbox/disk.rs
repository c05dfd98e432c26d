//! The disk that a sandbox writes to is the user's, and nothing else bounds how much it writes. So it is watched, and
//! the sandbox is ended before the disk is full.

use crate::limits::{SANDBOX_DISK_KEPT_MIB, SANDBOX_DISK_LOOK_MS};
use crate::storage;
use std::path::PathBuf;
use std::time::Duration;

/// Waits until less is free than is kept for the user, and says so. What is kept is never more than half of what was
/// free at the beginning: who starts with little may use some of it.
pub(super) async fn nearly_full(folder: PathBuf) -> String {
    let free = || storage::free_mib(&folder);
    let Ok(at_first) = free() else {
        // What cannot be asked now cannot be asked later; a full disk is then the command's own error.
        return std::future::pending().await;
    };
    let kept = SANDBOX_DISK_KEPT_MIB.min(at_first / 2);
    loop {
        tokio::time::sleep(Duration::from_millis(SANDBOX_DISK_LOOK_MS)).await;
        match free() {
            Ok(free) if free < kept => {
                return format!(
                    "it was ended because the disk is nearly full: {free} MiB are free where {} is",
                    folder.display()
                );
            }
            _ => {}
        }
    }
}
