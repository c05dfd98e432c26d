//! The user's word that a workspace's own configuration may be used.
//!
//! Trust is given to exact bytes: the user is shown a [`Survey`], and what was trusted is what it held. When a file
//! changes, comes or goes, the workspace is no longer trusted until the user has looked again.
//!
//! Architecture invariant: a workspace's own files are read for their effect only through [`TrustedWorkspace`],
//! which exists only for a trusted workspace and hands out only bytes that were trusted.

mod digest;
mod store;
mod survey;
mod trusted;

#[cfg(test)]
mod tests;

pub use digest::Digest;
pub use store::{TrustState, TrustStore};
pub use survey::{Survey, SurveyedFile, survey};
pub use trusted::TrustedWorkspace;

use std::path::PathBuf;

/// Why a workspace cannot be looked over or trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is something in it that trust cannot be given to.
    #[error("{} cannot be trusted: {reason}", path.display())]
    Untrustable {
        /// What.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// It is no longer what the user was shown.
    #[error("the workspace changed since it was shown ({}); look at it again before trusting it", files.join(", "))]
    ChangedMeanwhile {
        /// What changed.
        files: Vec<String>,
    },
    /// The trust store cannot be read or written.
    #[error("cannot {action} the trust store {}: {source}; make it accessible and try again", path.display())]
    Store {
        /// What was to be done.
        action: &'static str,
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
