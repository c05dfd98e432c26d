//! Text that somebody else wrote, made safe to show in a terminal.
//!
//! A terminal obeys escape sequences: they move the cursor, rewrite what was shown and fill the clipboard. Some
//! characters do as much without a terminal's help: they turn the reading direction or take no room at all, so that a
//! person reads something else than what is there. Both are shown here instead of sent.
//!
//! Architecture invariant: whatever came from the model, a tool, a file or the API passes through here before it is
//! shown in a terminal. What the user reads is then all there is.

use std::borrow::Cow;

/// Makes streamed text neutral. Any split of a text into pieces gives the same output.
#[derive(Clone, Debug, Default)]
pub struct Neutral {
    /// A `\r` came last; what follows decides whether it ends a line.
    return_waits: bool,
    /// What came last as it is, for characters that only make sense behind another one.
    last: Option<char>,
}

impl Neutral {
    /// The next piece of the text, neutral.
    pub fn push(&mut self, untrusted_text: &str) -> String {
        let mut shown = String::with_capacity(untrusted_text.len());
        for letter in untrusted_text.chars() {
            if std::mem::take(&mut self.return_waits) && letter != '\n' {
                shown.push('␍');
            }
            let as_it_is = is_plain(letter) || self.joins(letter);
            if letter == '\r' {
                self.return_waits = true;
            } else if as_it_is {
                shown.push(letter);
            } else {
                make_visible(letter, &mut shown);
            }
            self.last = as_it_is.then_some(letter);
        }
        shown
    }

    /// What is left when the text has ended. A new text may follow.
    pub fn finish(&mut self) -> &'static str {
        let rest = if self.return_waits { "␍" } else { "" };
        *self = Self::default();
        rest
    }

    /// Whether an invisible character belongs to the one before it, as in 👩‍💻, ⚠️ and 1️⃣ or in Persian and
    /// Indian words. One of them hides nothing; several in a row, or one between Latin letters, might.
    fn joins(&self, letter: char) -> bool {
        let Some(last) = self.last else { return false };
        match letter {
            '\u{200c}' => is_word_joining_script(last),
            '\u{200d}' => is_word_joining_script(last) || is_pictograph(last) || last == '\u{fe0f}',
            '\u{fe0e}' | '\u{fe0f}' => is_pictograph(last) || matches!(last, '0'..='9' | '#' | '*'),
            _ => false,
        }
    }
}

/// A whole text, neutral.
pub fn neutral(untrusted_text: &str) -> String {
    let mut filter = Neutral::default();
    let mut shown = filter.push(untrusted_text);
    shown.push_str(filter.finish());
    shown
}

/// A whole text, neutral and in one line.
pub fn neutral_line(untrusted_text: &str) -> String {
    neutral(untrusted_text).replace('\n', "␊").replace('\t', " ")
}

