//! The laws of expansion.

use super::*;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

/// Files of the tests: `a.md`, `b c.md`; each holds something that looks like a template.
fn read(path: &WorkspacePath) -> Result<String, String> {
    match path.as_str() {
        "a.md" => Ok("in a: $1 @b".to_owned()),
        "b c.md" => Ok("```\n$ARGUMENTS\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    }
}

fn expanded(template: &str, arguments: &str) -> Expansion {
    expand(template, arguments, &mut read).unwrap()
}

#[track_caller]
fn check(template: &str, arguments: &str, text: &str) {
    assert_eq!(expanded(template, arguments).text, text);
}

#[test]
fn placeholders_are_filled_in() {
    check("fix $ARGUMENTS now", " a  'b c' ", "fix a  'b c' now");
    check("$1, $2; $3.", "a 'b c'", "a, b c; .");
    check("$10$1", "1 2 3 4 5 6 7 8 9 ten", "ten1");
    check("$1x$2", "a b", "axb");
}

#[test]
fn what_is_no_placeholder_is_plain_text() {
    let plain = "$ $$ $0 $01 $100 $HOME ${1} $ARGUMENTS_2 $arguments \\ \\n a@b.c @ é";
    check(plain, "", plain);
    check("$$1", "a", "$a");
}

#[test]
fn a_backslash_takes_the_meaning_away() {
    check("\\$1 \\$ARGUMENTS \\@a.md $1", "x", "$1 $ARGUMENTS @a.md x");
    assert_eq!(expanded("\\@a.md", "").files, []);
}

#[test]
fn arguments_without_a_place_get_a_paragraph() {
    check("do it\n\n", "a\nb", "do it\n\nARGUMENTS: a\nb");
    check("do it\n", "  ", "do it\n");
    check("costs \\$1", "a", "costs $1\n\nARGUMENTS: a");
    check("one: $1", "a b", "one: a");
}

#[test]
fn what_was_put_in_is_never_expanded_again() {
    for hostile in ["$1", "$ARGUMENTS", "@/etc/passwd", "@a.md", "\\$1", "$2 @a.md"] {
        let result = expanded("see $ARGUMENTS!", hostile);
        assert_eq!(result.text, format!("see {hostile}!"));
        assert_eq!((result.files, result.problems), (vec![], vec![]));
        let result = expanded("see", hostile);
        assert_eq!(result.text, format!("see\n\nARGUMENTS: {hostile}"));
        assert_eq!((result.files, result.problems), (vec![], vec![]));
    }
    check("$1$2", "$ '1 @a.md'", "$1 @a.md");
}

#[test]
fn a_file_that_is_mentioned_in_two_spellings_comes_once() {
    let expansion = expanded("@a.md @./a.md @.//a.md @none @./none", "");
    assert_eq!((expansion.files.len(), expansion.problems.len()), (1, 1));
}

#[test]
fn mentions_stay_and_bring_the_file_once() {
    let result = expanded("compare @a.md, (@\"b c.md\") and @a.md.", "");
    assert_eq!(result.text, "compare @a.md, (@\"b c.md\") and @a.md.");
    assert_eq!(result.problems, [""; 0]);
    assert_eq!(
        result.prompt(),
        "compare @a.md, (@\"b c.md\") and @a.md.\n\n\
         a.md:\n```\nin a: $1 @b\n```\n\nb c.md:\n````\n```\n$ARGUMENTS\n````"
    );
}

#[test]
fn a_mention_of_what_cannot_be_read_stays_with_a_problem() {
    let result = expanded("@none @../x @/etc/passwd @~/x a@b.c", "");
    assert_eq!(result.text, "@none @../x @/etc/passwd @~/x a@b.c");
    assert_eq!(result.files, []);
    assert_eq!(result.problems.len(), 4, "{:#?}", result.problems);
    assert_eq!(result.problems[0], "@none stays plain text: there is no such file");
}

#[test]
fn a_template_may_mention_the_file_that_an_argument_names() {
    let result = expanded("read @$1 and @\"$2\"", "a.md 'b c.md'");
    assert_eq!(result.text, "read @a.md and @\"b c.md\"");
    assert_eq!(result.files.len(), 2);
    let result = expanded("read @$1", "/etc/passwd");
    assert_eq!((result.text.as_str(), result.files.len()), ("read @/etc/passwd", 0));
    assert_eq!(result.problems.len(), 1);
    assert_eq!(expanded("read @$1", "").problems, ["@ stays plain text: it names no file"]);
}

#[test]
fn in_a_prompt_only_mentions_are_special() {
    let result = attach_mentions("echo \\$1 $ARGUMENTS @a.md", &mut read).unwrap();
    assert_eq!(result.text, "echo \\$1 $ARGUMENTS @a.md");
    assert_eq!(result.files.len(), 1);
}

#[test]
fn everything_has_a_limit() {
    let error = expand(&"$ARGUMENTS".repeat(20), &"x".repeat(100_000), &mut read).unwrap_err();
    assert!(error.contains("longer than"), "{error}");

    let many: String = (0..1000).map(|number| format!("@{number} ")).collect();
    let mut asked = 0;
    let result = expand(&many, "", &mut |_| {
        asked += 1;
        Ok(String::new())
    });
    let result = result.unwrap();
    assert_eq!((asked, result.files.len()), (PROMPT_CONTEXT_MAX_ITEMS, PROMPT_CONTEXT_MAX_ITEMS));
    assert_eq!(result.problems.len(), 1);

    let large = |_: &WorkspacePath| Ok("x".repeat(MENTIONED_FILE_MAX_BYTES + 1));
    let result = expand("@a", "", &mut { large }).unwrap();
    assert_eq!((result.files.len(), result.problems.len()), (0, 1));
}

proptest! {
    #[test]
    fn arguments_always_appear_as_they_were_typed(
        before in "[a-z \\n]{0,8}",
        arguments in "[a$1@/.\\\\'\" \\nA-Z]{0,20}",
        with_place in any::<bool>(),
    ) {
        let template = if with_place { format!("{before}$ARGUMENTS;") } else { before.clone() };
        let result = expanded(&template, &arguments);
        prop_assert!(result.text.contains(arguments.trim()));
        prop_assert_eq!(result.files, []);
        if with_place {
            prop_assert_eq!(result.text, format!("{before}{};", arguments.trim()));
        }
    }

    #[test]
    fn any_template_expands_without_a_panic(template in "(\\$|\\\\|@|\"|ARGUMENTS|[0-9]|[a. \\n\u{e9}]){0,20}", arguments in "\\PC{0,10}") {
        expanded(&template, &arguments);
        let prompt = attach_mentions(&template, &mut read).unwrap();
        prop_assert_eq!(prompt.text, template);
    }
}
