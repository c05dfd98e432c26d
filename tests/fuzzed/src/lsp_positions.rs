//! The mirror of an editor's buffer: edits at any position, in any encoding, against a plain string.

use crate::input::Input;
use airlock::lsp::documents::{Documents, PositionEncoding, Text};
use serde_json::{Value, from_value, json};
use tower_lsp::ls_types::{Position, Range};

const URI: &str = "file:///a";

/// The mirror equals a string that is edited the simple way, and every position means a place in it.
pub fn lsp_positions(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let encoding = [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32]
        [usize::from(input.byte() % 3)];
    let mut plain = input.text_part().into_owned();
    let documents = Documents::new();
    documents.agree_on(encoding);
    let item = json!({"uri": URI, "languageId": "", "version": 0, "text": plain});
    documents.open(from_value(json!({"textDocument": item})).unwrap());

    let mut changes = Vec::new();
    while !input.is_empty() && changes.len() < 64 {
        let range = Range::new(position(&mut input), position(&mut input));
        let new_text = input.text_part();
        check_range(&plain, range, encoding);
        let (one, other) = (byte_at(&plain, range.start, encoding), byte_at(&plain, range.end, encoding));
        plain.replace_range(one.min(other)..one.max(other), &new_text);
        changes.push(json!({"range": range, "text": new_text}));
    }
    change(&documents, changes);
    let document = documents.get(URI).unwrap();
    assert_eq!(document.text.to_string(), plain, "the mirror differs");
    assert_eq!(document.text, Text::new(&plain));
    check_places(&plain, &document.text, encoding);
}

fn position(input: &mut Input<'_>) -> Position {
    Position::new(input.number(), input.number())
}

fn change(documents: &Documents, changes: Vec<Value>) {
    let document = json!({"uri": URI, "version": 1});
    documents.change(from_value(json!({"textDocument": document, "contentChanges": changes})).unwrap());
}

fn check_range(plain: &str, range: Range, encoding: PositionEncoding) {
    let text = Text::new(plain);
    let (one, other) = (byte_at(plain, range.start, encoding), byte_at(plain, range.end, encoding));
    assert_eq!(text.byte_at(range.start, encoding), one);
    assert_eq!(text.selection(range, encoding), plain[one.min(other)..one.max(other)]);
    let excerpt = text.excerpt(range.start.line..=range.end.line, 100);
    assert!(excerpt.len() <= 200, "an excerpt that is longer than it may be");
}

/// Every place has a position, which is that place again; only between the halves of a line break there is none.
fn check_places(plain: &str, text: &Text, encoding: PositionEncoding) {
    for (chars, (byte, _)) in plain.char_indices().take(400).enumerate() {
        let within_break = plain[..byte].ends_with('\r') && plain[byte..].starts_with('\n');
        let place = text.position_of_char(chars, encoding);
        assert_eq!(text.position_of_byte(byte, encoding), place);
        let back = text.byte_at(place, encoding);
        assert_eq!(back, byte - usize::from(within_break));
    }
    text.position_of_byte(usize::MAX, encoding);
    text.position_of_char(usize::MAX, encoding);
}

/// The place of a position, searched from the beginning.
fn byte_at(plain: &str, position: Position, encoding: PositionEncoding) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match plain[start..].find(['\r', '\n']) {
            Some(at) => {
                let rest = &plain[start + at..];
                start += at + if rest.starts_with("\r\n") { 2 } else { 1 };
            }
            None => return plain.len(),
        }
    }
    let line = plain[start..].split(['\r', '\n']).next().unwrap_or_default();
    let (mut at, mut counted) = (0, 0);
    for letter in line.chars() {
        counted += match encoding {
            PositionEncoding::Utf8 => letter.len_utf8(),
            PositionEncoding::Utf16 => letter.len_utf16(),
            PositionEncoding::Utf32 => 1,
        };
        if counted > position.character as usize {
            break;
        }
        at += letter.len_utf8();
    }
    start + at
}
