//! What Tab offers: slash commands at the beginning of a prompt, and `@paths` of the workspace anywhere in it.
//!
//! Architecture invariant: no link is followed, nothing outside the workspace is looked at, and one folder at a time.

use crate::agent::Session;
use crate::agent::update::CommandInfo;
use crate::limits::{CHAT_COMPLETION_NAMES_MAX, CHAT_COMPLETIONS_MAX};
use crate::neutral::{is_plain, neutral_line};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::{Folder, Node};
use reedline::{Completer, CompletionResult, Span, Suggestion};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Completes for a session, with the commands that it has at that moment.
pub(super) struct SessionCompleter(pub(super) Arc<Session>);

impl Completer for SessionCompleter {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let typed = line.get(..position).unwrap_or(line);
        let suggestions = match (typed.strip_prefix('/'), mention(typed), self.0.workspace()) {
            (Some(name), ..) if !name.contains(char::is_whitespace) => commands(&self.0.commands(), name),
            (_, Some(mention), Some(root)) => files(root, &mention).unwrap_or_else(|error| {
                // A folder that is not there, or is not ours to read, has nothing to offer.
                tracing::debug!(%error, "no completions");
                Vec::new()
            }),
            _ => Vec::new(),
        };
        CompletionResult::fresh(suggestions)
    }
}

fn commands(known: &[CommandInfo], typed: &str) -> Vec<Suggestion> {
    let mut fitting: Vec<_> = known.iter().filter(|info| info.name.starts_with(typed)).collect();
    if fitting.is_empty() {
        // `/com` for `/git:commit`.
        let last = |name: &str| name.rsplit(':').next().is_some_and(|last| last.starts_with(typed));
        fitting = known.iter().filter(|info| last(&info.name)).collect();
    }
    fitting
        .into_iter()
        .take(CHAT_COMPLETIONS_MAX)
        .map(|info| {
            let hint = info.hint.as_ref().map(|hint| format!("{hint} ")).unwrap_or_default();
            Suggestion {
                value: format!("/{}", info.name),
                description: Some(neutral_line(&format!("{hint}{}", info.description))),
                span: Span::new(0, 1 + typed.len()),
                append_whitespace: true,
                ..Suggestion::default()
            }
        })
        .collect()
}

/// A mention that is being typed.
#[derive(Debug, PartialEq, Eq)]
struct Mention<'t> {
    span: Span,
    /// The folder, with the slash at its end.
    folder: &'t str,
    /// The beginning of the name in it.
    name: &'t str,
}

/// The mention at the end of what was typed.
fn mention(typed: &str) -> Option<Mention<'_>> {
    let start = typed.rfind('@')?;
    let before = typed[..start].chars().next_back();
    if !before.is_none_or(|letter| letter.is_whitespace() || "([{<\"'`,;:=>".contains(letter)) {
        return None;
    }
    let path = &typed[start + 1..];
    let path = match path.strip_prefix('"') {
        Some(quoted) if !quoted.contains(['"', '\n']) => quoted,
        None if !path.contains(char::is_whitespace) => path,
        _ => return None,
    };
    let (folder, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    Some(Mention { span: Span::new(start, typed.len()), folder, name })
}

fn files(root: &WorkspaceRoot, mention: &Mention<'_>) -> io::Result<Vec<Suggestion>> {
    let path = WorkspacePath::parse(mention.folder).map_err(io::Error::other)?;
    let mut folder = Folder::open(root.as_host())?;
    if !path.as_str().is_empty() {
        folder = match folder.node_at(Path::new(path.as_str()))? {
            Node::Folder(inner) => inner,
            _ => return Ok(Vec::new()),
        };
    }
    let names = folder.names(CHAT_COMPLETION_NAMES_MAX)?;
    let wanted = |name: &&str| {
        let hidden = name.starts_with('.') && !mention.name.starts_with('.');
        name.starts_with(mention.name)
            && !hidden
            && name.chars().all(|letter| is_plain(letter) && letter != '"')
    };
    let fitting = names.iter().filter_map(|name| name.to_str()).filter(wanted);
    let suggestions = fitting.filter_map(|name| match folder.node(name.as_ref()) {
        Ok(Node::Folder(_)) => Some(suggestion(mention, name, true)),
        Ok(Node::File(_)) => Some(suggestion(mention, name, false)),
        // Links, pipes, and what cannot be read: a prompt could not bring them in either.
        _ => None,
    });
    Ok(suggestions.take(CHAT_COMPLETIONS_MAX).collect())
}

