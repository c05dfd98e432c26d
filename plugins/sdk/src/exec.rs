//! Commands, always in the sandbox. Needs `exec = true` in `plugin.toml`, and the user's grant.

use crate::error::Result;
use crate::host;
use std::time::Duration;

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// None when a signal ended it.
    pub exit_code: Option<i32>,
    /// Stdout and stderr as they came; the middle is cut when it is long.
    pub output: String,
    /// Whether output was cut.
    pub cut: bool,
}

impl Outcome {
    /// Whether it ended with 0.
    pub fn success(&self) -> bool {
        self.exit_code == Some(0)
    }
}

/// Runs a command line with bash in the workspace. It is stopped after the timeout.
pub fn run(command: &str, timeout: Duration) -> Result<Outcome> {
    host::exec_run(command, u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX))
}