/// A text for the model in which nothing is written that a person would not see: tags, which have a letter for each that
/// there is in English, and selectors of variants, which have one for each byte. A flag that is written with tags (that of
/// Scotland) is shown apart, too; one selector behind an ideograph stays, for that is how some names are written.
pub fn tags_shown(untrusted_text: &str) -> Cow<'_, str> {
    let is_tag = |letter: char| matches!(letter, '\u{e0000}'..='\u{e0fff}');
    if !untrusted_text.contains(is_tag) {
        return Cow::Borrowed(untrusted_text);
    }
    let (mut shown, mut last) = (String::with_capacity(untrusted_text.len()), ' ');
    for letter in untrusted_text.chars() {
        let is_variant = matches!(letter, '\u{e0100}'..='\u{e01ef}') && is_ideograph(last);
        match is_tag(letter) && !is_variant {
            true => make_visible(letter, &mut shown),
            false => shown.push(letter),
        }
        last = letter;
    }
    Cow::Owned(shown)
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character shows itself, and does nothing else.
pub fn is_plain(letter: char) -> bool {
    match letter {
        '\n' | '\t' => true,
        _ if letter.is_control() => false,
        // What Unicode calls format characters, fillers and selectors: they take no room or turn the direction.
        '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}

/// Scripts in whose words joiners are ordinary: Arabic, and those of India and its neighbours.
fn is_word_joining_script(letter: char) -> bool {
    matches!(letter, '\u{620}'..='\u{6d3}' | '\u{750}'..='\u{77f}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}')
}

fn is_pictograph(letter: char) -> bool {
    matches!(
        letter,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2100}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

fn make_visible(letter: char, shown: &mut String) {
    match u32::from(letter) {
        code @ 0..0x20 => shown.extend(char::from_u32(0x2400 + code)),
        0x7f => shown.push('␡'),
        code => shown.push_str(&format!("<U+{code:04X}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (text, shown) in [
            ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
            ("\u{1b}]52;c;aGk=\u{7}", "␛]52;c;aGk=␇"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("a\u{8}b\u{7f}\0", "a␈b␡␀"),
            ("safe\rEVIL", "safe␍EVIL"),
            ("end\r", "end␍"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("\r\r\n", "␍\n"),
        ] {
            assert_eq!(neutral(text), shown);
        }
    }

    #[test]
    fn what_hides_or_turns_text_is_shown() {
        for (text, shown) in [
            ("abc\u{202e}fdp", "abc<U+202E>fdp"),
            ("\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}", "<U+2066>x<U+2069><U+200E><U+200F><U+061C>"),
            ("hi\u{e0041}\u{e007f}", "hi<U+E0041><U+E007F>"),
            ("pass\u{200b}word", "pass<U+200B>word"),
            ("a\u{200d}b\u{fe0f}", "a<U+200D>b<U+FE0F>"),
            // One that was shown is none that another can join.
            ("\u{fe0f}\u{200d}", "<U+FE0F><U+200D>"),
            ("👍\u{fe0f}\u{fe0f}\u{e0101}", "👍\u{fe0f}<U+FE0F><U+E0101>"),
            ("\u{feff}x\u{2028}\u{3164}", "<U+FEFF>x<U+2028><U+3164>"),
        ] {
            assert_eq!(neutral(text), shown);
        }
    }

    #[test]
    fn what_people_write_is_unchanged() {
        for text in
            ["tab\there\n", "Größe, 日本語, עברית", "👩\u{200d}💻 ⚠\u{fe0f} 1\u{fe0f}⃣ 👍🏽", "می\u{200c}خواهم"]
        {
            assert_eq!(neutral(text), text);
        }
        assert_eq!(neutral_line("two\r\nlines\tx"), "two␊lines x");
    }

    #[test]
    fn what_only_the_model_would_read_is_shown_to_it_as_what_it_is() {
        for (text, shown) in [
            ("plain 👩\u{200d}💻 ü", "plain 👩\u{200d}💻 ü"),
            ("hi\u{e0041}\u{e007f}!", "hi<U+E0041><U+E007F>!"),
            ("葛\u{e0100}城", "葛\u{e0100}城"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}<U+E0101>"),
            ("a\u{e01ef}", "a<U+E01EF>"),
        ] {
            assert_eq!(tags_shown(text), shown);
        }
    }

    /// Texts with many characters that matter.
    fn texts() -> impl Strategy<Value = String> {
        let letter = prop_oneof![
            any::<char>(),
            proptest::char::range('\0', '\u{a0}'),
            proptest::sample::select(vec![
                '\r',
                '\n',
                '\u{200d}',
                '\u{fe0f}',
                '👩',
                '1',
                '\u{202e}',
                '\u{e0041}'
            ]),
        ];
        proptest::collection::vec(letter, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(text in texts()) {
            let shown = neutral(&text);
            prop_assert!(!shown.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')));
            prop_assert_eq!(neutral(&shown), shown);
        }

        #[test]
        fn plain_text_is_unchanged(text in "[ -~\\n\\täöüß€日本語א-ת]{0,60}") {
            prop_assert_eq!(neutral(&text), text);
        }

        #[test]
        fn every_split_gives_the_same(text in texts(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4)) {
            let letters: Vec<char> = text.chars().collect();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(letters.len() + 1)).collect();
            ends.push(letters.len());
            ends.sort_unstable();
            let (mut filter, mut shown, mut start) = (Neutral::default(), String::new(), 0);
            for end in ends {
                shown.push_str(&filter.push(&letters[start..end].iter().collect::<String>()));
                start = end;
            }
            shown.push_str(filter.finish());
            prop_assert_eq!(shown, neutral(&text));
        }
    }
}
