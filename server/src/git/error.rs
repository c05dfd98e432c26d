//! Why git did not do something, and what the user can do.

/// What failed, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {remedy}")]
pub struct GitError {
    what: String,
    remedy: String,
}

impl GitError {
    /// What failed, and the remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }

    /// Something that could not be read or written.
    pub(super) fn disk(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::new(format!("{what} ({error})"), "correct that and try again")
    }
}
