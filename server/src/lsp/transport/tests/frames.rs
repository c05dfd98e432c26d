//! Any split gives the same frames; garbage costs no frame; nothing panics or grows.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tower_lsp::jsonrpc::Request;

use super::super::frames::{Frame, FrameReader};
use super::super::header;
use super::super::message::Incoming;
use crate::limits::LSP_HEADER_MAX_BYTES;

const FRAME_MAX_BYTES: usize = 300;

/// A frame as an editor writes it, and what it means.
fn good(method: &str) -> (Vec<u8>, Frame) {
    let request = Request::build(method.to_owned()).finish();
    let body = serde_json::to_string(&request).unwrap();
    let bytes = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    (bytes, Frame::Message(Incoming::Call(request)))
}

/// Everything that comes out when the bytes arrive in pieces of these sizes, and then the rest.
fn decode(bytes: &[u8], pieces: impl IntoIterator<Item = usize>) -> Vec<Frame> {
    let mut reader = FrameReader::with_frame_max(FRAME_MAX_BYTES);
    let mut frames = Vec::new();
    let mut rest = bytes;
    let mut pieces = pieces.into_iter();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(pieces.next().unwrap_or(rest.len()).min(rest.len()));
        reader.feed(piece);
        frames.extend(std::iter::from_fn(|| reader.next()));
        assert!(reader.buffered_bytes() < LSP_HEADER_MAX_BYTES.max(FRAME_MAX_BYTES));
        rest = after;
    }
    frames
}

fn codes(frames: &[Frame]) -> Vec<Option<i64>> {
    let code = |frame: &Frame| match frame {
        Frame::Message(_) => None,
        Frame::Bad(bad) => bad.answer().map(|answer| answer.error().unwrap().code.code()),
    };
    frames.iter().map(code).collect()
}

#[test]
fn headers_may_be_written_in_any_case_and_order() {
    let (_, frame) = good("m");
    let body = r#"{"jsonrpc":"2.0","method":"m"}"#;
    for header in [
        "Content-Length: 30\r\n\r\n",
        "content-length:30\r\n\r\n",
        "CONTENT-LENGTH:   0030  \n\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 30\r\n\r\n",
        "Content-Length: 30\r\nContent-Type: text/json; Charset=\"UTF8\"\r\n\r\n",
        "Content-Length: 30\r\nContent-Type: text/json\r\nX-More: a:b\r\n\r\n",
        "\r\n\n\r\nContent-Length: 30\r\n\r\n",
    ] {
        assert_eq!(
            decode(format!("{header}{body}").as_bytes(), []),
            std::slice::from_ref(&frame),
            "{header:?}"
        );
    }
}

#[test]
fn a_bad_header_is_answered_and_the_next_frame_is_read() {
    let (bytes, frame) = good("next");
    for bad in [
        "Content-Length: 99999999999\r\n\r\n{}",
        "Content-Length: -5\r\n\r\n{}",
        "Content-Length: +5\r\n\r\n{}",
        "Content-Length: 99999999999999999999999999999\r\n\r\n{}",
        "Content-Length: two\r\n\r\n{}",
        "Content-Length:\r\n\r\n{}",
        "Content-Length : 2\r\n\r\n{}",
        "Content-Type: text/json\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: text/json; charset=latin1\r\n\r\n{}",
        "{}",
        "nonsense\r\n\r\n",
        "\u{0}\u{1}",
    ] {
        let stream = [bad.as_bytes(), &bytes].concat();
        let frames = decode(&stream, []);
        assert_eq!(frames.last(), Some(&frame), "{bad:?}");
        assert_eq!(codes(&frames)[0], Some(-32700), "{bad:?}");
    }
}

#[test]
fn a_length_told_twice_is_answered_and_the_last_one_holds() {
    let (bytes, frame) = good("m");
    let frames = decode(&[b"Content-Length: 3\r\n".as_slice(), &bytes].concat(), []);
    assert_eq!(codes(&frames), [Some(-32700), None]);
    assert_eq!(frames[1], frame);
}

#[test]
fn a_bad_body_costs_only_itself() {
    let (bytes, frame) = good("next");
    for (body, code) in [("{", -32700), ("", -32700), ("[]", -32600), ("{}", -32600)] {
        let stream = [format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes(), &bytes].concat();
        let frames = decode(&stream, []);
        assert_eq!(codes(&frames), [Some(code), None], "{body:?}");
        assert_eq!(frames[1], frame);
    }
}

#[test]
fn a_frame_above_the_limit_is_skipped_without_being_kept() {
    let (bytes, frame) = good("next");
    let length = 1 << 20;
    let decoy = good("inside").0;
    let mut body = decoy.repeat(length / decoy.len() + 1);
    body.truncate(length);
    let stream = [format!("Content-Length: {length}\r\n\r\n").as_bytes(), &body, &bytes].concat();
    let frames = decode(&stream, std::iter::repeat(64));
    assert_eq!(codes(&frames), [Some(-32600), None]);
    assert_eq!(frames[1], frame);
}

#[test]
fn a_header_that_never_ends_is_given_up() {
    let (bytes, frame) = good("next");
    for endless in ["x", "X-More: y\r\n", "content-length:", "Content-Length: 1\r\n"] {
        let garbage = endless.repeat(10 * LSP_HEADER_MAX_BYTES / endless.len());
        let frames = decode(&[garbage.as_bytes(), &bytes].concat(), std::iter::repeat(100));
        assert_eq!(codes(&frames), [Some(-32700), None], "{endless:?}");
        assert_eq!(frames[1], frame);
    }
}

/// Bytes that could be mistaken for something, more often than chance would make them.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            &b"\r\n"[..],
            b"\n",
            b"\r\n\r\n",
            b":",
            b"Content-Length",
            b"content-len",
            b"Content-Length : 9\r\n",
            b"Content-Type: a; charset=latin1\r\n",
            b"X-More: 1\r\n",
            b"{\"jsonrpc\":\"2.0\"}",
            b"\\r\\n",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop_oneof![
        9 => prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat()),
        1 => (any::<u8>(), 0..3 * LSP_HEADER_MAX_BYTES).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

/// Garbage that looks most like frames: with lengths, right and wrong.
fn rubbish() -> impl Strategy<Value = Vec<u8>> {
    let lengths = prop_oneof![0..40u64, 200..400u64, any::<u64>()];
    let header = lengths.prop_map(|length| format!("Content-Length: {length}\r\n\r\n").into_bytes());
    let piece = prop_oneof![garbage(), header, "[a-z]{1,9}".prop_map(|method| good(&method).0)];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(
        stream in rubbish(),
        pieces in prop::collection::vec(1..50usize, 0..100),
    ) {
        let whole = decode(&stream, []);
        prop_assert_eq!(&decode(&stream, pieces), &whole);
        prop_assert_eq!(&decode(&stream, std::iter::repeat(1)), &whole);
    }

    #[test]
    fn garbage_without_a_content_length_costs_no_frame_and_at_most_one_answer(
        parts in prop::collection::vec((garbage(), "[a-z]{1,9}"), 1..6),
    ) {
        let (mut stream, mut expected) = (Vec::new(), Vec::new());
        for (garbage, method) in parts {
            prop_assume!(header::find_length_name(&garbage).is_none());
            let (bytes, frame) = good(&method);
            stream.extend([garbage, bytes].concat());
            expected.push(frame);
        }
        let frames = decode(&stream, []);
        prop_assert!(frames.len() <= 2 * expected.len());
        let messages: Vec<_> = frames.into_iter().filter(|frame| matches!(frame, Frame::Message(_))).collect();
        prop_assert_eq!(messages, expected);
    }
}
