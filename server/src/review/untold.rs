//! What the user did with the agent's changes, until the agent is told in its next turn.

use crate::storage;
use std::io;
use std::path::{Path, PathBuf};

/// Sentences for the agent, on the disk.
pub struct Untold(PathBuf);

const MAX_BYTES: usize = 1 << 20;

impl Untold {
    /// Those of the session whose folder this is.
    pub fn of(session_folder: &Path) -> Self {
        Self(session_folder.join("untold"))
    }

    /// One more.
    pub fn add(&self, sentence: &str) -> io::Result<()> {
        let before = self.read();
        // A long line of reviews is told by its end.
        let start = before.len().saturating_sub(MAX_BYTES / 2);
        let before = &before[before.ceil_char_boundary(start)..];
        storage::replace(&self.0, format!("{before}{}\n", sentence.replace('\n', " ")).as_bytes())
    }

    /// All of them, which are then told.
    pub fn take(&self) -> Option<String> {
        let text = self.read();
        // If it stays, it is told twice.
        let _ = storage::remove(&self.0);
        (!text.is_empty()).then_some(text)
    }

    fn read(&self) -> String {
        storage::read_text(&self.0, MAX_BYTES).ok().flatten().unwrap_or_default()
    }
}
