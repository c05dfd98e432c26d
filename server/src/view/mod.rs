//! The agent's view of the workspace: a copy-on-write layer over the user's files that is kept fresh.
//!
//! | what | where |
//! |---|---|
//! | what is at a path | `entry` |
//! | what the user has in front of them | `editor_view` |
//! | the user's side: files and unsaved buffers | `user_side` |
//! | the agent's side: the overlay's upper folder | `upper` |
//! | what both last agreed on; contents, each kept once | `base`; `contents` |
//! | what git ignores | `ignored` |
//! | which files the user changed; what of that is not in the view yet | `watch`; `due` |
//! | bringing that into the sandbox; what it shows as it was; what a new one need not be brought | `freshness`; `stale`; `settling` |
//! | git's state, kept together: which paths; what tells two apart; its new objects | `git_paths`; `git_fingerprint`; `git_objects` |
//! | … the agent's copies; whose they are; what the user changed; following that | `git_copies`; `git_ownership`; `git_changes`; `git_following` |
//! | all of it for one session | `session_view` |
//!
//! An overlay does not follow the folder below it: a file that is replaced by a rename, as editors save, stays the old
//! one inside once it was looked at. So what the user changes is put into the view before the next tool call, where
//! the agent has not changed the same path itself.

mod base;
mod contents;
mod due;
mod editor_view;
mod entry;
mod freshness;
mod git_changes;
mod git_copies;
mod git_fingerprint;
mod git_following;
mod git_objects;
mod git_ownership;
mod git_paths;
#[cfg(test)]
mod git_tests;
mod ignored;
mod session_view;
mod settling;
mod stale;
mod upper;
mod user_side;
mod watch;
mod watch_share;

pub use base::{Agreed, Base};
pub use contents::Contents;
pub use editor_view::{EditorView, OpenDocument, OpenDocuments, Shown, ShownDiagnostic, ShownSelection};
pub use entry::{Content, Entry, FileEntry};
pub use freshness::Sides;
pub use git_ownership::GitOwners;
pub use ignored::Ignored;
pub use session_view::{HeldView, SessionView};
pub use upper::{Cover, InUpper, Mention, Mentions, Unreadable, Upper};
pub use user_side::{Buffers, NoEditor, UserSide};
pub use watch::WorkspaceWatches;
