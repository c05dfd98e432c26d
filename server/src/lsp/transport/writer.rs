//! The one task that writes to the client.
//!
//! It takes a message only when it can write it, so a client that does not read holds up those who send. It flushes when
//! nothing more is ready.
//!
//! Two orders hold: what a handler sent to the client before it responded is written before its response, and nothing but
//! what LSP allows is written before the response to `initialize`.
//!
//! Architecture invariant: frames are written whole, and by nobody else.

use std::io;

use futures::{FutureExt, Stream, StreamExt};
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use tower_lsp::jsonrpc::{Request, Response};

use crate::limits::{LSP_CHUNK_BYTES, LSP_OVERTAKING_MAX};

/// A response on its way to the client.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response,
    /// Whether it is the one that says the server is initialized.
    pub(super) opens: bool,
    /// Tells whoever waits for it that this is written, or never will be.
    _written: DropGuard,
}

impl Answer {
    pub(super) fn new(response: Response, written: DropGuard) -> Self {
        Self { response, opens: false, _written: written }
    }
}

/// The writing end.
pub(super) struct Writer<W, C> {
    output: BufWriter<W>,
    answers: mpsc::Receiver<Answer>,
    /// Taken from the queue, but messages that were sent before it may still be ready.
    answer: Option<Answer>,
    overtaking_left: usize,
    calls: futures::stream::Fuse<C>,
    /// Taken from the stream, but not allowed before the server is initialized.
    held: Option<Request>,
    open: bool,
}

enum Outgoing {
    Answer(Answer),
    Call(Request),
}

impl<W, C> Writer<W, C>
where
    W: AsyncWrite + Unpin,
    C: Stream<Item = Request> + Unpin,
{
    pub(super) fn new(output: W, answers: mpsc::Receiver<Answer>, calls: C) -> Self {
        Self {
            output: BufWriter::with_capacity(LSP_CHUNK_BYTES, output),
            answers,
            answer: None,
            overtaking_left: 0,
            calls: calls.fuse(),
            held: None,
            open: false,
        }
    }

    /// Writes until nobody can respond any more and everything is written.
    pub(super) async fn run(mut self) -> io::Result<()> {
        loop {
            while let Some(message) = self.ready() {
                self.write(message).await?;
            }
            self.output.flush().await?;
            if !self.wait().await {
                return Ok(());
            }
        }
    }

    /// What can be written now.
    fn ready(&mut self) -> Option<Outgoing> {
        if self.answer.is_none() {
            self.answer = self.answers.try_recv().ok();
            self.overtaking_left = LSP_OVERTAKING_MAX;
        }
        if self.answer.is_none() || self.overtaking_left > 0 {
            self.overtaking_left = self.overtaking_left.saturating_sub(1);
            if let Some(call) = self.ready_call() {
                return Some(Outgoing::Call(call));
            }
        }
        self.answer.take().map(Outgoing::Answer)
    }

    fn ready_call(&mut self) -> Option<Request> {
        if self.held.is_none() {
            self.held = self.calls.next().now_or_never().flatten();
        }
        let open = self.open;
        self.held.take_if(|call| open || is_allowed_early(call.method()))
    }

    /// Waits until there may be something ready. `false`: there never will be.
    async fn wait(&mut self) -> bool {
        tokio::select! {
            biased;
            answer = self.answers.recv() => {
                self.answer = answer;
                self.overtaking_left = LSP_OVERTAKING_MAX;
                self.answer.is_some()
            }
            Some(call) = self.calls.next(), if self.held.is_none() => {
                self.held = Some(call);
                true
            }
        }
    }

    async fn write(&mut self, message: Outgoing) -> io::Result<()> {
        match message {
            Outgoing::Call(call) => self.write_frame(&call).await,
            Outgoing::Answer(answer) => {
                self.write_frame(&answer.response).await?;
                self.open |= answer.opens;
                Ok(())
            }
        }
    }

    async fn write_frame(&mut self, message: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        self.output.write_all(header.as_bytes()).await?;
        self.output.write_all(&body).await
    }
}

/// What LSP lets a server send before it answered `initialize`. tower-lsp lets through the same, but may let through more
/// in the moment before that answer is queued.
fn is_allowed_early(method: &str) -> bool {
    matches!(
        method,
        "window/showMessage" | "window/logMessage" | "window/showMessageRequest" | "telemetry/event"
    )
}
