//! The workspace folders that the editor has open.

use crate::paths::{PathError, WorkspacePath, WorkspaceRoot};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tower_lsp::ls_types::{InitializeParams, Uri, WorkspaceFoldersChangeEvent};

/// The open folders.
#[derive(Default)]
pub(super) struct Folders(Mutex<State>);

#[derive(Default)]
struct State {
    /// In the editor's order.
    open: Vec<PathBuf>,
    /// Folders as the editor names them that are others once their links are resolved.
    aliases: Vec<(PathBuf, WorkspaceRoot)>,
}

impl Folders {
    /// Takes what `initialize` says. `fallback` is the folder when the editor says none.
    pub(super) fn set(&self, params: &InitializeParams, fallback: Option<PathBuf>) {
        #[expect(deprecated, reason = "older editors know nothing else")]
        let root = params.root_uri.as_ref();
        let mut open: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().filter_map(|folder| host_path(&folder.uri)).collect(),
            None => root.and_then(host_path).into_iter().collect(),
        };
        if open.is_empty() {
            open.extend(fallback);
        }
        self.state().open = open;
    }

    pub(super) fn change(&self, event: &WorkspaceFoldersChangeEvent) {
        let open = &mut self.state().open;
        for folder in event.removed.iter().chain(&event.added) {
            open.retain(|path| Some(path) != host_path(&folder.uri).as_ref());
        }
        open.extend(event.added.iter().filter_map(|folder| host_path(&folder.uri)));
    }

    /// The folder that a session is for: the one asked for, or the first.
    pub(super) fn choose(&self, wanted: Option<&Uri>) -> Result<Option<WorkspaceRoot>, PathError> {
        let path = match wanted {
            Some(uri) => Some(host_path(uri).ok_or_else(|| PathError::NotAFile(uri.as_str().to_owned()))?),
            None => self.state().open.first().cloned(),
        };
        path.map(|path| self.open(&path)).transpose()
    }

    /// The folder that holds a document: the deepest one.
    pub(super) fn of_document(&self, uri: &Uri) -> Option<WorkspaceRoot> {
        let document = host_path(uri);
        let holds = |path: &&PathBuf| document.as_ref().is_some_and(|document| document.starts_with(path));
        let path = {
            let open = &self.state().open;
            let deepest = open.iter().filter(holds).max_by_key(|path| path.components().count());
            deepest.or(open.first())?.clone()
        };
        self.open(&path).ok()
    }

    /// The place of a document in a workspace, if it is in it by its name.
    pub(super) fn inside(&self, root: &WorkspaceRoot, document: &Path) -> Option<WorkspacePath> {
        root.relative(&self.resolved(document))
    }

    /// A path with the links resolved that lead to its workspace, and none of those within it.
    pub(super) fn resolved(&self, path: &Path) -> PathBuf {
        let state = self.state();
        let inside = |(alias, root): &(PathBuf, WorkspaceRoot)| {
            path.strip_prefix(alias).ok().map(|rest| (alias.components().count(), root.as_host().join(rest)))
        };
        let deepest = state.aliases.iter().filter_map(inside).max_by_key(|(depth, _)| *depth);
        deepest.map_or_else(|| path.to_owned(), |(_, resolved)| resolved)
    }

    fn open(&self, path: &Path) -> Result<WorkspaceRoot, PathError> {
        let root = WorkspaceRoot::open(path)?;
        let aliases = &mut self.state().aliases;
        aliases.retain(|(alias, _)| alias != path);
        if root.as_host() != path {
            aliases.push((path.to_owned(), root.clone()));
        }
        Ok(root)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of a `file:` URI of this machine. Other schemes have paths that are no files: `git:/a.rs` is another
/// version of it, `untitled:/a.rs` none at all.
pub(super) fn host_path(uri: &Uri) -> Option<PathBuf> {
    let host = uri.authority().map_or("", |authority| authority.host());
    let local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    if !is_file || !local {
        return None;
    }
    uri.to_file_path().map(|path| Path::new(path.as_ref()).to_owned()).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(uri: &str) -> Option<String> {
        host_path(&uri.parse().unwrap()).map(|path| path.to_str().unwrap().to_owned())
    }

    #[test]
    fn only_a_file_of_this_machine_has_a_path() {
        assert_eq!(path_of("file:///w/a%20b.rs").as_deref(), Some("/w/a b.rs"));
        assert_eq!(path_of("FILE://localhost/w/a").as_deref(), Some("/w/a"));
        for other in
            ["git:/w/a.rs?%7B%7D", "untitled:/w/a", "untitled:a", "http://h/w/a", "file://server/w/a"]
        {
            assert_eq!(path_of(other), None, "{other}");
        }
    }

    #[test]
    fn a_workspace_behind_a_link_holds_its_documents_and_links_inside_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("work")).unwrap();
        std::os::unix::fs::symlink(real.join("work"), real.join("way")).unwrap();
        std::os::unix::fs::symlink(&real, real.join("work/out")).unwrap();
        let folders = Folders::default();
        let way: Uri = format!("file://{}", real.join("way").display()).parse().unwrap();
        let root = folders.choose(Some(&way)).unwrap().unwrap();
        assert_eq!(root.as_host(), real.join("work"));
        let inside = |path: &str| folders.inside(&root, &real.join(path)).map(|path| path.to_string());
        assert_eq!(inside("way/a.rs").as_deref(), Some("a.rs"));
        assert_eq!(inside("work/a.rs").as_deref(), Some("a.rs"));
        assert_eq!(inside("way/out/secret").as_deref(), Some("out/secret"));
        assert_eq!(inside("way-too/a.rs"), None);
    }
}
