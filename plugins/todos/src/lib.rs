//! Collects what people left to do in comments: `TODO`, `FIXME`, `HACK` and `XXX`.

use airlock_plugin::{Error, Result, data, run, tool, workspace};

const WORDS: [&str; 4] = ["TODO", "FIXME", "HACK", "XXX"];

/// What is left to do.
#[data]
struct Todos {
    /// How many there are.
    count: usize,
    todos: Vec<Todo>,
}

/// One of them.
#[data]
#[derive(Debug, PartialEq)]
struct Todo {
    path: String,
    line: u32,
    kind: String,
    /// Whose it is, as in `TODO(ann)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    text: String,
}

/// Collects the TODO, FIXME, HACK and XXX comments of the workspace, with their places and owners. Use it to find what
/// is left to do.
#[tool(effects = ["read"])]
fn collect_todos(
    /// Only files that match this pattern, such as src/**/*.rs; all when left out.
    files: Option<String>,
    /// Other words to look for instead, such as ["SAFETY"].
    words: Option<Vec<String>>,
) -> Result<Todos> {
    let words = words.unwrap_or_else(|| WORDS.map(str::to_owned).to_vec());
    if words.is_empty()
        || words.iter().any(|word| word.is_empty() || !word.chars().all(|c| c.is_ascii_alphanumeric()))
    {
        return Err(Error::invalid("a word to look for has letters and digits only"));
    }
    let pattern = format!(r"\b({})\b", words.join("|"));
    let mut todos = Vec::new();
    for found in workspace::grep(&pattern, files.as_deref().unwrap_or_default())? {
        run::check()?;
        if let Some((kind, owner, text)) = parse(&found.text, &words) {
            todos.push(Todo { path: found.path, line: found.line, kind, owner, text });
        }
    }
    Ok(Todos { count: todos.len(), todos })
}

/// The kind, owner and text of the first of the words in a line that is written like a note, `TODO: …` or `TODO(ann) …`.
fn parse(line: &str, words: &[String]) -> Option<(String, Option<String>, String)> {
    let (start, word) = words.iter().filter_map(|word| Some((line.find(word.as_str())?, word))).min()?;
    let rest = &line[start + word.len()..];
    let (owner, rest) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((owner, rest)) => (Some(owner.trim().to_owned()), rest),
        None => (None, rest),
    };
    let text = rest.trim_start_matches([':', '-', ' ']).trim_end_matches(['*', '/', '-', '>', ' ']);
    Some((word.clone(), owner, text.to_owned()))
}

airlock_plugin::export!(tools: [collect_todos]);

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_plugin::{Kind, testing::Host};

    fn collect(host: &Host) -> Result<Vec<Todo>> {
        host.run(|| collect_todos(None, None)).map(|todos| todos.todos)
    }

    #[test]
    fn notes_are_found_with_their_owners() {
        let host = Host::new()
            .file("src/a.rs", "fn a() {}\n// TODO(ann): tidy up\n/* FIXME this fails */\n")
            .file("b.html", "<!-- HACK: for now -->\n<p>TODOS are no TODO_LIST</p>");
        let found = collect(&host).unwrap();
        let todo = |path: &str, line, kind: &str, owner: Option<&str>, text: &str| Todo {
            path: path.to_owned(),
            line,
            kind: kind.to_owned(),
            owner: owner.map(str::to_owned),
            text: text.to_owned(),
        };
        assert_eq!(
            found,
            [
                todo("b.html", 1, "HACK", None, "for now"),
                todo("src/a.rs", 2, "TODO", Some("ann"), "tidy up"),
                todo("src/a.rs", 3, "FIXME", None, "this fails"),
            ]
        );
    }

    #[test]
    fn without_the_grant_the_error_says_so() {
        let error = collect(&Host::new().deny("workspace")).unwrap_err();
        assert_eq!(*error.kind(), Kind::Denied);
    }

    #[test]
    fn a_stopped_turn_ends_it() {
        let error = collect(&Host::new().file("a", "TODO: x").cancelled()).unwrap_err();
        assert_eq!(*error.kind(), Kind::Cancelled);
    }
}
