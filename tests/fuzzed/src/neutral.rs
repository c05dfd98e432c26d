//! Text of somebody else's, made safe to show.

use crate::input::Input;
use airlock::neutral::{Neutral, is_plain, neutral as neutral_text, neutral_line};

/// What turns the direction of reading.
const TURNING: [char; 12] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

/// The few that take no room and may stand behind a letter that they belong to.
const JOINING: [char; 4] = ['\u{200c}', '\u{200d}', '\u{fe0e}', '\u{fe0f}'];

/// Nothing that a terminal obeys and nothing that hides or turns text gets through; any split gives the same.
pub fn neutral(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.byte();
    let text = String::from_utf8_lossy(input.rest());

    let shown = neutral_text(&text);
    let mut last = None;
    for letter in shown.chars() {
        assert!(!letter.is_control() || matches!(letter, '\n' | '\t'), "{letter:?} gets through");
        assert!(!TURNING.contains(&letter), "{letter:?} gets through");
        assert!(!('\u{e0000}'..='\u{e0fff}').contains(&letter), "a tag gets through");
        if !is_plain(letter) {
            assert!(JOINING.contains(&letter), "{letter:?} gets through");
            assert!(
                last.is_some_and(|last: char| !last.is_ascii_alphabetic()),
                "{letter:?} hides behind {last:?}"
            );
        }
        last = Some(letter);
    }
    assert_eq!(neutral_text(&shown), shown, "not neutral at once");
    assert_eq!(in_pieces(&text, seed), shown, "another split, another text");

    let line = neutral_line(&text);
    assert!(!line.contains(['\n', '\t', '\r']));
    if text.chars().all(is_plain) {
        assert_eq!(shown, text, "plain text is as it was");
    }
}

fn in_pieces(text: &str, seed: u8) -> String {
    let (mut filter, mut shown) = (Neutral::default(), String::new());
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(1 + usize::from(seed % 7)) {
        shown.push_str(&filter.push(&piece.iter().collect::<String>()));
    }
    shown + filter.finish()
}