fn suggestion(mention: &Mention<'_>, name: &str, is_folder: bool) -> Suggestion {
    let path = format!("{}{name}", mention.folder);
    let needs_quotes = |letter: char| letter.is_whitespace() || ")]}<>'`,;@".contains(letter);
    let quotes = path.contains(needs_quotes) || path.ends_with(['.', ':', '!', '?']);
    let value = match (quotes, is_folder) {
        (false, false) => format!("@{path}"),
        (false, true) => format!("@{path}/"),
        (true, false) => format!("@\"{path}\""),
        // The quote stays open, for there is more to come.
        (true, true) => format!("@\"{path}/"),
    };
    Suggestion { value, span: mention.span, append_whitespace: !is_folder, ..Suggestion::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::replace;
    use pretty_assertions::assert_eq;

    #[test]
    fn commands_are_offered_by_their_beginning() {
        let info = |name: &str, hint: Option<&str>| CommandInfo {
            name: name.into(),
            description: "does\u{1b}[2J it".into(),
            hint: hint.map(str::to_owned),
        };
        let known = [info("help", None), info("load", Some("[session]")), info("git:commit", None)];
        let values = |typed| commands(&known, typed).into_iter().map(|found| found.value).collect::<Vec<_>>();
        assert_eq!(values(""), ["/help", "/load", "/git:commit"]);
        assert_eq!(values("lo"), ["/load"]);
        assert_eq!(values("com"), ["/git:commit"]);
        assert_eq!(values("x"), Vec::<String>::new());
        assert_eq!(commands(&known, "l")[0].description.as_deref(), Some("[session] does␛[2J it"));
    }

    #[test]
    fn a_mention_is_what_begins_a_word() {
        let found = |typed| mention(typed).map(|found| (found.span.start, found.folder, found.name));
        assert_eq!(found("see @src/ma"), Some((4, "src/", "ma")));
        assert_eq!(found("@"), Some((0, "", "")));
        assert_eq!(found("(@\"a b/c d"), Some((1, "a b/", "c d")));
        for typed in ["me@home", "@a b", "@\"a\" b", "none", ""] {
            assert_eq!(found(typed), None, "{typed}");
        }
    }

    #[test]
    fn paths_are_offered_folder_by_folder_and_links_are_not() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        for file in ["src/main.rs", "src/two words.rs", "src/.hidden", "src/ev\u{1b}il", "strange?"] {
            replace(&root.join(file), b"").unwrap();
        }
        replace(&outer.path().join("secret/key"), b"").unwrap();
        std::os::unix::fs::symlink(outer.path().join("secret"), root.join("sly")).unwrap();
        let root = WorkspaceRoot::open(&root).unwrap();
        let offered = |typed: &str| -> Vec<String> {
            let found = files(&root, &mention(typed).unwrap());
            found.unwrap_or_default().into_iter().map(|found| found.value).collect()
        };
        assert_eq!(offered("@s"), ["@src/", "@\"strange?\""]);
        assert_eq!(offered("@src/"), ["@src/main.rs", "@\"src/two words.rs\""]);
        assert_eq!(offered("@src/.h"), ["@src/.hidden"]);
        for outside in ["@sly/", "@../secret/", "@/etc/", "@~/", "@none/", "@src/main.rs/"] {
            assert_eq!(offered(outside), Vec::<String>::new(), "{outside}");
        }
    }
}
