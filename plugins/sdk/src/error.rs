//! What went wrong, in the words of the interface.

use std::fmt;

/// What tools, commands and the host's functions give.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a tool or of the host. Any error becomes one with `?`; it is [`Kind::Failed`] then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: String,
    retryable: bool,
}

/// What kind of error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The user did not grant it.
    Denied,
    /// There is no such thing.
    NotFound,
    /// It was asked for in a way that makes no sense.
    Invalid,
    /// It is beyond a limit.
    TooLarge,
    /// The user stopped the turn.
    Cancelled,
    /// It took too long.
    Timeout,
    /// It is not there now.
    Unavailable,
    /// It failed for another reason.
    Failed,
    /// A word of a plugin's or of a newer host.
    Other(String),
}

impl Error {
    /// An error: what happened and what to do, for people and the model.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: false }
    }

    /// It failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// The arguments make no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    /// The same call may work later.
    #[must_use]
    pub fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    /// The same, with what was being done in front.
    #[must_use]
    pub fn context(self, doing: impl fmt::Display) -> Self {
        Self { message: format!("{doing}: {}", self.message), ..self }
    }

    /// What kind it is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the same call may work later.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "the host's words are read in a component")
    )]
    pub(crate) fn of_host(code: &str, message: String, retryable: bool) -> Self {
        Self { kind: Kind::of_code(code), message, retryable }
    }
}

impl Kind {
    /// As the interface writes it.
    pub fn code(&self) -> &str {
        match self {
            Self::Denied => "denied",
            Self::NotFound => "not-found",
            Self::Invalid => "invalid",
            Self::TooLarge => "too-large",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
            Self::Other(code) => code,
        }
    }

    /// As the interface writes it, read.
    pub fn of_code(code: &str) -> Self {
        match code {
            "denied" => Self::Denied,
            "not-found" => Self::NotFound,
            "invalid" => Self::Invalid,
            "too-large" => Self::TooLarge,
            "cancelled" => Self::Cancelled,
            "timeout" => Self::Timeout,
            "unavailable" => Self::Unavailable,
            "failed" => Self::Failed,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// As `anyhow` has it: every error converts, and so ours cannot be a [`std::error::Error`] itself.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Self::failed(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_reads_what_it_writes() {
        for code in [
            "denied",
            "not-found",
            "invalid",
            "too-large",
            "cancelled",
            "timeout",
            "unavailable",
            "failed",
            "mine",
        ] {
            assert_eq!(Kind::of_code(code).code(), code);
        }
    }

    #[test]
    fn any_error_converts_and_ours_stays_what_it_is() {
        fn number(text: &str) -> Result<i32> {
            Ok(text.parse::<i32>()?)
        }
        fn passed_on() -> Result<()> {
            Err(Error::not_found("no such file").context("a.txt").retryable())?;
            Ok(())
        }
        assert_eq!(number("x").unwrap_err(), Error::failed("invalid digit found in string"));
        let error = passed_on().unwrap_err();
        assert_eq!((error.kind(), error.message()), (&Kind::NotFound, "a.txt: no such file"));
        assert!(error.is_retryable());
    }
}
