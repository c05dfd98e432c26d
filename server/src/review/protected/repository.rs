//! A repository of the user's: what its settings name, its hooks, and the links that it tracks.

use super::git_settings::settings;
use super::search::Search;
use super::words::words;
use super::{Protection, protection};
use crate::git::index::{self, Hash};
use crate::limits::{PROTECTED_HOOKS_MAX, PROTECTED_INCLUDES_MAX, PROTECTED_LINKS_MAX};
use crate::paths::WorkspacePath;
use crate::storage::beneath::Node;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Marks what a repository leads to. `top` is its work tree, `git` what is there under git's name.
pub(super) fn follow(search: &mut Search<'_>, top: &Path, git: &Path) {
    let Some(own) = own_folder(search, top, git) else { return };
    let mut settings = Settings { top, read: BTreeSet::new(), hash: Hash::Sha1 };
    for name in ["config", "config.worktree"] {
        settings.follow(search, &own.join(name));
    }
    hooks(search, top, &own.join("hooks"));
    if let Some(Node::File(index)) = search.open(&own.join("index")) {
        match links(index, settings.hash) {
            Ok(links) => tracked(search, top, links),
            Err(error) => tracing::warn!(%error, "the links that git tracks can't be followed"),
        }
    }
}

/// Git's own folder, which may be elsewhere. It is followed only in the workspace.
fn own_folder(search: &mut Search<'_>, top: &Path, git: &Path) -> Option<PathBuf> {
    let place = search.end(git)?;
    match search.open(&place)? {
        Node::Folder(_) => Some(place),
        Node::File(_) => {
            let texts = search.texts(&place)?;
            let own = texts.first()?.strip_prefix("gitdir:")?.trim();
            let own = search.meant(top, own)?;
            search.link(git, &own);
            Some(own)
        }
        _ => None,
    }
}

/// A repository's settings, with what they include.
struct Settings<'t> {
    top: &'t Path,
    read: BTreeSet<PathBuf>,
    hash: Hash,
}

impl Settings<'_> {
    fn follow(&mut self, search: &mut Search<'_>, file: &Path) {
        if self.read.len() == PROTECTED_INCLUDES_MAX {
            // The agent may have put in so many that the user's own come last.
            return search.name_folder(self.top);
        }
        if !self.read.insert(file.to_owned()) {
            return;
        }
        let texts = search.texts(file).unwrap_or_default();
        for (key, value) in texts.iter().flat_map(|text| settings(text)) {
            match key.as_str() {
                "core.hookspath" => {
                    if let Some(folder) = search.meant(self.top, &value) {
                        search.name_folder(&folder);
                        hooks(search, self.top, &folder);
                    }
                }
                "extensions.objectformat" if value == "sha256" => self.hash = Hash::Sha256,
                key if key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path")) => {
                    let folder = file.parent().unwrap_or(Path::new(""));
                    let named = search.meant(folder, &value).filter(|_| !value.starts_with('~'));
                    if let Some(included) = named.and_then(|named| search.name(&named)) {
                        self.follow(search, &included);
                    }
                }
                // Whatever else names a file: a program, a filter, an alias, attributes. Each of them runs, or says what does.
                _ => {
                    for word in words(&value).chain([value.as_str()]) {
                        if let Some(named) = search.meant(self.top, word) {
                            search.name(&named);
                        }
                    }
                }
            }
        }
    }
}

/// A hook may be a link to a file with another name, and start others.
fn hooks(search: &mut Search<'_>, top: &Path, folder: &Path) {
    let Some(end) = search.end(folder) else { return };
    if end != folder {
        search.name_folder(&end);
    }
    let names = search.names(&end).unwrap_or_default();
    for (name, _) in names.into_iter().take(PROTECTED_HOOKS_MAX) {
        let hook = end.join(&name);
        if hook.extension().is_none_or(|ending| ending != "sample") {
            search.name(&hook);
            search.words_of(&[top, &end], &hook);
        }
    }
}

/// The symbolic links that git tracks. They can be anywhere, and to look for them everywhere would cost more the larger
/// the workspace is.
fn links(index: File, hash: Hash) -> io::Result<Vec<PathBuf>> {
    let mut links = Vec::new();
    index::read(index, hash, |tracked| {
        if tracked.is_link() {
            links.push(PathBuf::from(OsStr::from_bytes(tracked.name)));
        }
    })?;
    Ok(links)
}

/// Follows the links that git tracks, those with protected names first.
fn tracked(search: &mut Search<'_>, top: &Path, links: Vec<PathBuf>) {
    let mut links: Vec<PathBuf> = links.into_iter().map(|link| top.join(link)).collect();
    let is_plain =
        |path: &PathBuf| WorkspacePath::found(path).is_none_or(|path| protection(&path) == Protection::None);
    links.sort_by_cached_key(is_plain);
    for link in links.into_iter().take(PROTECTED_LINKS_MAX) {
        search.follow_link(&link);
    }
}
