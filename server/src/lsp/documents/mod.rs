//! The mirror of the editor's open buffers. What is unsaved there is what the agent sees.
//!
//! Notifications are taken in the order in which they come, which the transport sees to as long as the handlers call this
//! before their first wait. The texts are as large as the editor's own; only their number is bounded.
//!
//! **Versions.** LSP wants them to rise with each change. A change whose version was jumped over is late and is put where
//! it belongs (`recent`). Any other whose version does not rise is applied all the same, and its version is taken: it did
//! happen in the editor, and to drop it would put the mirror out of step for good, for the sake of a number.
//!
//! Architecture invariant: no call waits, and none panics, whatever the client sends.

mod position;
mod recent;
mod text;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dashmap::DashMap;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
};

pub use position::PositionEncoding;
pub use text::Text;

use recent::RecentChanges;

use crate::limits::{LSP_DOCUMENTS_MAX, LSP_EDIT_SHOWN_MAX_MS};

/// An open buffer as it is at one moment. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Document {
    /// The editor's number for this state of the text.
    pub version: i32,
    /// Another number for each text that ever was in a buffer, which versions need not be.
    pub revision: u64,
    /// What the editor takes the language to be.
    pub language_id: Arc<str>,
    /// The text.
    pub text: Text,
}

#[derive(Debug)]
struct Open {
    document: Document,
    recent: RecentChanges,
}

/// All open buffers, by the URI that the editor calls them.
#[derive(Debug, Default)]
pub struct Documents {
    open: DashMap<String, Open>,
    encoding: OnceLock<PositionEncoding>,
    revisions: AtomicU64,
    changed: tokio::sync::watch::Sender<u64>,
}

impl Documents {
    /// No buffers yet, and positions in UTF-16 until something else is agreed on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says in what positions are counted from now on: once, when the server is initialized. Later calls change nothing.
    pub fn agree_on(&self, encoding: PositionEncoding) {
        if *self.encoding.get_or_init(|| encoding) != encoding {
            tracing::warn!("the position encoding was agreed on before and stays as it was");
        }
    }

    /// In what positions are counted.
    pub fn encoding(&self) -> PositionEncoding {
        self.encoding.get().copied().unwrap_or_default()
    }

    /// Applies `textDocument/didOpen`.
    pub fn open(&self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let uri = item.uri.as_str();
        if self.open.contains_key(uri) {
            tracing::warn!(uri, "a document was opened twice; the new text counts");
        } else if self.open.len() >= LSP_DOCUMENTS_MAX {
            tracing::warn!(uri, "too many open documents; this one is seen as it is on disk");
            return;
        }
        let document = Document {
            version: item.version,
            revision: self.next_revision(),
            language_id: item.language_id.into(),
            text: Text::new(&item.text),
        };
        self.open.insert(uri.to_owned(), Open { document, recent: RecentChanges::default() });
    }

    /// Applies `textDocument/didChange`. A document that is not open is left alone.
    pub fn change(&self, params: DidChangeTextDocumentParams) {
        let (uri, version) = (params.text_document.uri.as_str(), params.text_document.version);
        let Some(mut open) = self.open.get_mut(uri) else {
            tracing::warn!(uri, version, "a change to a document that is not open is ignored");
            return;
        };
        let Open { document, recent } = &mut *open;
        let before = (std::mem::take(&mut document.text), document.version);
        (document.text, document.version) =
            recent.apply(before, version, params.content_changes, self.encoding());
        document.revision = self.next_revision();
        let revision = document.revision;
        // Whoever waits looks at the document, which must not be locked then.
        drop(open);
        self.changed.send_replace(revision);
    }

    /// Applies `textDocument/didClose`.
    pub fn close(&self, params: &DidCloseTextDocumentParams) {
        let uri = params.text_document.uri.as_str();
        if self.open.remove(uri).is_none() {
            tracing::warn!(uri, "a document that is not open was closed");
        }
    }

    fn next_revision(&self) -> u64 {
        self.revisions.fetch_add(1, Ordering::Relaxed)
    }

    /// Tells of every change from now on.
    pub fn changed(&self) -> tokio::sync::watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Waits until a buffer is newer than this revision, or closed; but not for an editor that never tells.
    pub async fn newer_than(&self, mut changed: tokio::sync::watch::Receiver<u64>, uri: &str, revision: u64) {
        let is_newer = |_: &u64| self.get(uri).is_none_or(|document| document.revision > revision);
        let wait_max = Duration::from_millis(LSP_EDIT_SHOWN_MAX_MS);
        let _ = tokio::time::timeout(wait_max, changed.wait_for(is_newer)).await;
    }

    /// A buffer as it is now.
    pub fn get(&self, uri: &str) -> Option<Document> {
        self.open.get(uri).map(|open| open.document.clone())
    }

    /// All buffers as they are now, with their URIs, in no order.
    pub fn all(&self) -> Vec<(String, Document)> {
        self.open.iter().map(|entry| (entry.key().clone(), entry.document.clone())).collect()
    }
}
