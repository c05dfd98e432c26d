//! The frames between server and guest, and the words in them.

use crate::input::pieces;
use airlock_guest::frames::FRAME_MAX_BYTES;
use airlock_guest::{Answer, Call, CallError, Frame, FrameKind, read_frame, write_frame};
use futures::FutureExt;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// Any split gives the same frames, which are the bytes that came; and a word that is said again is the same word.
pub(crate) fn check(stream: &[u8], seed: u8) {
    let (frames, end) = frames(&[stream]);
    assert_eq!(self::frames(&pieces(stream, seed)), (frames.clone(), end), "another split, other frames");
    let mut written = Vec::new();
    for Frame { kind, payload } in &frames {
        assert!(payload.len() <= FRAME_MAX_BYTES);
        write_frame(&mut written, *kind, payload).now_or_never().unwrap().unwrap();
        check_words(*kind, payload);
    }
    assert!(stream.starts_with(&written), "frames that did not come");
    assert_eq!(end.is_none(), written.len() == stream.len(), "an end that is none");
}

/// The frames, and how it ended when that was not well.
pub(crate) fn frames(pieces: &[&[u8]]) -> (Vec<Frame>, Option<io::ErrorKind>) {
    let mut stream = InPieces(pieces.iter().copied().collect());
    let mut frames = Vec::new();
    loop {
        match read_frame(&mut stream).now_or_never().expect("all bytes are there") {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error.kind())),
        }
    }
}

fn check_words(kind: FrameKind, payload: &[u8]) {
    match kind {
        FrameKind::Call => same_again::<Call>(payload),
        FrameKind::Answer => same_again::<Answer>(payload),
        FrameKind::Error => same_again::<CallError>(payload),
        _ => {}
    }
}

fn same_again<Word>(payload: &[u8])
where
    Word: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    if let Ok(word) = serde_json::from_slice::<Word>(payload) {
        let again: Word = serde_json::from_slice(&serde_json::to_vec(&word).unwrap()).unwrap();
        assert_eq!(again, word);
    }
}

/// A stream that brings one piece a read.
struct InPieces<'b>(VecDeque<&'b [u8]>);

impl AsyncRead for InPieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // An empty read would be the end.
        while self.0.front().is_some_and(|piece| piece.is_empty()) {
            self.0.pop_front();
        }
        if let Some(piece) = self.0.front_mut() {
            let (now, later) = piece.split_at(piece.len().min(into.remaining()));
            into.put_slice(now);
            *piece = later;
        }
        Poll::Ready(Ok(()))
    }
}
