//! Recognising `@path` in a text.

/// A mention at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention<'t> {
    /// The path as it was written, without quotes.
    pub(super) path: &'t str,
    /// The whole of it, from the `@` on.
    pub(super) written: &'t str,
}

/// Finds a mention where a text begins, `before` being the character in front of it.
///
/// A mention begins a word: `a@b.c` is none. It ends at white space, a quote or a closing bracket, and punctuation
/// at its end belongs to the sentence. `@"a path"` may hold spaces.
pub(super) fn mention_at(before: Option<char>, text: &str) -> Option<Mention<'_>> {
    let begins_word = before.is_none_or(|letter| letter.is_whitespace() || "([{<\"'`,;:=>".contains(letter));
    let rest = text.strip_prefix('@').filter(|_| begins_word)?;
    let (path, length) = match rest.strip_prefix('"') {
        Some(quoted) => {
            let end = quoted.find(['"', '\n']).filter(|end| quoted[*end..].starts_with('"'))?;
            let path = &quoted[..end];
            (path, path.len() + 3)
        }
        None => {
            let ends = |letter: char| letter.is_whitespace() || ")]}<>\"'`,;@".contains(letter);
            let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
            let path = word.trim_end_matches(['.', ':', '!', '?']);
            (path, path.len() + 1)
        }
    };
    (!path.is_empty()).then(|| Mention { path, written: &text[..length] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_ends_where_the_path_ends() {
        for (text, path, written) in [
            ("@src/main.rs", "src/main.rs", "@src/main.rs"),
            ("@src/main.rs, and", "src/main.rs", "@src/main.rs"),
            ("@a.md. Then", "a.md", "@a.md"),
            ("@a.md?", "a.md", "@a.md"),
            ("@a)", "a", "@a"),
            ("@\"a b.md\" c", "a b.md", "@\"a b.md\""),
            ("@é\u{3000}x", "é", "@é"),
            ("@/etc/passwd", "/etc/passwd", "@/etc/passwd"),
        ] {
            assert_eq!(mention_at(None, text), Some(Mention { path, written }));
        }
    }

    #[test]
    fn addresses_and_lonely_signs_are_no_mentions() {
        for (before, text) in [
            (Some('a'), "@b.c"),
            (Some('.'), "@b"),
            (Some('@'), "@b"),
            (None, "@"),
            (None, "@ b"),
            (None, "@."),
            (None, "@\"a\nb\""),
            (None, "@\"\""),
            (None, "b"),
        ] {
            assert_eq!(mention_at(before, text), None, "{text}");
        }
        assert!(mention_at(Some('('), "@b").is_some());
    }
}
