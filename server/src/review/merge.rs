//! Three-way merges of texts.

use super::hunks::hunks;
use crate::limits::{MERGE_MAX_BYTES, MERGE_STEPS_MAX};
use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// Both sides' changes are in it.
    Clean(Vec<u8>),
    /// Both changed the same lines: both are in it, between marks.
    Conflict(Vec<u8>),
}

/// Merges the user's and the agent's text, made from the same base. `None` when they are too large for it.
pub(super) fn merge(base: &[u8], user: &[u8], agent: &[u8]) -> Option<Merged> {
    if [base, user, agent].iter().any(|text| text.len() > MERGE_MAX_BYTES) {
        return None;
    }
    if takes_too_long(base, user) || takes_too_long(base, agent) {
        return None;
    }
    let mut options = MergeOptions::new();
    options.set_conflict_style(ConflictStyle::Merge).set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    Some(match options.merge_bytes(base, user, agent) {
        Ok(merged) => Merged::Clean(merged),
        Err(marked) => Merged::Conflict(marked),
    })
}

/// The library for merges compares exactly, however long that takes; ours gives up in time, and then says that more
/// differs than does.
fn takes_too_long(old: &[u8], new: &[u8]) -> bool {
    let count = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
    let lines = count(old) + count(new);
    let steps = |differ: usize| lines.saturating_mul(differ);
    if steps(lines) <= MERGE_STEPS_MAX {
        return false;
    }
    steps(hunks(old, new).iter().map(|hunk| hunk.old_lines + hunk.new_lines).sum()) > MERGE_STEPS_MAX
}

/// Both texts in one, where nobody knows what they were made from: wherever they differ, both stand between marks.
pub(super) fn side_by_side(user: &[u8], agent: &[u8]) -> Vec<u8> {
    let ended = |text: &[u8]| {
        let mut text = text.to_vec();
        if text.last().is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        text
    };
    let mut differences = hunks(user, agent);
    for hunk in &mut differences {
        let marked = [
            b"<<<<<<< ours\n".to_vec(),
            ended(&hunk.old),
            b"=======\n".to_vec(),
            ended(&hunk.new),
            b">>>>>>> theirs\n".to_vec(),
        ];
        hunk.new = marked.concat();
    }
    super::hunks::apply(user, &differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_at_different_places_are_both_kept() {
        let merged = merge(b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n");
        assert_eq!(merged, Some(Merged::Clean(b"A\nb\nc\nd\nE\n".to_vec())));
    }

    #[test]
    fn changes_at_the_same_place_stand_side_by_side() {
        let Some(Merged::Conflict(text)) = merge(b"a\nb\nc\n", b"a\nuser\nc\n", b"a\nagent\nc\n") else {
            panic!("no conflict");
        };
        assert_eq!(text, b"a\n<<<<<<< ours\nuser\n=======\nagent\n>>>>>>> theirs\nc\n");
        assert_eq!(side_by_side(b"a\nuser\nc\n", b"a\nagent\nc\n"), text);
    }

    #[test]
    fn texts_that_have_nothing_in_common_are_not_compared_for_hours_and_long_ones_with_few_changes_are() {
        let lines = |letter: &str| -> String {
            (0..MERGE_MAX_BYTES / 9).map(|number| format!("{letter}{number:07}\n")).collect()
        };
        let (base, agent) = (lines("a"), lines("b"));
        let user = base.replacen("a0000000", "mine", 1);
        assert_eq!(merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()), None);
        let agent = format!("{base}theirs\n");
        let expected = Merged::Clean(format!("{user}theirs\n").into_bytes());
        assert!(merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()) == Some(expected));
    }

    #[test]
    fn the_same_change_on_both_sides_is_no_conflict() {
        let merged = merge(b"a\nb\nc\nd\n", b"a\nX\nc\nd\n", b"a\nX\nc\nD\n");
        assert_eq!(merged, Some(Merged::Clean(b"a\nX\nc\nD\n".to_vec())));
    }
}
