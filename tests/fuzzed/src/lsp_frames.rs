//! The frames of the language-server protocol.

use crate::input::{Input, pieces};
use crate::json::has_fractions;
use airlock::lsp::transport::{Frame, FrameReader, Incoming};
use serde_json::Value;

const GOOD: &str = r#"{"jsonrpc":"2.0","id":7,"method":"after/garbage"}"#;

/// Any split gives the same frames; a message that is written again is read as the same one; and no garbage swallows
/// the frame behind it.
pub fn lsp_frames(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.byte();
    let stream = input.rest();

    let frames = frames(&[stream]);
    assert_eq!(self::frames(&pieces(stream, seed)), frames, "another split, other frames");
    for frame in &frames {
        match frame {
            Frame::Message(message) => read_again(message),
            Frame::Bad(bad) => {
                assert!(!bad.why.is_empty());
                if let Some(answer) = bad.answer() {
                    let answer = serde_json::to_vec(&answer).unwrap();
                    let read = self::frames(&[framed(&answer).as_slice()]);
                    // An answer to nobody's request has no id that could be read.
                    assert_eq!(read.len(), 1);
                }
            }
        }
    }

    if !stream.to_ascii_lowercase().windows(15).any(|window| window == b"content-length:") {
        let good = framed(GOOD.as_bytes());
        let found = self::frames(&[stream, &good]);
        let is_good = |frame: &Frame| matches!(frame, Frame::Message(Incoming::Call(call)) if call.method() == "after/garbage");
        assert!(found.last().is_some_and(is_good), "the frame behind the garbage is lost");
        assert!(found.len() <= 2, "garbage is reported once");
    }
}

fn frames(pieces: &[&[u8]]) -> Vec<Frame> {
    let (mut reader, mut frames) = (FrameReader::new(), Vec::new());
    for piece in pieces {
        reader.feed(piece);
        frames.extend(std::iter::from_fn(|| reader.next()));
    }
    frames
}

fn framed(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn read_again(message: &Incoming) {
    let written = match message {
        Incoming::Call(call) => serde_json::to_value(call),
        Incoming::Answer(answer) => serde_json::to_value(answer),
    };
    let written: Value = written.unwrap();
    if !has_fractions(&written) {
        let read = frames(&[framed(written.to_string().as_bytes()).as_slice()]);
        assert_eq!(read, [Frame::Message(message.clone())], "written again and read again");
    }
}
