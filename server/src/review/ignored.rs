//! What git ignores: build output that the agent made is not worth a look.

use crate::paths::{WorkspacePath, WorkspaceRoot};
use ignore::Match;
use ignore::gitignore::Gitignore;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The rules of a workspace's `.gitignore` files, read as they are needed.
pub(super) struct Ignored {
    root: PathBuf,
    rules: HashMap<PathBuf, Gitignore>,
    folders: HashMap<PathBuf, bool>,
}

impl Ignored {
    /// The user's own rules. The agent's would let it hide things.
    pub(super) fn of(root: &WorkspaceRoot) -> Self {
        Self { root: root.as_host().to_owned(), rules: HashMap::new(), folders: HashMap::new() }
    }

    /// Whether git ignores a file.
    pub(super) fn is_ignored(&mut self, path: &WorkspacePath) -> bool {
        let folder = path.as_path().parent().unwrap_or(Path::new("")).to_owned();
        self.folder(&folder) || self.matches(path.as_path(), false)
    }

    fn folder(&mut self, path: &Path) -> bool {
        if path.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = self.folders.get(path) {
            return *known;
        }
        let above = path.parent().unwrap_or(Path::new("")).to_owned();
        let ignored = self.folder(&above) || self.matches(path, true);
        self.folders.insert(path.to_owned(), ignored);
        ignored
    }

    /// The nearest file with a rule for it decides.
    fn matches(&mut self, path: &Path, is_folder: bool) -> bool {
        for folder in path.ancestors().skip(1) {
            let root = &self.root;
            let rules = self
                .rules
                .entry(folder.to_owned())
                .or_insert_with(|| Gitignore::new(root.join(folder).join(".gitignore")).0);
            match rules.matched(root.join(path), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rule_decides_and_an_ignored_folder_hides_all_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            crate::storage::replace(&folder.path().join(path), text.as_bytes()).unwrap()
        };
        write(".gitignore", "target/\n*.log\n");
        write("keep/.gitignore", "!*.log\n");
        let mut ignored = Ignored::of(&WorkspaceRoot::open(folder.path()).unwrap());
        let mut is = |path: &str| ignored.is_ignored(&WorkspacePath::parse(path).unwrap());
        assert!(is("target/debug/deep/x"));
        assert!(is("a.log") && is("sub/a.log"));
        assert!(!is("keep/a.log") && !is("src/main.rs") && !is("target"));
    }
}
