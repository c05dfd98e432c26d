//! The files of the workspace, as the agent sees them: with unsaved buffers and its own pending changes.
//! Paths are relative to the workspace, with `/`.
//!
//! Reading needs `workspace = ["read"]` in `plugin.toml`, proposing `"propose"`, and the user's grant.

use crate::error::{Error, Result};
use crate::host;

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The file.
    pub path: String,
    /// Counted from 1.
    pub line: u32,
    /// The line.
    pub text: String,
}

/// A file's bytes.
pub fn read(path: &str) -> Result<Vec<u8>> {
    host::workspace_read(path)
}

/// A file's text.
pub fn read_text(path: &str) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::invalid(format!("{path} is no text")))
}

/// The files that match a pattern such as `src/**/*.rs`, sorted; those that git ignores are left out.
pub fn glob(pattern: &str) -> Result<Vec<String>> {
    host::workspace_glob(pattern)
}

/// The lines that match a regular expression, in the files that match the pattern, or in all when it is empty.
pub fn grep(pattern: &str, files: &str) -> Result<Vec<Match>> {
    host::workspace_grep(pattern, files)
}

/// Puts a file's new content among the pending changes. The user's file is as it was until the user accepts.
pub fn propose_edit(path: &str, content: impl AsRef<[u8]>) -> Result<()> {
    host::workspace_propose_edit(path, content.as_ref())
}
