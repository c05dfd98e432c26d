//! Bytes, taken apart into what a property needs.

use std::borrow::Cow;

/// What stands between two parts: no text has it, and a fuzzer finds it easily.
const BETWEEN: u8 = 0xff;

/// Bytes that are used up from the front. When there are none left, zeros follow.
pub(crate) struct Input<'b>(&'b [u8]);

impl<'b> Input<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Mostly small, as the numbers of lines and characters are; sometimes as large as it gets.
    pub(crate) fn number(&mut self) -> u32 {
        match self.byte() {
            0xfd => u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
            0xfe => u32::MAX,
            small => u32::from(small & 0x1f),
        }
    }

    /// All up to the next separator.
    pub(crate) fn part(&mut self) -> &'b [u8] {
        let end = self.0.iter().position(|byte| *byte == BETWEEN).unwrap_or(self.0.len());
        let (part, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        part
    }

    pub(crate) fn text_part(&mut self) -> Cow<'b, str> {
        String::from_utf8_lossy(self.part())
    }

    pub(crate) fn rest(self) -> &'b [u8] {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Bytes in pieces; another number gives other pieces.
pub(crate) fn pieces(bytes: &[u8], seed: u8) -> Vec<&[u8]> {
    let (mut pieces, mut rest, mut state) = (Vec::new(), bytes, u32::from(seed));
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Most of them short: what goes wrong goes wrong at a border.
        let length = if state >> 30 == 0 { state >> 16 & 0xff } else { state >> 16 & 0x7 };
        let (piece, after) = rest.split_at((length as usize).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
