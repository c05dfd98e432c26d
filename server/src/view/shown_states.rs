//! What of the agent's view the user was shown last.
//!
//! Between a look and a verdict the sandbox lives on: a process in the background can write another thing into the file
//! that the user has just read. So what is accepted by its name must still be what was shown under that name.

use super::entry::{Entry, FileEntry};
use crate::paths::WorkspacePath;
use std::collections::HashMap;

/// The agent's state of each path that was shown.
#[derive(Debug, Default)]
pub struct ShownStates(HashMap<WorkspacePath, String>);

impl ShownStates {
    /// Those of a whole list.
    pub fn of<'a>(all: impl Iterator<Item = (&'a WorkspacePath, &'a Entry)>) -> Self {
        Self(all.map(|(path, entry)| (path.clone(), state(entry))).collect())
    }

    /// Whether a path still has the state that was shown.
    pub fn has(&self, path: &WorkspacePath, entry: &Entry) -> bool {
        self.0.get(path).is_some_and(|shown| *shown == state(entry))
    }

    /// A verdict of the user's gave a path this state.
    pub fn set(&mut self, path: &WorkspacePath, entry: &Entry) {
        self.0.insert(path.clone(), state(entry));
    }
}

fn state(entry: &Entry) -> String {
    match entry {
        Entry::Missing => "missing".to_owned(),
        Entry::Folder => "folder".to_owned(),
        Entry::Other => "other".to_owned(),
        Entry::Link(target) => format!("link {target:?}"),
        Entry::File(FileEntry { content, mode }) => format!("file {mode:o} {}", content.digest()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_content_another_mode_and_what_was_not_there_are_not_what_was_shown() {
        let path = |name: &str| WorkspacePath::parse(name).unwrap();
        let (a, text) = (path("a"), Entry::file(b"text", 0o644));
        let mut shown = ShownStates::of([(&a, &text)].into_iter());
        assert!(shown.has(&a, &text));
        for other in [
            Entry::file(b"texT", 0o644),
            Entry::file(b"text", 0o755),
            Entry::Missing,
            Entry::Link("text".into()),
        ] {
            assert!(!shown.has(&a, &other), "{other:?}");
        }
        assert!(!shown.has(&path("b"), &text));
        shown.set(&path("b"), &text);
        assert!(shown.has(&path("b"), &text));
    }
}
