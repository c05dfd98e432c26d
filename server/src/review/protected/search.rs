//! Looks for what the workspace's own files lead to: in the folders on the way to each path that changed, whose manifests,
//! settings and links count for what is in them, and where the repository around them says that there is more.
//!
//! The cost grows with what was changed. Only the links that git tracks are looked for in the whole workspace, by its index.

use super::links::{Way, link_at};
use super::manifests::{of_json, of_toml};
use super::names::names as known_names;
use super::reached::Reached;
use super::scripts::{backend, naming};
use super::words::{self, paths};
use super::{cargo, repository};
use crate::limits::{PROTECTED_FILE_MAX_BYTES, PROTECTED_HOOKS_MAX, PROTECTED_NAMES_MAX};
use crate::paths::WorkspacePath;
use crate::patterns::plain;
use crate::review::Change;
use crate::storage::beneath::{Folder, Kind, Node};
use crate::view::{Content, Entry, UserSide};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Names in one folder that are looked at.
const NAMES_MAX: usize = 1 << 20;

pub(super) struct Search<'a> {
    user: &'a UserSide,
    root: Folder,
    /// What the user would have after accepting.
    proposed: HashMap<&'a Path, &'a Entry>,
    reached: Reached,
    /// Folders that were looked into.
    folders: HashSet<PathBuf>,
    /// Files that were looked at, each with the folder that it was looked at for.
    files: HashSet<(PathBuf, PathBuf)>,
    packages: BTreeSet<PathBuf>,
    /// How many names were followed through links.
    names: usize,
}

pub(super) fn search(user: &UserSide, changes: &[Change]) -> io::Result<Reached> {
    let mut search = Search {
        user,
        root: Folder::open(user.root().as_host())?,
        proposed: changes.iter().map(|change| (change.path.as_path(), &change.proposed)).collect(),
        reached: Reached::default(),
        folders: HashSet::new(),
        files: HashSet::new(),
        packages: BTreeSet::new(),
        names: 0,
    };
    for change in changes {
        search.around(change.path.as_path());
        search.at(change);
    }
    let packages = std::mem::take(&mut search.packages);
    let is_code = |change: &Change| change.path.as_path().extension().is_some_and(|ending| ending == "rs");
    cargo::follow(&mut search, packages, changes.iter().any(is_code));
    Ok(search.reached)
}

