//! A text and its positions, the simple way: a string, searched from its beginning each time.

use proptest::prelude::*;
use tower_lsp::ls_types::{Position, Range};

use super::super::PositionEncoding;

pub(super) const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

/// What text is made of, the awkward parts first among them.
pub(super) const PIECES: [&str; 18] = [
    "\r", "\n", "\r\n", "\n\r", "a", "bc", " ", "é", "ß", "漢", "😀", "𝒳", "e\u{301}", "\u{200d}",
    "\u{2028}", "\u{85}", "\u{b}", "\u{feff}",
];

pub(super) fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), pieces).prop_map(|pieces| pieces.concat())
}

pub(super) fn position() -> impl Strategy<Value = Position> {
    let number = || prop_oneof![20 => 0..12u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    (number(), number()).prop_map(|(line, character)| Position::new(line, character))
}

pub(super) fn range() -> impl Strategy<Value = Range> {
    (position(), position()).prop_map(|(start, end)| Range::new(start, end))
}

#[derive(Clone, Debug, Default)]
pub(super) struct Reference(pub(super) String);

impl Reference {
    /// Where each line begins and where its content ends.
    pub(super) fn lines(&self) -> Vec<(usize, usize)> {
        let bytes = self.0.as_bytes();
        let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            let line_break = match bytes[at] {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                b'\r' | b'\n' => 1,
                _ => 0,
            };
            if line_break > 0 {
                lines.push((start, at));
                start = at + line_break;
            }
            at += line_break.max(1);
        }
        lines.push((start, bytes.len()));
        lines
    }

    pub(super) fn byte(&self, position: Position, encoding: PositionEncoding) -> usize {
        self.byte_among(&self.lines(), position, encoding)
    }

    fn byte_among(&self, lines: &[(usize, usize)], position: Position, encoding: PositionEncoding) -> usize {
        let Some(&(start, end)) = lines.get(position.line as usize) else {
            return self.0.len();
        };
        let (mut at, mut counted) = (start, 0);
        for char in self.0[start..end].chars() {
            counted += units(char, encoding);
            if counted > position.character as usize {
                break;
            }
            at += char.len_utf8();
        }
        at
    }

    fn bytes_in(&self, range: Range, encoding: PositionEncoding) -> std::ops::Range<usize> {
        let lines = self.lines();
        let one = self.byte_among(&lines, range.start, encoding);
        let other = self.byte_among(&lines, range.end, encoding);
        one.min(other)..one.max(other)
    }

    pub(super) fn position(&self, byte: usize, encoding: PositionEncoding) -> Position {
        let lines = self.lines();
        let line = lines.iter().rposition(|(start, _)| *start <= byte).unwrap();
        let (start, end) = lines[line];
        let character: usize = self.0[start..byte.min(end)].chars().map(|char| units(char, encoding)).sum();
        Position::new(u32::try_from(line).unwrap(), u32::try_from(character).unwrap())
    }

    pub(super) fn selection(&self, range: Range, encoding: PositionEncoding) -> &str {
        &self.0[self.bytes_in(range, encoding)]
    }

    pub(super) fn edit(&mut self, range: Range, new_text: &str, encoding: PositionEncoding) {
        self.0.replace_range(self.bytes_in(range, encoding), new_text);
    }
}

fn units(char: char, encoding: PositionEncoding) -> usize {
    match encoding {
        PositionEncoding::Utf8 => char.len_utf8(),
        PositionEncoding::Utf16 => char.len_utf16(),
        PositionEncoding::Utf32 => 1,
    }
}
