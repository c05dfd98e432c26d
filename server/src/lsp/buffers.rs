//! The editor's open buffers, found by what they are and not by how the editor spells their names: one file may be
//! escaped in several ways, and its workspace may be reached through a link.

use super::documents::{Document, Documents, PositionEncoding};
use super::folders::{Folders, host_path};
use super::question;
use crate::limits::LSP_CLIENT_ANSWER_MAX_MS;
use crate::review::{DocumentEditor, Edited, LineHunk};
use crate::view::{Buffers, OpenDocument, OpenDocuments};
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tower_lsp::Client;
use tower_lsp::ls_types::request::ApplyWorkspaceEdit;
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, Range,
    TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Open buffers, by name or by place.
pub(super) struct OpenBuffers {
    pub(super) client: Client,
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
        self.named_at(path).map(|(_, document)| document)
    }

    fn named_at(&self, path: &Path) -> Option<(Uri, Document)> {
        let is_it = |uri: &Uri| host_path(uri).is_some_and(|named| self.folders.resolved(&named) == path);
        let all = self.documents.all().into_iter();
        all.filter_map(|(uri, document)| Some((uri.parse::<Uri>().ok()?, document)))
            .find(|(uri, _)| is_it(uri))
    }

    /// The buffer of a file, with the editor's own name for it.
    fn found(&self, path: &Path) -> Option<(Uri, Document)> {
        let uri = Uri::from_file_path(path)?;
        let by_name = self.documents.get(uri.as_str()).map(|document| (uri, document));
        by_name.or_else(|| self.named_at(path))
    }
}

impl DocumentEditor for OpenBuffers {
    fn edit(&self, host_path: &Path, seen: &str, hunks: Vec<LineHunk>) -> BoxFuture<'static, Edited> {
        let Some((uri, document)) = self.found(host_path) else {
            return Box::pin(std::future::ready(Edited::NotOpen));
        };
        // Editors keep the mark at a text's beginning to themselves.
        let text = document.text.to_string();
        if text != seen && Some(text.as_str()) != seen.strip_prefix(BYTE_ORDER_MARK) {
            let why = "it was changed in the editor in this very moment: look at it again".to_owned();
            return Box::pin(std::future::ready(Edited::Refused(why)));
        }
        let (client, documents) = (self.client.clone(), Arc::clone(&self.documents));
        Box::pin(async move { apply(&client, &documents, uri, document, &hunks).await })
    }
}

/// Has the editor make one edit, and waits until the mirror shows it: who lists the changes next should not see the
/// old text.
async fn apply(
    client: &Client,
    documents: &Documents,
    uri: Uri,
    document: Document,
    hunks: &[LineHunk],
) -> Edited {
    let edits = hunks.iter().map(|hunk| OneOf::Left(text_edit(&document, hunk, documents.encoding())));
    let identifier =
        OptionalVersionedTextDocumentIdentifier { uri: uri.clone(), version: Some(document.version) };
    let edit = TextDocumentEdit { text_document: identifier, edits: edits.collect() };
    let params = ApplyWorkspaceEditParams {
        label: Some("Accept the agent's change".to_owned()),
        edit: WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(vec![edit])),
            ..Default::default()
        },
    };
    let changed = documents.changed();
    let deadline = Duration::from_millis(LSP_CLIENT_ANSWER_MAX_MS);
    match tokio::time::timeout(deadline, question::ask::<ApplyWorkspaceEdit>(client, params)).await {
        Ok(Ok(answer)) if answer.applied => {
            documents.newer_than(changed, uri.as_str(), document.revision).await;
            Edited::Done
        }
        Ok(Ok(answer)) => {
            let why = answer.failure_reason.unwrap_or_else(|| "it was changed meanwhile".to_owned());
            Edited::Refused(format!("the editor did not make the edit: {why}. Look at it again"))
        }
        Ok(Err(_)) => {
            Edited::Refused("the editor cannot make edits, so close the file and try again".to_owned())
        }
        Err(_) => Edited::Refused("the editor did not answer: see whether it made the edit".to_owned()),
    }
}

/// The hunk's lines as a range of the document. Editors may count lines in other ways than hunks do, so it goes by bytes.
fn text_edit(document: &Document, hunk: &LineHunk, encoding: PositionEncoding) -> TextEdit {
    let text = document.text.to_string();
    let before: usize = text.split_inclusive('\n').take(hunk.old_start).map(str::len).sum();
    let gone: usize =
        text.split_inclusive('\n').skip(hunk.old_start).take(hunk.old_lines).map(str::len).sum();
    let position = |bytes| document.text.position_of_byte(bytes, encoding);
    let range = Range { start: position(before), end: position(before + gone) };
    let new_text = String::from_utf8_lossy(&hunk.new).into_owned();
    let unmarked = new_text.strip_prefix(BYTE_ORDER_MARK).filter(|_| !text.starts_with(BYTE_ORDER_MARK));
    TextEdit { range, new_text: unmarked.unwrap_or(&new_text).to_owned() }
}

impl OpenDocuments for OpenBuffers {
    fn open_documents(&self) -> Vec<OpenDocument> {
        let place = |uri: &str| Some(self.folders.resolved(&host_path(&uri.parse::<Uri>().ok()?)?));
        let all = self.documents.all().into_iter();
        all.filter_map(|(uri, document)| {
            let (language, text) = (document.language_id.to_string(), document.text.to_string());
            Some(OpenDocument { host_path: place(&uri)?, language, text })
        })
        .collect()
    }
}

impl Buffers for OpenBuffers {
    fn text(&self, path: &Path) -> Option<String> {
        self.found(path).map(|(_, document)| document.text.to_string())
    }

    fn open(&self) -> Vec<(PathBuf, u64)> {
        let place = |uri: &str| Some(self.folders.resolved(&host_path(&uri.parse::<Uri>().ok()?)?));
        let all = self.documents.all().into_iter();
        all.filter_map(|(uri, document)| Some((place(&uri)?, document.revision))).collect()
    }
}
