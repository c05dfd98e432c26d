//! A text, and where the positions of the protocol are in it.
//!
//! Lines end in `\n`, `\r\n` or `\r` and nothing else, as LSP says. Every position means some place:
//!
//! | position | means |
//! |---|---|
//! | beyond the end of its line | the end of the line, before its line break |
//! | beyond the last line | the end of the text |
//! | inside a character | the character's beginning |
//! | a range whose end is before its start | the range from end to start |
//!
//! Architecture invariant: nothing here panics, and all but [`Text::new`], [`Text::selection`] and `Display` take time
//! that grows with the logarithm of the text or with what they return.

use std::fmt;
use std::ops::{Range as Span, RangeInclusive};

use ropey::Rope;
use tower_lsp::ls_types::{Position, Range};

use super::position::PositionEncoding;

/// A text. Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Rope);

impl Text {
    /// A text.
    pub fn new(text: &str) -> Self {
        Self(Rope::from_str(text))
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> usize {
        self.0.len_bytes()
    }

    /// How many lines it has: one more than line breaks.
    pub fn lines(&self) -> usize {
        self.0.len_lines()
    }

    /// Puts new text in the place of a range.
    pub fn edit(&mut self, range: Range, new_text: &str, encoding: PositionEncoding) {
        let span = self.chars_in(range, encoding);
        let start = span.start;
        self.0.remove(span);
        self.0.insert(start, new_text);
    }

    /// The text of a range.
    pub fn selection(&self, range: Range, encoding: PositionEncoding) -> String {
        self.0.slice(self.chars_in(range, encoding)).to_string()
    }

    /// How many characters stand before a position.
    pub fn char_at(&self, position: Position, encoding: PositionEncoding) -> usize {
        let line = index(position.line);
        if line >= self.0.len_lines() {
            return self.0.len_chars();
        }
        let (start, end) = (self.0.line_to_char(line), self.line_end(line));
        let character = index(position.character);
        match encoding {
            PositionEncoding::Utf32 => start + character.min(end - start),
            PositionEncoding::Utf8 => {
                let (start, end) = (self.0.char_to_byte(start), self.0.char_to_byte(end));
                self.0.byte_to_char(start + character.min(end - start))
            }
            PositionEncoding::Utf16 => {
                let (start, end) = (self.0.char_to_utf16_cu(start), self.0.char_to_utf16_cu(end));
                self.0.utf16_cu_to_char(start + character.min(end - start))
            }
        }
    }

    /// How many bytes stand before a position.
    pub fn byte_at(&self, position: Position, encoding: PositionEncoding) -> usize {
        self.0.char_to_byte(self.char_at(position, encoding))
    }

    /// The position that has so many characters before it. Between the two halves of a line break there is none; the
    /// end of the line is given.
    pub fn position_of_char(&self, chars_before: usize, encoding: PositionEncoding) -> Position {
        let at = chars_before.min(self.0.len_chars());
        let line = self.0.char_to_line(at);
        let (start, at) = (self.0.line_to_char(line), at.min(self.line_end(line)));
        let character = match encoding {
            PositionEncoding::Utf32 => at - start,
            PositionEncoding::Utf8 => self.0.char_to_byte(at) - self.0.char_to_byte(start),
            PositionEncoding::Utf16 => self.0.char_to_utf16_cu(at) - self.0.char_to_utf16_cu(start),
        };
        Position::new(number(line), number(character))
    }

    /// The position that has so many bytes before it, or of the character that it falls into.
    pub fn position_of_byte(&self, bytes_before: usize, encoding: PositionEncoding) -> Position {
        let at = self.0.byte_to_char(bytes_before.min(self.0.len_bytes()));
        self.position_of_char(at, encoding)
    }

    /// Lines with their numbers, for a reader who counts from one. `lines` counts from zero, as positions do, and may
    /// reach beyond the text. Of what does not fit into `max_bytes`, the first line is cut and the others are left out,
    /// and the excerpt says so.
    pub fn excerpt(&self, lines: RangeInclusive<u32>, max_bytes: usize) -> String {
        let end = index(*lines.end()).saturating_add(1).min(self.0.len_lines());
        let start = index(*lines.start()).min(end);
        let width = end.to_string().len();
        let mut excerpt = String::new();
        for line in start..end {
            let content = self.0.slice(self.0.line_to_char(line)..self.line_end(line));
            let room = max_bytes.checked_sub(excerpt.len() + width + "\t\n".len());
            if room.is_some_and(|room| content.len_bytes() <= room) {
                excerpt.push_str(&format!("{:>width$}\t{content}\n", line + 1));
                continue;
            }
            if line == start {
                let cut = content.slice(..content.byte_to_char(room.unwrap_or(0)));
                excerpt.push_str(&format!("{:>width$}\t{cut}… (cut)\n", line + 1));
            }
            let left_out = end - line - usize::from(line == start);
            if left_out > 0 {
                excerpt.push_str(&format!("… ({left_out} more lines)\n"));
            }
            break;
        }
        excerpt
    }

    fn chars_in(&self, range: Range, encoding: PositionEncoding) -> Span<usize> {
        let (one, other) = (self.char_at(range.start, encoding), self.char_at(range.end, encoding));
        one.min(other)..one.max(other)
    }

    /// Where a line that exists ends, its line break not counted.
    fn line_end(&self, line: usize) -> usize {
        let content = self.0.line(line);
        let mut last = content.chars_at(content.len_chars()).reversed();
        let break_chars = match (last.next(), last.next()) {
            (Some('\n'), Some('\r')) => 2,
            (Some('\n' | '\r'), _) => 1,
            _ => 0,
        };
        self.0.line_to_char(line) + content.len_chars() - break_chars
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
