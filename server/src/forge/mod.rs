//! GitHub and Gitea, as far as a pull request needs them.
//!
//! Architecture invariant: the token goes to the API of the forge that the user configured it for, over HTTPS unless
//! the user named that very origin, and nowhere else. It is in no error and in no log.

mod place;
mod pull_request;

pub use place::{Place, find};
pub use pull_request::{Opened, PullRequest};
