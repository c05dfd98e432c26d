//! Takes a byte stream apart into LSP frames, in whatever pieces it comes.
//!
//! What is no frame is reported once and left behind:
//!
//! | what came | what happens next |
//! |---|---|
//! | a good header, a body that is no message | the next frame is simply next |
//! | a header with a length above our limit | that many bytes are skipped, none is kept |
//! | a header that is no header, or a length that cannot be true | everything up to the next `Content-Length:` is dropped |
//!
//! The law: bytes that do not contain `Content-Length:` may stand between frames, and no frame is lost.
//! Garbage is reported once a run, not once a line, so that it cannot multiply into answers.
//!
//! Architecture invariant: pure. No input or output, no clock, no panic. After [`FrameReader::next`] gave `None` it holds
//! less than one frame.

use bytes::{Buf, BytesMut};

use super::header;
use super::message::{self, BadFrame, Incoming};
use crate::limits::{LSP_FRAME_MAX_BYTES, LSP_HEADER_MAX_BYTES, LSP_SKIP_MAX_BYTES};

/// A buffer that held a body larger than this is given back.
const BUFFER_KEPT_MAX_BYTES: usize = 1 << 20;

/// What came out of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A JSON-RPC message.
    Message(Incoming),
    /// Something that is none.
    Bad(BadFrame),
}

/// The decoder. Feed it, then take frames until there is none.
#[derive(Debug)]
pub struct FrameReader {
    buffer: BytesMut,
    state: State,
    /// Whether the bytes since the last good header were already reported as garbage.
    lost: bool,
    frame_max_bytes: usize,
}

#[derive(Debug)]
enum State {
    /// At the beginning of a header block.
    Header,
    /// A body of this length comes next.
    Body { length: usize },
    /// A body that is not wanted comes next.
    Skip { left: u64 },
    /// Looking for something that may be a header.
    Scan,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameReader {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::with_frame_max(LSP_FRAME_MAX_BYTES)
    }

    pub(super) fn with_frame_max(frame_max_bytes: usize) -> Self {
        Self { buffer: BytesMut::new(), state: State::Header, lost: false, frame_max_bytes }
    }

    /// Takes the next bytes of the stream. Call [`Self::next`] until it gives `None` before feeding again: the bytes wait
    /// here until then.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame, if all of it is there.
    #[expect(
        clippy::should_implement_trait,
        reason = "it is no iterator: `None` means that more bytes are needed"
    )]
    pub fn next(&mut self) -> Option<Frame> {
        loop {
            match self.state {
                State::Header => {
                    if let Some(frame) = self.header()? {
                        return Some(frame);
                    }
                }
                State::Body { length } => return self.body(length),
                State::Skip { left } => self.skip(left)?,
                State::Scan => self.scan()?,
            }
        }
    }

    /// Bytes that wait for more.
    #[cfg(test)]
    pub(super) fn buffered_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// `None`: more bytes are needed. `Some(None)`: the state has changed.
    fn header(&mut self) -> Option<Option<Frame>> {
        // A line break after a body is a habit of hand-written clients; HTTP forgives it too.
        let blank = self.buffer.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.buffer.advance(blank);

        let window = &self.buffer[..self.buffer.len().min(LSP_HEADER_MAX_BYTES)];
        let Some(end) = header::end(window) else {
            return (window.len() == LSP_HEADER_MAX_BYTES)
                .then(|| self.lose(format!("a header is longer than {LSP_HEADER_MAX_BYTES} bytes")));
        };
        let length = match header::content_length(&window[..end]) {
            Ok(length) if length <= LSP_SKIP_MAX_BYTES => length,
            Ok(length) => return Some(self.lose(format!("a length of {length} bytes cannot be true"))),
            Err(why) => return Some(self.lose(why)),
        };
        self.lost = false;
        self.buffer.advance(end);
        match usize::try_from(length) {
            Ok(length) if length <= self.frame_max_bytes => {
                self.state = State::Body { length };
                Some(None)
            }
            _ => {
                self.state = State::Skip { left: length };
                Some(Some(Frame::Bad(BadFrame::invalid(format!(
                    "a message of {length} bytes is longer than the limit of {} bytes and was skipped",
                    self.frame_max_bytes
                )))))
            }
        }
    }

    /// What stands at the beginning is no header. The true one may begin within it, so only one byte is given up.
    fn lose(&mut self, why: String) -> Option<Frame> {
        self.buffer.advance(1);
        self.state = State::Scan;
        let reported = std::mem::replace(&mut self.lost, true);
        (!reported).then(|| Frame::Bad(BadFrame::unreadable(why)))
    }

    fn body(&mut self, length: usize) -> Option<Frame> {
        if self.buffer.len() < length {
            return None;
        }
        let body = self.buffer.split_to(length);
        self.state = State::Header;
        if length > BUFFER_KEPT_MAX_BYTES {
            // The rest shares its memory with the body.
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        Some(match message::read(&body) {
            Ok(message) => Frame::Message(message),
            Err(bad) => Frame::Bad(bad),
        })
    }

    fn skip(&mut self, left: u64) -> Option<()> {
        let here = usize::try_from(left).map_or(self.buffer.len(), |left| left.min(self.buffer.len()));
        self.buffer.advance(here);
        let left = left - here as u64;
        if left > 0 {
            self.state = State::Skip { left };
            return None;
        }
        self.state = State::Header;
        Some(())
    }

    fn scan(&mut self) -> Option<()> {
        if let Some(at) = header::find_length_name(&self.buffer) {
            self.buffer.advance(at);
            self.state = State::Header;
            return Some(());
        }
        // The end may be the beginning of the name.
        let drop = self.buffer.len().saturating_sub(header::LENGTH_NAME.len() - 1);
        self.buffer.advance(drop);
        None
    }
}
