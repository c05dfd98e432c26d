//! One thing that was looked at.

use crate::distribution::Remedy;
use crate::sandbox::SandboxError;

/// What came of looking.
pub(super) struct Finding {
    /// Its name for programs. It stays the same from version to version.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    pub(super) state: State,
    /// What is there, or what is missing.
    pub(super) text: String,
    /// What to do about it.
    pub(super) remedy: Option<Remedy>,
}

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As it should be.
    Well,
    /// Airlock works without it, and would be better with it.
    Hint,
    /// Airlock needs it.
    Failed,
}

impl Finding {
    pub(super) fn well(name: &'static str, title: &'static str, text: impl Into<String>) -> Self {
        Self { name, title, state: State::Well, text: text.into(), remedy: None }
    }

    pub(super) fn hint(
        name: &'static str,
        title: &'static str,
        text: impl Into<String>,
        remedy: impl Into<Remedy>,
    ) -> Self {
        Self { name, title, state: State::Hint, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn failed(
        name: &'static str,
        title: &'static str,
        text: impl Into<String>,
        remedy: impl Into<Remedy>,
    ) -> Self {
        Self { state: State::Failed, ..Self::hint(name, title, text, remedy) }
    }

    /// What the sandbox said of something.
    pub(super) fn of_sandbox(
        name: &'static str,
        title: &'static str,
        found: Result<String, SandboxError>,
        is_required: bool,
    ) -> Self {
        match found {
            Ok(text) => Self::well(name, title, text),
            Err(SandboxError { what, remedy, .. }) if is_required => Self::failed(name, title, what, remedy),
            Err(SandboxError { what, remedy, .. }) => Self::hint(name, title, what, remedy),
        }
    }
}