impl Search<'_> {
    /// Looks into the folders around a path.
    fn around(&mut self, path: &Path) {
        for folder in path.ancestors().skip(1) {
            // Those around it were looked into with it.
            if !self.folders.insert(folder.to_owned()) {
                break;
            }
            let Ok(names) = self.names(folder) else {
                // Nobody knows what is in there.
                self.reached.name_folder(folder);
                continue;
            };
            for (name, may_be_link) in names {
                let place = folder.join(&name);
                if may_be_link {
                    self.follow_link(&place);
                }
                self.look_at(folder, &place, &plain(&name.to_string_lossy()));
            }
        }
    }

    /// Looks at what the agent changed, as if it were accepted.
    fn at(&mut self, change: &Change) {
        let path = change.path.as_path();
        if let Entry::Link(target) = &change.proposed {
            let folder = path.parent().unwrap_or(Path::new(""));
            if let Some(target) = self.meant(folder, &target.to_string_lossy()) {
                for place in self.way(&target).places() {
                    self.reached.link(path, &place);
                }
            }
        }
        // It may be what is followed in any of the folders around it.
        let names: Vec<String> = path.iter().map(|name| plain(&name.to_string_lossy())).collect();
        for (depth, inside) in path.iter().enumerate() {
            let (base, rest) = (path.iter().take(depth).collect::<PathBuf>(), &names[depth + 1..]);
            self.look_at(&base, &base.join(inside), &names[depth]);
            let is = |wanted: &Vec<String>| {
                let mut both = wanted.iter().zip(rest);
                wanted.len() == rest.len() && both.all(|(wanted, name)| wanted == "*" || wanted == name)
            };
            if known_names().follow.get(&names[depth]).is_some_and(|paths| paths.iter().any(is)) {
                self.words_of(&[&base], path);
            }
        }
    }

    /// Looks at one name of a folder.
    fn look_at(&mut self, folder: &Path, place: &Path, name: &str) {
        match name {
            "cargo.toml" => drop(self.packages.insert(folder.to_owned())),
            "package.json" | "composer.json" | "pyproject.toml" if self.is_new(place, folder) => {
                self.manifest(folder, place, name)
            }
            ".git" if self.is_new(place, folder) => repository::follow(self, folder, place),
            _ => {}
        }
        for rest in known_names().follow.get(name).into_iter().flatten() {
            match rest.split_last() {
                Some((last, inner)) if last == "*" => {
                    let place = place.join(inner.iter().collect::<PathBuf>());
                    self.words_of_all(folder, &place);
                }
                _ => self.words_of(&[folder], &place.join(rest.iter().collect::<PathBuf>())),
            }
        }
    }

    fn manifest(&mut self, folder: &Path, place: &Path, name: &str) {
        let parse = if name == "pyproject.toml" { of_toml } else { of_json };
        let Some(texts) = self.texts(place) else {
            return self.reached.name_folder(folder);
        };
        for manifest in texts.iter().filter_map(|text| parse(text)).collect::<Vec<Value>>() {
            for text in naming(name, &manifest) {
                for word in words::words(&text).chain([text.as_str()]) {
                    if let Some(named) = self.meant(folder, word) {
                        self.name(&named);
                    }
                }
            }
            let (backend_paths, module) = backend(&manifest).unwrap_or_default();
            for path in backend_paths {
                match self.meant(folder, &path).filter(|path| path != folder) {
                    Some(path) => self.name_folder(&path),
                    // In the folder itself only the module is its own.
                    None => {
                        let module = folder.join(&module);
                        self.name(&module);
                        self.name_folder(&module);
                    }
                }
            }
        }
    }

    /// Each file in a folder names others.
    fn words_of_all(&mut self, base: &Path, folder: &Path) {
        let names = self.end(folder).map(|end| self.names(&end).unwrap_or_default()).unwrap_or_default();
        for (name, _) in names.into_iter().take(PROTECTED_HOOKS_MAX) {
            self.words_of(&[base], &folder.join(name));
        }
    }

    /// What a file's words mean in these folders, and in its own, is named by it.
    pub(super) fn words_of(&mut self, folders: &[&Path], file: &Path) {
        if folders.first().is_some_and(|folder| !self.is_new(file, folder)) {
            return;
        }
        let own = file.parent().unwrap_or(Path::new(""));
        for text in self.texts(file).unwrap_or_default() {
            for word in paths(&text) {
                for folder in folders.iter().chain([&own]) {
                    if let Some(named) = self.meant(folder, word) {
                        self.reached.name(&named);
                    }
                }
            }
        }
    }

    fn is_new(&mut self, file: &Path, folder: &Path) -> bool {
        self.files.insert((file.to_owned(), folder.to_owned()))
    }

    /// A file that something names, and each link on the way to it; gives where that ends.
    pub(super) fn name(&mut self, path: &Path) -> Option<PathBuf> {
        self.names += 1;
        if self.names > PROTECTED_NAMES_MAX {
            self.reached.name_folder(Path::new(""));
            return None;
        }
        let way = self.way(path);
        for place in way.links.iter().chain(&way.end) {
            self.reached.name(place);
        }
        way.end
    }

    /// A folder in which everything runs, or of which nobody knows what does.
    pub(super) fn name_folder(&mut self, path: &Path) {
        if let Some(end) = self.name(path) {
            self.reached.name_folder(&end);
        }
    }

    /// A folder in which all code in Rust runs.
    pub(super) fn name_rust(&mut self, path: &Path) {
        if let Some(end) = self.way(path).end {
            self.reached.name_rust(&end);
        }
    }

    /// A link, if it is one, gives a second name to wherever it leads.
    pub(super) fn follow_link(&mut self, link: &Path) {
        if link_at(&self.root, link).is_some() {
            for place in self.way(link).places() {
                self.reached.link(link, &place);
            }
        }
    }

    /// What is at a place also has this name.
    pub(super) fn link(&mut self, name: &Path, place: &Path) {
        self.reached.link(name, place);
    }

    /// What a word means in a folder.
    pub(super) fn meant(&self, folder: &Path, word: &str) -> Option<PathBuf> {
        words::meant(self.user.root().as_host(), folder, word)
    }

    fn way(&self, path: &Path) -> Way {
        Way::of(path, self.user.root(), &self.root)
    }

    /// Where the way of a path ends.
    pub(super) fn end(&self, path: &Path) -> Option<PathBuf> {
        self.way(path).end
    }

    /// Opens a place, through no link.
    pub(super) fn open(&self, place: &Path) -> Option<Node> {
        self.root.node_at(place).ok()
    }

    /// The names in a folder of the user's, each with whether it may be a link. What is no folder has none.
    pub(super) fn names(&self, folder: &Path) -> io::Result<Vec<(OsString, bool)>> {
        let open = match folder.as_os_str().is_empty() {
            true => self.root.again()?,
            false => match self.root.node_at(folder)? {
                Node::Folder(folder) => folder,
                _ => return Ok(Vec::new()),
            },
        };
        open.names_and_links(NAMES_MAX)
    }

    /// The text of a file: on the disk, as it is unsaved in an editor, and as the agent would have it. `None` when one of
    /// them is too large.
    pub(super) fn texts(&self, file: &Path) -> Option<Vec<String>> {
        let Some(end) = self.end(file).and_then(|end| WorkspacePath::found(&end)) else {
            return Some(Vec::new());
        };
        let facts = self.root.parent_of(end.as_path()).ok().flatten();
        let facts = facts.and_then(|(parent, name)| parent.facts(name).ok()?);
        let mut entries = Vec::new();
        match facts {
            Some(facts) if facts.kind != Kind::File => {}
            Some(facts) if facts.bytes > PROTECTED_FILE_MAX_BYTES as u64 => return None,
            _ => entries.extend(self.user.on_disk(&end).into_iter().chain(self.user.entry(&end))),
        }
        let proposed = [file, end.as_path()].into_iter().filter_map(|path| self.proposed.get(path));
        entries.extend(proposed.map(|entry| (*entry).clone()));
        let files = entries.into_iter().filter_map(|entry| match entry {
            Entry::File(file) => Some(file.content),
            _ => None,
        });
        let mut texts: Vec<String> = files.map(text).collect::<Option<_>>()?;
        texts.sort();
        texts.dedup();
        Some(texts)
    }
}

fn text(content: Content) -> Option<String> {
    match content {
        Content::Whole(bytes) if bytes.len() <= PROTECTED_FILE_MAX_BYTES => {
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
