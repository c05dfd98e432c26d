//! Changes that come in another order than that in which they were made.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tower_lsp::ls_types::{Range, TextDocumentContentChangeEvent};

use super::super::PositionEncoding;
use super::super::recent::RecentChanges;
use super::super::text::Text;
use super::reference::{Reference, range, text};
use crate::limits::{LSP_CHANGES_KEPT_MAX, LSP_CHANGES_KEPT_MAX_BYTES};

fn changes(range: Option<Range>, text: &str) -> Vec<TextDocumentContentChangeEvent> {
    vec![TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }]
}

fn typed(column: u32, text: &str) -> Vec<TextDocumentContentChangeEvent> {
    let range = serde_json::json!({
        "start": {"line": 0, "character": column}, "end": {"line": 0, "character": column}
    });
    changes(Some(serde_json::from_value(range).unwrap()), text)
}

/// Types a letter a version and sends them in this order.
fn type_in_order(versions: impl IntoIterator<Item = u32>) -> (String, i32) {
    let mut recent = RecentChanges::default();
    let mut state = (Text::default(), 0);
    for version in versions {
        let letter = char::from_u32(u32::from('a') + (version - 1) % 26).unwrap().to_string();
        let to = i32::try_from(version).unwrap();
        state = recent.apply(state, to, typed(version - 1, &letter), PositionEncoding::Utf8);
    }
    (state.0.to_string(), state.1)
}

#[test]
fn letters_that_overtake_others_stand_where_they_were_typed() {
    assert_eq!(type_in_order([1, 2, 6, 3, 4, 5, 7, 9, 8]), ("abcdefghi".to_owned(), 9));
    assert_eq!(type_in_order([5, 4, 3, 2, 1]), ("abcde".to_owned(), 5));
}

#[test]
fn one_of_the_kept_changes_is_the_last_that_can_be_waited_for() {
    let last = u32::try_from(LSP_CHANGES_KEPT_MAX).unwrap() + 1;
    let version_after = |last: u32| u32::try_from(type_in_order((2..=last).chain([1])).1).unwrap();
    assert_eq!(version_after(last), last);
    assert_eq!(version_after(last + 1), 1, "it is taken as it comes");
}

#[test]
fn much_text_is_not_kept() {
    let mut recent = RecentChanges::default();
    let much = "x".repeat(LSP_CHANGES_KEPT_MAX_BYTES + 1);
    let state = recent.apply((Text::default(), 0), 5, changes(None, &much), PositionEncoding::Utf8);
    assert_eq!(recent.kept(), (0, 0));
    // It can only be taken as it comes.
    let (text, version) = recent.apply(state, 3, typed(0, "y"), PositionEncoding::Utf8);
    assert_eq!((text.bytes(), version), (much.len() + 1, 3));
    assert_eq!(recent.kept(), (1, 1));
}

#[test]
fn a_version_that_was_never_jumped_over_is_taken_as_it_comes() {
    let mut recent = RecentChanges::default();
    let mut state = (Text::default(), 7);
    for (to, letter) in [(9, "a"), (9, "b"), (2, "c"), (3, "d")] {
        state = recent.apply(state, to, typed(0, letter), PositionEncoding::Utf8);
        assert_eq!(state.1, to);
    }
    assert_eq!(state.0.to_string(), "dcba");
}

proptest! {
    /// Any edits, some of the whole text, each late by up to eight others.
    #[test]
    fn the_order_in_which_changes_come_makes_no_difference(
        before in text(0..20),
        edits in prop::collection::vec((prop::option::weighted(0.9, range()), text(0..4), 0..8usize), 1..30),
    ) {
        let encoding = PositionEncoding::Utf16;
        let mut reference = Reference(before.clone());
        for (range, text, _) in &edits {
            match range {
                Some(range) => reference.edit(*range, text, encoding),
                None => reference = Reference(text.clone()),
            }
        }
        let mut order: Vec<usize> = (0..edits.len()).collect();
        order.sort_by_key(|&at| at + edits[at].2);
        let mut recent = RecentChanges::default();
        let mut state = (Text::new(&before), 0);
        for at in order {
            let (range, text, _) = &edits[at];
            let to = i32::try_from(at + 1).unwrap();
            state = recent.apply(state, to, changes(*range, text), encoding);
        }
        prop_assert_eq!(state.0.to_string(), reference.0);
        prop_assert_eq!(usize::try_from(state.1).unwrap(), edits.len());
    }
}
