//! The end of what somebody says on stderr, kept for the case that it is the reason of what went wrong.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Clones are the same words.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<String>>);

const KEPT_BYTES: usize = 4 << 10;

impl LastWords {
    /// Hears the next piece.
    pub(super) fn hear(&self, bytes: &[u8]) {
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        words.push_str(&String::from_utf8_lossy(bytes));
        let cut = words.ceil_char_boundary(words.len().saturating_sub(KEPT_BYTES));
        words.drain(..cut);
    }

    /// Hears all that comes.
    pub(super) async fn hear_all(&self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 1 << 10];
        while let Ok(read @ 1..) = source.read(&mut chunk).await {
            self.hear(&chunk[..read]);
        }
    }

    /// What was said last; empty when nothing was.
    pub(super) fn said(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned()
    }

    /// The same in brackets, to stand behind what went wrong.
    pub(super) fn in_brackets(&self) -> String {
        let said = self.said();
        if said.is_empty() { said } else { format!(" ({said})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_end_is_kept_and_no_character_is_cut() {
        let words = LastWords::default();
        words.hear_all("ä".repeat(KEPT_BYTES).as_bytes()).await;
        words.hear("x\n".as_bytes());
        assert!(words.said().len() <= KEPT_BYTES && words.said().ends_with("äx"));
    }
}
