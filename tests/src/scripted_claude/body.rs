//! The response's body: part by part, each flushed before the next, held at gates, broken where the test says.

use super::gate::Gate;
use super::render::Part;
use super::state::Shared;
use bytes::Bytes;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use std::convert::Infallible;
use std::io;

pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is there at once.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body that comes in parts.
pub(super) fn streamed(parts: Vec<Part>, hangup: Hangup) -> Body {
    let frames = stream::unfold((parts.into_iter(), hangup), async |(mut parts, mut hangup)| {
        let mut passed = None;
        loop {
            // Not ready once: that is when hyper flushes what it was given before.
            tokio::task::yield_now().await;
            match parts.next() {
                Some(Part::Bytes(bytes)) => {
                    passed.inspect(Gate::leave);
                    return Some((Ok(Frame::data(bytes)), (parts, hangup)));
                }
                Some(Part::Gate(gate)) => {
                    gate.pass().await;
                    passed = Some(gate);
                }
                Some(Part::Silence) => std::future::pending().await,
                Some(Part::Abort) => {
                    hangup.disarm();
                    let error = io::Error::other("cut by the script");
                    return Some((Err(error), (Vec::new().into_iter(), hangup)));
                }
                None => {
                    hangup.disarm();
                    return None;
                }
            }
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// Counts a client that goes away before its reply has ended.
pub(super) struct Hangup {
    shared: Option<Shared>,
}

impl Hangup {
    pub(super) fn watch(shared: &Shared) -> Self {
        Self { shared: Some(shared.clone()) }
    }

    pub(super) fn disarm(&mut self) {
        self.shared = None;
    }
}

impl Drop for Hangup {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.with(|state| state.hangups += 1);
        }
    }
}
