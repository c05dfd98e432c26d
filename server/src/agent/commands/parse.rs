//! Telling a slash command from an ordinary prompt.

/// A slash command as it was typed. Whether there is such a command is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// The name, without the slash.
    pub name: String,
    /// What follows it, newlines kept, white space around it dropped.
    pub arguments: String,
}

impl SlashCommand {
    /// Takes a text for a command when it begins with `/` and a name that ends at white space or with the text.
    ///
    /// So `/etc/hosts is broken`, `/ foo`, `//` and `/help?` are ordinary prompts. White space before the slash
    /// makes an ordinary prompt of everything, which is how to send a command's name to the model.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('/')?;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, arguments) = rest.split_at(end);
        is_name(name).then(|| Self { name: name.to_owned(), arguments: arguments.trim().to_owned() })
    }
}

/// Whether a text can be a command's name: a letter, then letters, digits, `_`, `-` and, between namespaces, `:`.
pub fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_and_what_follows_it_are_taken_apart() {
        for (text, name, arguments) in [
            ("/help", "help", ""),
            ("/help ", "help", ""),
            ("/load 20260101-000000", "load", "20260101-000000"),
            ("/git:commit -m \"x\"", "git:commit", "-m \"x\""),
            ("/fix_it-2 a\n  b\n", "fix_it-2", "a\n  b"),
            ("/review\nthis\nand that", "review", "this\nand that"),
            ("/x a/b", "x", "a/b"),
        ] {
            let found = SlashCommand::parse(text).unwrap();
            assert_eq!((found.name.as_str(), found.arguments.as_str()), (name, arguments));
        }
    }

    #[test]
    fn what_only_looks_like_a_command_is_an_ordinary_prompt() {
        for text in [
            "",
            "/",
            "//",
            "// a comment",
            "/ foo",
            "/etc/hosts is broken",
            "/help/",
            "/help?",
            "/9lives",
            "/-x",
            "/:x",
            " /help",
            "help",
            "/é",
            "/a\u{0}",
        ] {
            assert_eq!(SlashCommand::parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_left_without_a_panic(text in "\\PC{0,20}|/[a-z/ :\\n\u{e9}]{0,12}") {
            if let Some(command) = SlashCommand::parse(&text) {
                prop_assert!(is_name(&command.name));
                prop_assert!(text.ends_with(&command.arguments) || text.trim_end().ends_with(&command.arguments));
            }
        }
    }
}
