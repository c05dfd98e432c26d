//! The editor's open buffers, found by what they are and not by how the editor spells their names: one file may be
//! escaped in several ways, and its workspace may be reached through a link.

use super::documents::{Document, Documents};
use super::folders::{Folders, host_path};
use crate::agent::Buffers;
use std::path::Path;
use std::sync::Arc;
use tower_lsp::ls_types::Uri;

/// Open buffers, by name or by place.
pub(super) struct OpenBuffers {
    pub(super) documents: Arc<Documents>,
    pub(super) folders: Arc<Folders>,
}

impl OpenBuffers {
    /// The buffer that a URI names.
    pub(super) fn document(&self, uri: &Uri) -> Option<Document> {
        let by_place = || self.at(&self.folders.resolved(&host_path(uri)?));
        self.documents.get(uri.as_str()).or_else(by_place)
    }

    /// The buffer of the file at a path whose workspace is resolved.
    fn at(&self, path: &Path) -> Option<Document> {
        let is_it = |uri: &str| {
            let named = uri.parse::<Uri>().ok().and_then(|uri| host_path(&uri));
            named.is_some_and(|named| self.folders.resolved(&named) == path)
        };
        self.documents.all().into_iter().find(|(uri, _)| is_it(uri)).map(|(_, document)| document)
    }
}

impl Buffers for OpenBuffers {
    fn text(&self, path: &Path) -> Option<String> {
        let by_name = Uri::from_file_path(path).and_then(|uri| self.documents.get(uri.as_str()));
        by_name.or_else(|| self.at(path)).map(|document| document.text.to_string())
    }
}
