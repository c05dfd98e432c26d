//! A session's history on disk: append-only, a line a message, synced before it is shown as done.
//!
//! What can be lost when the process is killed is the line that was being written, and nothing else.

mod entry;
mod folder;
mod load;
mod repair;
mod writer;

pub use entry::{Entry, Header, Line, UsageEntry};
pub use folder::{HistoryFolder, Summary};
pub use load::Loaded;
pub use repair::repair;
pub use writer::{History, Saved};

use std::path::PathBuf;

/// Why a history cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// No such session.
    #[error("there is no session {0:?}: /sessions lists those there are")]
    Unknown(String),
    /// Another process or session writes to it.
    #[error("the session {0} is open in another window or editor: close it there first")]
    InUse(String),
    /// It cannot be read or written.
    #[error("cannot {doing} the history {}: {source}", path.display())]
    Disk {
        /// The verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It holds no line that this version can read.
    #[error("the history {} holds nothing that this version can read", .0.display())]
    Unreadable(PathBuf),
}
