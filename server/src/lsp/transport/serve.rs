//! The loop between an editor's pipe and the handlers.
//!
//! Memory stays bounded when the client stops reading, and reading goes on nevertheless, so that a cancel gets through:
//!
//! | what waits for the client | bound | and beyond it |
//! |---|---|---|
//! | handlers at work | `LSP_REQUESTS_IN_WORK_MAX` | a request is refused |
//! | responses of handlers that are done | `LSP_RESPONSES_QUEUED_MAX` | a handler counts as at work until its response found a place |
//! | notifications and requests of ours | one for each sender | `Client`'s methods wait |
//! | refusals and responses for which neither has a place | none | only then does reading stop |
//!
//! So a client may leave 1,280 requests unanswered before it is held up itself.
//!
//! Architecture invariant: reading never waits for a handler, `initialize` excepted, which LSP puts before all else.

use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use futures::SinkExt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use tower_lsp::{ClientSocket, LanguageServer, LspService};

use super::calls::Calls;
use super::frames::{Frame, FrameReader};
use super::message::Incoming;
use super::writer::Writer;
use crate::limits::{LSP_CHUNK_BYTES, LSP_DRAIN_MAX_MS, LSP_RESPONSES_QUEUED_MAX};

/// Why the stream is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client sent `exit`. LSP wants exit code 0 if it asked for a shutdown before, and 1 otherwise.
    Exit {
        /// Whether it did.
        after_shutdown: bool,
    },
    /// The client closed its end, or it can no longer be read.
    InputClosed,
    /// The client no longer takes what we write.
    OutputClosed,
}

/// Serves one client until it is gone. What was answered by then is written before this returns, if the client takes it
/// within `LSP_DRAIN_MAX_MS`; handlers that are still at work then are dropped.
///
/// A handler is polled for the first time before the next message is looked at. What it does before its first wait
/// therefore happens in the order of the messages. What it does after that happens in any order.
pub async fn serve<R, W, S>(input: R, output: W, service: LspService<S>, socket: ClientSocket) -> Ended
where
    R: AsyncRead,
    W: AsyncWrite + Send + Unpin + 'static,
    S: LanguageServer,
{
    let mut input = pin!(input);
    let (from_us, mut to_us) = socket.split();
    let (responses, queue) = mpsc::channel(LSP_RESPONSES_QUEUED_MAX);
    let writer = AbortOnDropHandle::new(tokio::spawn(Writer::new(output, queue, from_us).run()));
    let mut calls = Calls::new(service, responses);
    let mut frames = FrameReader::new();
    let mut chunk = vec![0; LSP_CHUNK_BYTES];

    let ended = 'stream: loop {
        while let Some(frame) = frames.next() {
            let flow = match frame {
                Frame::Message(Incoming::Call(request)) => calls.take(request).await,
                Frame::Message(Incoming::Answer(response)) => {
                    // It fails only after `exit`, which ends this loop.
                    let _ = to_us.send(response).await;
                    ControlFlow::Continue(())
                }
                Frame::Bad(bad) => {
                    tracing::warn!(why = bad.why, "the client sent something that is no message");
                    calls.refuse(bad.answer()).await
                }
            };
            if let ControlFlow::Break(ended) = flow {
                break 'stream ended;
            }
        }
        let read = tokio::select! {
            read = input.read(&mut chunk) => read,
            () = calls.output_closed() => break Ended::OutputClosed,
        };
        match read {
            Ok(0) => break Ended::InputClosed,
            Ok(length) => frames.feed(&chunk[..length]),
            Err(error) => {
                tracing::warn!(%error, "the client can no longer be read");
                break Ended::InputClosed;
            }
        }
    };

    // The writer ends when nobody can respond any more.
    let handlers = calls.finish();
    match tokio::time::timeout(Duration::from_millis(LSP_DRAIN_MAX_MS), writer).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "the client takes no more output"),
        Ok(Err(error)) => tracing::error!(%error, "the writer failed"),
        Err(_) => tracing::warn!(?ended, "the stream ended before everything was answered"),
    }
    drop(handlers);
    ended
}
