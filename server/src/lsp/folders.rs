//! The workspace folders that the editor has open.

use crate::paths::{PathError, WorkspaceRoot};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tower_lsp::ls_types::{InitializeParams, Uri, WorkspaceFoldersChangeEvent};

/// The open folders, in the editor's order.
#[derive(Default)]
pub(super) struct Folders(Mutex<Vec<PathBuf>>);

impl Folders {
    /// Takes what `initialize` says. `fallback` is the folder when the editor says none.
    pub(super) fn set(&self, params: &InitializeParams, fallback: Option<PathBuf>) {
        #[expect(deprecated, reason = "older editors know nothing else")]
        let root = params.root_uri.as_ref();
        let mut paths: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().filter_map(|folder| host_path(&folder.uri)).collect(),
            None => root.and_then(host_path).into_iter().collect(),
        };
        if paths.is_empty() {
            paths.extend(fallback);
        }
        *self.paths() = paths;
    }

    pub(super) fn change(&self, event: &WorkspaceFoldersChangeEvent) {
        let mut paths = self.paths();
        let removed: Vec<PathBuf> =
            event.removed.iter().filter_map(|folder| host_path(&folder.uri)).collect();
        paths.retain(|path| !removed.contains(path));
        paths.extend(event.added.iter().filter_map(|folder| host_path(&folder.uri)));
    }

    /// The folder that a session is for: the one asked for, or the first.
    pub(super) fn choose(&self, wanted: Option<&Uri>) -> Result<Option<WorkspaceRoot>, PathError> {
        let path = match wanted {
            Some(uri) => Some(host_path(uri).ok_or_else(|| PathError::Absolute(uri.as_str().to_owned()))?),
            None => self.paths().first().cloned(),
        };
        path.map(|path| WorkspaceRoot::open(&path)).transpose()
    }

    /// The folder that holds a document: the deepest one.
    pub(super) fn of_document(&self, uri: &Uri) -> Option<WorkspaceRoot> {
        let document = host_path(uri);
        let paths = self.paths();
        let holds = |path: &&PathBuf| document.as_ref().is_some_and(|document| document.starts_with(path));
        let deepest = paths.iter().filter(holds).max_by_key(|path| path.components().count());
        WorkspaceRoot::open(deepest.or(paths.first())?).ok()
    }

    fn paths(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path of a `file:` URI.
pub(super) fn host_path(uri: &Uri) -> Option<PathBuf> {
    uri.to_file_path().map(|path| Path::new(path.as_ref()).to_owned())
}
