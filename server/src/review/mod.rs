//! Review: how the agent's work reaches the user's files. Nothing gets there but through this door.
//!
//! | what | where |
//! |---|---|
//! | where two texts differ | `hunks` |
//! | three-way merges | `merge` |
//! | a change, decided from three states; what both sides have after a verdict | `change`; `verdict` |
//! | where to look for changes, and for how long | `candidates`, `read_so_far` |
//! | what is accepted only by itself, or never: by its name, and by what the user's own files lead to | `protected` |
//! | listing, accepting, rejecting; of what; how far that has come | `door`; `selection`; `steps` |
//! | what somebody was shown of it | `displayed` |
//! | undoing turns | `checkpoints` |
//! | what the agent is to be told of it | `untold` |
//! | what was accepted and is not committed | `accepted` |
//! | writing the user's files | `batch`, `user_files`, and the editor through [`DocumentEditor`] |
//!
//! Architecture invariant: a file of the user's is written only if it still is what the change was made against, and
//! never through a link. What is not accepted stays pending, whatever fails.

mod accepted;
mod batch;
mod candidates;
mod change;
mod checkpoints;
mod displayed;
mod door;
mod hunks;
mod merge;
mod permissions;
mod protected;
mod read_so_far;
mod selection;
mod steps;
mod unfinished;
mod untold;
mod user_files;
mod verdict;

pub use accepted::{Acceptance, Accepted};
pub use change::{Change, ChangeKind, Conflict, Hunk, Part};
pub use checkpoints::Checkpoints;
pub use displayed::Displayed;
pub use door::{Listing, Outcome, accept, count, list, list_closed, reject};
pub use hunks::LineHunk;
pub use merge::ConflictLines;
pub use selection::Selection;
pub use steps::Steps;
pub use unfinished::clear_up_after_kills;
pub use untold::Untold;
pub use verdict::{After, Verdict};

use crate::view::NoEditor;
use futures::future::BoxFuture;
use std::path::Path;

/// The editor, as far as accepting a change needs it.
pub trait DocumentEditor: Send + Sync {
    /// Makes an edit in a document that is open, such that one undo takes it back. The document must still hold `seen`.
    fn edit(&self, host_path: &Path, seen: &str, hunks: Vec<LineHunk>) -> BoxFuture<'static, Edited>;
}

/// What came of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// The document is not open, so its file is to be written.
    NotOpen,
    /// It is made.
    Done,
    /// The editor did not make it, and why.
    Refused(String),
}

impl DocumentEditor for NoEditor {
    fn edit(&self, _: &Path, _: &str, _: Vec<LineHunk>) -> BoxFuture<'static, Edited> {
        Box::pin(std::future::ready(Edited::NotOpen))
    }
}
