//! Slash commands: what is typed, and the files that custom ones are made of.

use crate::input::Input;
use airlock::agent::commands::parse::is_name;
use airlock::agent::commands::template::{Expansion, attach_mentions, expand};
use airlock::agent::commands::{SlashCommand, arguments, front_matter};
use airlock::limits::PROMPT_MAX_BYTES;
use airlock::paths::WorkspacePath;
use std::collections::BTreeSet;

/// A command is its name and what follows; what arguments and files bring in is never looked at again; and a file's
/// content cannot end its fence.
pub fn slash_commands(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (typed, file, words) = (input.text_part(), input.text_part(), input.text_part());
    check_typed(&typed);
    check_arguments(&words);
    check_front_matter(&file);
    check_template(&file, &words);
    check_mentions(&typed, &file);
}

fn check_typed(typed: &str) {
    let Some(command) = SlashCommand::parse(typed) else { return };
    assert!(is_name(&command.name));
    let rest = typed.strip_prefix('/').unwrap().strip_prefix(command.name.as_str()).unwrap();
    assert!(rest.is_empty() || rest.starts_with(char::is_whitespace));
    assert_eq!(rest.trim(), command.arguments);
    let again = format!("/{} {}", command.name, command.arguments);
    assert_eq!(SlashCommand::parse(&again), Some(command));
}

fn check_arguments(text: &str) {
    let words = arguments::split(text);
    let quoted: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    assert_eq!(arguments::split(&quoted.join(" ")), words, "quoted words are the same words");
    if !text.contains(['\'', '"', '\\']) {
        assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
    }
}

fn check_front_matter(file: &str) {
    match front_matter::parse(file) {
        Ok((_, body)) => assert!(file.ends_with(body)),
        Err(error) => {
            let lines = file.split(['\n', '\r']).count();
            assert!((1..=lines).contains(&error.line), "line {} of {lines}", error.line);
            assert!(!error.what.is_empty() && !error.what.contains('\n') && !error.advice.is_empty());
        }
    }
}

fn check_template(template: &str, words: &str) {
    let mut asked = BTreeSet::new();
    let mut read = |path: &WorkspacePath| {
        assert!(asked.insert(path.clone()), "{path} is read twice");
        if path.as_str().len().is_multiple_of(3) {
            Err("no such file".to_owned())
        } else {
            Ok(words.to_owned())
        }
    };
    if let Ok(expansion) = expand(template, words, &mut read) {
        check_expansion(&expansion);
        if !template.contains(['$', '@', '\\']) {
            let added = words.trim();
            let expected = if added.is_empty() {
                template.to_owned()
            } else {
                format!("{}\n\nARGUMENTS: {added}", template.trim_end())
            };
            assert_eq!(expansion.text, expected);
        }
    }
    let mut nothing = |path: &WorkspacePath| -> Result<String, String> { panic!("{path} is read") };
    let brought_in = expand("$ARGUMENTS", words, &mut nothing).unwrap();
    assert_eq!(brought_in.text, words.trim(), "arguments are a text and no template");
}

fn check_mentions(prompt: &str, content: &str) {
    let mut read = |_: &WorkspacePath| Ok(content.to_owned());
    if let Ok(expansion) = attach_mentions(prompt, &mut read) {
        assert_eq!(expansion.text, prompt, "a user's own prompt is as it was");
        check_expansion(&expansion);
    }
}

fn check_expansion(expansion: &Expansion) {
    assert!(expansion.text.len() <= PROMPT_MAX_BYTES);
    let prompt = expansion.prompt();
    assert!(prompt.starts_with(&expansion.text));
    if let Some(last) = expansion.files.last() {
        let fence = prompt.lines().next_back().unwrap_or_default();
        assert!(fence.len() >= 3 && fence.chars().all(|letter| letter == '`'));
        assert!(!last.content.contains(fence), "the content can end its fence");
    }
}
