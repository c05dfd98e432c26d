//! Splitting a command's arguments for `$1`, `$2`, …, as a shell would.
//!
//! Written here because the libraries for it take `#` for a comment, and `/fix #12` is none.

/// Splits at white space. Quotes hold together what belongs together, and a backslash takes the next character as
/// it is; in double quotes only before `"` and `\`, in single quotes never. With a quote that is not closed, as in
/// `don't`, quotes and backslashes mean nothing and white space alone splits.
pub fn split(text: &str) -> Vec<String> {
    split_quoted(text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect())
}

/// `None` when a quote is not closed.
fn split_quoted(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // `None` between words: `""` is an empty word, white space is none.
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            escaped @ ('"' | '\\') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next().unwrap_or('\\')),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("  \n\t ", &[]),
            ("a  b\nc", &["a", "b", "c"]),
            ("'a b' \"c d\"", &["a b", "c d"]),
            ("a'b c'd", &["ab cd"]),
            ("\"\" ''", &["", ""]),
            (r"a\ b \\ \'", &["a b", "\\", "'"]),
            (r#""say \"hi\" \n""#, &[r#"say "hi" \n"#]),
            (r"'\'", &["\\"]),
            ("end\\", &["end\\"]),
            ("#12 fix", &["#12", "fix"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_is_a_letter() {
        assert_eq!(split("don't \"do that"), ["don't", "\"do", "that"]);
        assert_eq!(split("a \"b\\"), ["a", "\"b\\"]);
    }

    proptest! {
        #[test]
        fn quoted_words_come_back_as_they_were(words in prop::collection::vec("[a'\" \\\\$\\n\u{e9}]{0,6}", 0..5)) {
            let single: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            prop_assert_eq!(split(&single.join(" ")), words.clone());
            let double: Vec<_> = words
                .iter()
                .map(|word| format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\"")))
                .collect();
            prop_assert_eq!(split(&double.join("\n")), words);
        }

        #[test]
        fn any_text_is_split_without_a_panic(text in "\\PC{0,30}") {
            split(&text);
        }
    }
}
