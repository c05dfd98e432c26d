//! How the program ends, as its exit status.

use super::signals::Signal;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Well,
    /// Something failed.
    Failed,
    /// It was called in a way that makes no sense.
    Misused,
    /// A signal ended it.
    Signalled(Signal),
    /// Nobody reads its output any more.
    OutputClosed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        const SIGNALLED: u8 = 128;
        const SIGPIPE: u8 = 13;
        Self::from(match exit {
            Exit::Well => 0,
            Exit::Failed => 1,
            Exit::Misused => 2,
            Exit::Signalled(signal) => SIGNALLED + signal.number(),
            Exit::OutputClosed => SIGNALLED + SIGPIPE,
        })
    }
}
