//! What the workspace's own files lead to. It runs, or steers what runs, and its name doesn't say so.

use super::search::search;
use super::{Protection, key, protection, runs_more};
use crate::paths::WorkspacePath;
use crate::patterns::above;
use crate::review::Change;
use crate::view::UserSide;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

/// Names that are run by the name of their folder.
const INDEXES: &[&str] = &["index", "__init__", "__main__"];

/// All paths that are led to, as they are compared.
#[derive(Debug, Default)]
pub(in crate::review) struct Reached {
    /// Files that something names.
    named: HashSet<String>,
    /// Folders in which everything runs.
    below: HashSet<String>,
    /// Folders in which all code in Rust is built into what runs.
    rust: HashSet<String>,
    /// The folders on the way to all of these: what takes the place of one of them takes theirs.
    above: HashSet<String>,
    /// Where links lead, and the paths of those links.
    links: HashMap<String, Vec<String>>,
}

impl Reached {
    /// What the user's own files lead to where something changed, and what these changes would lead to.
    pub(in crate::review) fn by(user: &UserSide, changes: &[Change]) -> io::Result<Self> {
        search(user, changes)
    }

    /// Whether this change is one of what runs.
    pub(in crate::review) fn has(&self, change: &Change) -> bool {
        let path = key(change.path.as_path());
        self.is_led_to(&path) || self.other_names(&path).any(|other| self.runs_as(&other, change))
    }

    /// A file that something names.
    pub(super) fn name(&mut self, path: &Path) {
        let path = self.reach(path);
        self.named.insert(path);
    }

    /// A folder in which everything runs.
    pub(super) fn name_folder(&mut self, path: &Path) {
        let path = self.reach(path);
        self.below.insert(path);
    }

    /// A folder in which all code in Rust is built into what runs.
    pub(super) fn name_rust(&mut self, path: &Path) {
        let path = self.reach(path);
        self.rust.insert(path);
    }

    /// Where a link leads.
    pub(super) fn link(&mut self, link: &Path, place: &Path) {
        let place = self.reach(place);
        self.links.entry(place).or_default().push(key(link));
    }

    fn reach(&mut self, path: &Path) -> String {
        let path = key(path);
        self.above.extend(above(&path).skip(1).map(str::to_owned));
        path
    }

    fn is_led_to(&self, path: &str) -> bool {
        let is_in = |folders: &HashSet<String>| {
            folders.contains("") || above(path).any(|folder| folders.contains(folder))
        };
        self.above.contains(path)
            || self.is_named(path)
            || is_in(&self.below)
            || (path.ends_with(".rs") && is_in(&self.rust))
    }

    /// An interpreter may find a file without its ending, or by its folder.
    fn is_named(&self, path: &str) -> bool {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let without_ending = &path[..path.len() - (file.len() - stem.len())];
        self.named.contains(path)
            || self.named.contains(without_ending)
            || (INDEXES.contains(&stem) && self.named.contains(folder))
    }

    /// The names that a path has besides, by way of links.
    fn other_names(&self, path: &str) -> impl Iterator<Item = String> {
        above(path).flat_map(move |place| {
            let links = self.links.get(place).into_iter().flatten();
            links.map(move |link| format!("{link}{}", &path[place.len()..]))
        })
    }

    fn runs_as(&self, other: &str, change: &Change) -> bool {
        let is_protected = |other: &WorkspacePath| {
            protection(other) != Protection::None || runs_more(other, &change.user, &change.proposed)
        };
        self.is_led_to(other) || WorkspacePath::parse(other).is_ok_and(|other| is_protected(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Agreed, Entry};

    fn change(path: &str) -> Change {
        let agent = Entry::file(b"x", 0o644);
        let path = WorkspacePath::parse(path).unwrap();
        Change::between(&path, &Agreed::On(Entry::Missing), Entry::Missing, agent).unwrap()
    }

    #[test]
    fn what_is_led_to_is_known_by_each_name_that_a_program_finds_it_by() {
        let mut reached = Reached::default();
        reached.name(Path::new("tools/Gen.rs"));
        reached.name(Path::new("scripts/setup"));
        reached.name_folder(Path::new("hooks"));
        reached.name_rust(Path::new("macros/src"));
        reached.link(Path::new(".vscode"), Path::new("editor"));
        reached.link(Path::new("mise"), Path::new("m"));
        reached.link(Path::new("t"), Path::new("other"));
        reached.name(Path::new("t/run.sh"));
        for path in [
            "tools/gen.rs",
            "tools",
            "scripts/setup.mjs",
            "scripts/setup/index.js",
            "hooks/a/b",
            "macros/src/a/b.RS",
            "editor/tasks.json",
            "editor",
            "m/config.toml",
            "other/run.sh",
        ] {
            assert!(reached.has(&change(path)), "{path}");
        }
        for path in [
            "tools/gen",
            "tools/other.rs",
            "scripts/setup/x.js",
            "scripts/set",
            "hook",
            "macros/src/a.txt",
            "macros/tests/a.rs",
            "m/x.toml",
            "other/x.sh",
            "editors/x",
        ] {
            assert!(!reached.has(&change(path)), "{path}");
        }
    }
}
