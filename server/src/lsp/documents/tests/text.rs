//! Positions and edits.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use tower_lsp::ls_types::{Position, Range};

use super::super::{PositionEncoding, Text};
use super::reference::{ENCODINGS, Reference, position, range, text};

#[test]
fn impossible_positions_mean_the_nearest_place_before_them() {
    use PositionEncoding::{Utf8, Utf16, Utf32};
    let text = Text::new("a😀b\r\né\rz");
    let cases = [
        ((0, 2), Utf16, 1),
        ((0, 3), Utf16, 5),
        ((0, 3), Utf8, 1),
        ((0, 5), Utf8, 5),
        ((0, 2), Utf32, 5),
        ((0, 4), Utf16, 6),
        ((0, 5), Utf16, 6),
        ((0, u32::MAX), Utf8, 6),
        ((1, 1), Utf8, 8),
        ((1, 9), Utf32, 10),
        ((2, 0), Utf16, 11),
        ((2, 9), Utf16, 12),
        ((3, 0), Utf16, 12),
        ((u32::MAX, u32::MAX), Utf32, 12),
    ];
    for ((line, character), encoding, byte) in cases {
        let position = Position::new(line, character);
        assert_eq!(text.byte_at(position, encoding), byte, "{position:?} {encoding:?}");
    }
}

#[test]
fn a_line_feed_after_a_carriage_return_makes_one_line_break_of_two() {
    let at = |line, character| Range::new(Position::new(line, character), Position::new(line, character));
    let mut text = Text::new("a\rb");
    assert_eq!(text.lines(), 2);
    text.edit(at(1, 0), "\n", PositionEncoding::Utf16);
    assert_eq!((text.to_string().as_str(), text.lines()), ("a\r\nb", 2));
    text.edit(Range::new(Position::new(0, 1), Position::new(1, 0)), "\r", PositionEncoding::Utf16);
    text.edit(at(1, 0), "x", PositionEncoding::Utf16);
    text.edit(at(1, 1), "\n", PositionEncoding::Utf16);
    assert_eq!((text.to_string().as_str(), text.lines()), ("a\rx\nb", 3));
}

#[test]
fn an_excerpt_numbers_its_lines_and_says_what_it_left_out() {
    let text = Text::new("one\r\ntwo\rthree\nfour\nfive\nsix\nseven\neight\nnine\nten");
    assert_eq!(text.excerpt(0..=2, 1000), "1\tone\n2\ttwo\n3\tthree\n");
    assert_eq!(text.excerpt(8..=u32::MAX, 1000), " 9\tnine\n10\tten\n");
    assert_eq!(text.excerpt(0..=9, 16), " 1\tone\n 2\ttwo\n… (8 more lines)\n");
    assert_eq!(text.excerpt(90..=100, 1000), "");
    assert_eq!(Text::new("\n\n\n").excerpt(0..=3, 6), "1\t\n2\t\n… (2 more lines)\n");
    let text = Text::new("äöü\nx");
    assert_eq!(text.excerpt(0..=0, 6), "1\tä… (cut)\n");
    assert_eq!(text.excerpt(0..=1, 0), "1\t… (cut)\n… (1 more lines)\n");
}

proptest! {
    #[test]
    fn every_position_is_where_the_reference_says(text in text(0..40), position in position()) {
        let (mirror, reference) = (Text::new(&text), Reference(text));
        prop_assert_eq!(mirror.lines(), reference.lines().len());
        for encoding in ENCODINGS {
            let byte = reference.byte(position, encoding);
            prop_assert_eq!(mirror.byte_at(position, encoding), byte);
            prop_assert_eq!(mirror.char_at(position, encoding), reference.0[..byte].chars().count());
        }
    }

    #[test]
    fn every_place_has_the_position_that_the_reference_says(text in text(0..40), beyond in 0..9usize) {
        let (mirror, reference) = (Text::new(&text), Reference(text));
        for encoding in ENCODINGS {
            for (chars_before, (byte, _)) in reference.0.char_indices().enumerate() {
                let position = reference.position(byte, encoding);
                prop_assert_eq!(mirror.position_of_byte(byte, encoding), position);
                prop_assert_eq!(mirror.position_of_char(chars_before, encoding), position);
                let within_a_line_break = byte > 0 && &reference.0.as_bytes()[byte - 1..=byte] == b"\r\n";
                if !within_a_line_break {
                    prop_assert_eq!(mirror.byte_at(position, encoding), byte);
                }
            }
            let end = reference.position(reference.0.len(), encoding);
            prop_assert_eq!(mirror.position_of_byte(reference.0.len() + beyond, encoding), end);
        }
    }

    #[test]
    fn a_byte_inside_a_character_has_its_position(text in text(1..40), at in any::<prop::sample::Index>()) {
        let mirror = Text::new(&text);
        let inside = at.index(text.len());
        let start = text.floor_char_boundary(inside);
        for encoding in ENCODINGS {
            prop_assert_eq!(mirror.position_of_byte(inside, encoding), mirror.position_of_byte(start, encoding));
        }
    }

    #[test]
    fn any_edits_leave_the_text_that_the_reference_has(
        before in text(0..60),
        edits in prop::collection::vec((range(), text(0..6)), 0..20),
    ) {
        for encoding in ENCODINGS {
            let (mut mirror, mut reference) = (Text::new(&before), Reference(before.clone()));
            for (range, new_text) in &edits {
                prop_assert_eq!(mirror.selection(*range, encoding), reference.selection(*range, encoding));
                mirror.edit(*range, new_text, encoding);
                reference.edit(*range, new_text, encoding);
                prop_assert_eq!(mirror.to_string(), &reference.0[..]);
                prop_assert_eq!(mirror.lines(), reference.lines().len());
            }
        }
    }

    #[test]
    fn an_excerpt_stays_within_its_bytes_but_for_its_last_words(
        text in text(0..60),
        lines in (0..12u32, 0..12u32),
        max_bytes in 0..80usize,
    ) {
        let excerpt = Text::new(&text).excerpt(lines.0..=lines.1, max_bytes);
        let told = excerpt.find('…').map_or(&excerpt[..], |at| &excerpt[..at]);
        prop_assert!(told.len() <= max_bytes.max("12\t".len()));
    }
}
