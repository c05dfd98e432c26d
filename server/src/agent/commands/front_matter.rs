//! The front matter of a command's markdown file: YAML between two lines of `---` at its beginning.

use serde::Deserialize;

/// What a command's file says about itself. Keys of other agents (`allowed-tools`, …) are tolerated and do nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FrontMatter {
    /// What the command does.
    pub description: Option<String>,
    /// What may follow its name.
    pub argument_hint: Option<String>,
    /// The model that it wants.
    pub model: Option<String>,
}

/// Why front matter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatterError {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub advice: String,
}

/// Takes a file apart into its front matter and its body. A file without front matter is all body.
pub fn parse(text: &str) -> Result<(FrontMatter, &str), FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok((FrontMatter::default(), text));
    };
    let block_start = first.len();
    let mut block_end = block_start;
    for line in lines {
        if is_fence(line) {
            let matter = parse_yaml(&text[block_start..block_end])?;
            return Ok((matter, &text[block_end + line.len()..]));
        }
        block_end += line.len();
    }
    Err(FrontMatterError {
        line: 1,
        what: "the front matter that begins here has no end".to_owned(),
        advice: "put a line with --- below it".to_owned(),
    })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

fn parse_yaml(block: &str) -> Result<FrontMatter, FrontMatterError> {
    let (yaml, hint) = take_argument_hint(block);
    if yaml.trim().is_empty() {
        return Ok(FrontMatter { argument_hint: hint, ..FrontMatter::default() });
    }
    let options = serde_saphyr::options! { with_snippet: false };
    let matter: Option<FrontMatter> =
        serde_saphyr::from_str_with_options(&yaml, options).map_err(error_of)?;
    let matter = matter.unwrap_or_default();
    let filled =
        |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    Ok(FrontMatter {
        description: filled(matter.description),
        argument_hint: hint.or(filled(matter.argument_hint)),
        model: filled(matter.model),
    })
}

fn error_of(error: serde_saphyr::Error) -> FrontMatterError {
    let line = error.location().map_or(1, |location| location.line() as usize);
    let text = error.to_string();
    let text = text.lines().next().unwrap_or_default();
    // The line is counted from the block's beginning there, and named by us anyway.
    let what = text.rfind(" at line ").map_or(text, |at| &text[..at]);
    FrontMatterError {
        // The block begins on the file's second line.
        line: line + 1,
        what: format!("the front matter cannot be read: {what}"),
        advice: "correct this line; text with special characters needs quotes around it".to_owned(),
    }
}

/// Takes `argument-hint: [issue] [priority]` out before YAML sees it: everybody writes it so, and to YAML it is a
/// broken list. Its line stays behind empty, so that lines keep their numbers.
fn take_argument_hint(block: &str) -> (String, Option<String>) {
    let mut hint = None;
    let lines = block.split_inclusive('\n').map(|line| {
        let value = line.strip_prefix("argument-hint:").map(str::trim).unwrap_or_default();
        // Quoted and block texts are YAML's business.
        if hint.is_some() || value.is_empty() || value.starts_with(['"', '\'', '|', '>', '#']) {
            return line;
        }
        hint = Some(value.to_owned());
        "\n"
    });
    (lines.collect(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, description: &str, hint: &str, model: &str, body: &str) {
        let (matter, found) = parse(text).unwrap();
        let filled = |text: Option<String>| text.unwrap_or_default();
        let found = (filled(matter.description), filled(matter.argument_hint), filled(matter.model), found);
        assert_eq!(found, (description.to_owned(), hint.to_owned(), model.to_owned(), body));
    }

    #[test]
    fn keys_and_body_are_taken_apart() {
        check("just text", "", "", "", "just text");
        check(
            "---\ndescription: Do it\nargument-hint: <a>\nmodel: m\n---\nBody\n",
            "Do it",
            "<a>",
            "m",
            "Body\n",
        );
        check("\u{feff}---\r\ndescription: \"D: x\"\r\n---\r\nBody", "D: x", "", "", "Body");
        check("---\n---\nBody", "", "", "", "Body");
        check("---\n# nothing\n---\n", "", "", "", "");
        check("---\ndescription:\nmodel: ''\n---", "", "", "", "");
        check("text\n---\nnot: this\n---\n", "", "", "", "text\n---\nnot: this\n---\n");
    }

    #[test]
    fn files_written_for_claude_code_are_read() {
        check(
            "---\nallowed-tools: Bash(git add:*), Bash(git status:*)\nargument-hint: [pr] [priority]\n\
             description: Review\ndisable-model-invocation: true\nhooks:\n  Stop: [a, b]\n---\nBody",
            "Review",
            "[pr] [priority]",
            "",
            "Body",
        );
        check("---\nargument-hint: \"[a] | b\"\n---\n", "", "[a] | b", "", "");
        check("---\nargument-hint: [message]\n---\n", "", "[message]", "", "");
        check("---\nargument-hint: @file\n---\n", "", "@file", "", "");
    }

    #[test]
    fn broken_front_matter_names_its_line() {
        for (text, line) in [
            ("---\ndescription: x\n", 1),
            ("---\nmodel: m\ndescription: a: b\n---\n", 3),
            ("---\nmodel: m\n\ndescription: [a, b]\n---\n", 4),
            ("---\njust text\n---\n", 2),
            ("---\nmodel: \"m\n---\n", 3),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}\n{error:?}");
            assert!(!error.what.contains('\n') && !error.what.ends_with('.'), "{error:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "(---\\n)?[-a:&*\\[\\]{}'\"# \\n!|>]{0,40}(\\n---\\n)?") {
            if let Ok((_, body)) = parse(&text) {
                prop_assert!(text.ends_with(body));
            }
        }
    }
}
