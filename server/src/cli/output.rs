//! Where text goes. Writing waits in a task, so that a reader who stopped reading does not stop the program's ears.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt, Stderr, Stdout};

/// Stdout or stderr.
pub(super) struct Output<W>(W);

impl Output<Stdout> {
    pub(super) fn stdout() -> Self {
        Self(tokio::io::stdout())
    }
}

impl Output<Stderr> {
    pub(super) fn stderr() -> Self {
        Self(tokio::io::stderr())
    }
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// Writes a text; it is out when this returns.
    pub(super) async fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.0.write_all(text.as_bytes()).await?;
        self.0.flush().await
    }
}
