//! Git, on the user's side of the wall: what the user accepted, committed on a branch of the agent's own, and pushed.
//!
//! | what | where |
//! |---|---|
//! | the user's `git`, started with limits | `program` |
//! | where the repository is | `repository` |
//! | settings as data | `settings` |
//! | a repository in which nothing can run | `room` |
//! | … and out of which nothing leads | `links` |
//! | what it tracks, without git | `index` |
//! | what is on the disk | `snapshot`, stored by `blobs` |
//! | what git would change in it | `conversion` |
//! | committing | `commit` |
//! | where to push, and pushing | `remote`, `push` |
//!
//! Architecture invariant: nothing of a repository is ever run, and none of its settings has an effect that `room` does
//! not name. Nothing here opens a file of the sandbox, and no credential passes through here: git gets it from the
//! user's own helpers.

mod blobs;
mod commit;
mod conversion;
mod error;
pub mod index;
mod links;
mod program;
mod push;
mod remote;
mod repository;
mod room;
mod settings;
mod snapshot;

pub use commit::{Branch, Changed, Prepared};
pub use error::GitError;
pub use push::{Commit, PushPlan};
pub use remote::{Address, Remote};
pub use room::Room;
