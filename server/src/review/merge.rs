//! Three-way merges of texts.

use super::hunks::hunks;
use crate::limits::MERGE_MAX_BYTES;
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
    let mut options = MergeOptions::new();
    options.set_conflict_style(ConflictStyle::Merge).set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    Some(match options.merge_bytes(base, user, agent) {
        Ok(merged) => Merged::Clean(merged),
        Err(marked) => Merged::Conflict(marked),
    })
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
    fn the_same_change_on_both_sides_is_no_conflict() {
        let merged = merge(b"a\nb\nc\nd\n", b"a\nX\nc\nd\n", b"a\nX\nc\nD\n");
        assert_eq!(merged, Some(Merged::Clean(b"a\nX\nc\nD\n".to_vec())));
    }
}
