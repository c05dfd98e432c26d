//! What a plugin writes to stdout and stderr: the end of it is kept, for whoever wants to know what went wrong.

use crate::limits::PLUGIN_STDERR_TAIL_BYTES;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The end of what was written.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// As text, without what could confuse a terminal.
    pub(super) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        crate::neutral::neutral(&String::from_utf8_lossy(kept.make_contiguous()))
    }

    fn take(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(PLUGIN_STDERR_TAIL_BYTES)..];
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = (kept.len() + bytes.len()).saturating_sub(PLUGIN_STDERR_TAIL_BYTES);
        kept.drain(..over);
        kept.extend(bytes);
    }
}

impl IsTerminal for Tail {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Tail {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Tail {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Tail {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Tail {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_whatever_the_pieces_are() {
        for piece in [1, 7, 4096, 100_000] {
            let tail = Tail::default();
            let all: Vec<u8> = (0..100_000_u32).map(|number| b'a' + (number % 26) as u8).collect();
            all.chunks(piece).for_each(|bytes| tail.take(bytes));
            assert_eq!(tail.text().as_bytes(), &all[all.len() - PLUGIN_STDERR_TAIL_BYTES..]);
        }
    }
}
