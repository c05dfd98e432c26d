//! Keeps the beginning and the end of a stream of bytes, and counts what was between.

use crate::words::{HEAD_MAX_BYTES, TAIL_MAX_BYTES};
use std::collections::VecDeque;

/// A stream's end, once its beginning has been passed on.
#[derive(Default)]
pub(super) struct Cut {
    passed: usize,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Cut {
    /// Takes the next bytes; gives back those that belong to the beginning, to be passed on at once.
    pub(super) fn take<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let room = HEAD_MAX_BYTES - self.passed;
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        self.passed += head.len();
        // Of a piece larger than the tail only its end can matter.
        let useless = rest.len().saturating_sub(TAIL_MAX_BYTES);
        self.left_out += useless as u64;
        self.tail.extend(&rest[useless..]);
        let over = self.tail.len().saturating_sub(TAIL_MAX_BYTES);
        self.tail.drain(..over);
        self.left_out += over as u64;
        head
    }

    /// The end, and how many bytes were left out before it.
    pub(super) fn finish(self) -> (Vec<u8>, u64) {
        (self.tail.into(), self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_left_out_and_tail_are_the_whole_however_it_is_split() {
        let stream: Vec<u8> = (0..1_000_000u32).map(|number| (number % 251) as u8).collect();
        for piece in [1, 7, 4096, 65_536, 300_000, stream.len()] {
            let mut cut = Cut::default();
            let head: Vec<u8> = stream.chunks(piece).flat_map(|bytes| cut.take(bytes).to_vec()).collect();
            let (tail, left_out) = cut.finish();
            assert_eq!(head, stream[..HEAD_MAX_BYTES]);
            assert_eq!(tail, stream[stream.len() - TAIL_MAX_BYTES..]);
            assert_eq!(head.len() as u64 + left_out + tail.len() as u64, stream.len() as u64);
        }
    }

    #[test]
    fn what_is_short_is_passed_on_whole() {
        let mut cut = Cut::default();
        assert_eq!(cut.take(b"short"), b"short");
        assert_eq!(cut.finish(), (Vec::new(), 0));
    }
}
