//! Hunks: where two texts differ, line by line, and texts made from some of them.

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use std::time::{Duration, Instant};

/// How long two texts are compared exactly. After that the hunks may be larger than they need to be, never wrong.
const DIFF_MAX: Duration = Duration::from_millis(500);

/// Lines of the old text that other lines stand for in the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHunk {
    /// The first line of the old text, from 0. With no old lines: the line that the new ones come before.
    pub old_start: usize,
    /// How many lines go.
    pub old_lines: usize,
    /// The first line of the new text, from 0.
    pub new_start: usize,
    /// How many lines come.
    pub new_lines: usize,
    /// What goes.
    pub old: Vec<u8>,
    /// What comes.
    pub new: Vec<u8>,
}

impl LineHunk {
    /// These lines of the old text become those of the new one.
    pub(super) fn between(old_start: usize, old: &[u8], new_start: usize, new: &[u8]) -> Self {
        let (old_lines, new_lines) = (lines(old).len(), lines(new).len());
        Self { old_start, old_lines, new_start, new_lines, old: old.to_vec(), new: new.to_vec() }
    }
}

/// Where two texts differ, in order.
pub(super) fn hunks(old: &[u8], new: &[u8]) -> Vec<LineHunk> {
    let (old, new) = (lines(old), lines(new));
    let deadline = Instant::now() + DIFF_MAX;
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let changes = operations.into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let hunk = |(_, gone, come): (DiffTag, std::ops::Range<usize>, std::ops::Range<usize>)| {
        LineHunk::between(gone.start, &old[gone].concat(), come.start, &new[come].concat())
    };
    changes.map(|operation| hunk(operation.as_tag_tuple())).collect()
}

/// The old text with these of its hunks in it, which are in order.
pub(super) fn apply<'a>(old: &[u8], chosen: impl IntoIterator<Item = &'a LineHunk>) -> Vec<u8> {
    let lines = lines(old);
    let (mut text, mut next) = (Vec::new(), 0);
    for hunk in chosen {
        text.extend(lines[next..hunk.old_start].concat());
        text.extend(&hunk.new);
        next = hunk.old_start + hunk.old_lines;
    }
    text.extend(lines[next..].concat());
    text
}

/// The lines of a text, each with its end.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof!["a\n", "b\n", "c\n", "\n", "d"], 0..30)
            .prop_map(|lines| lines.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn all_hunks_make_the_new_text_and_none_leave_the_old(old in text(), new in text()) {
            let hunks = hunks(&old, &new);
            prop_assert_eq!(apply(&old, &hunks), new);
            prop_assert_eq!(apply(&old, []), old);
        }

        #[test]
        fn what_is_left_after_some_hunks_is_the_others(old in text(), new in text(), picks: u32) {
            let hunks = hunks(&old, &new);
            let chosen = hunks.iter().enumerate().filter(|(index, _)| picks >> (index % 32) & 1 == 1);
            let part = apply(&old, chosen.map(|(_, hunk)| hunk));
            prop_assert_eq!(apply(&part, &super::hunks(&part, &new)), new);
        }
    }

    #[test]
    fn neighbouring_lines_are_one_hunk_and_far_ones_are_two() {
        let hunks = hunks(b"a\nb\nc\nd\n", b"A\nB\nc\nD\n");
        let ranges: Vec<_> =
            hunks.iter().map(|hunk| (hunk.old_start, hunk.old_lines, hunk.new_lines)).collect();
        assert_eq!(ranges, [(0, 2, 2), (3, 1, 1)]);
    }
}
