//! What the user has in front of them: open documents, and what came along with the prompt.

use super::user_side::NoEditor;
use crate::limits::VIEW_CONTENT_MAX_BYTES;
use crate::paths::WorkspaceRoot;
use crate::storage::beneath::{Folder, Node, read_bounded};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The editor's open documents.
pub trait OpenDocuments: Send + Sync {
    /// All of them, in no order.
    fn open_documents(&self) -> Vec<OpenDocument>;
}

impl OpenDocuments for NoEditor {
    fn open_documents(&self) -> Vec<OpenDocument> {
        Vec::new()
    }
}

/// A document that is open.
#[derive(Clone, Debug)]
pub struct OpenDocument {
    /// Its file.
    pub host_path: PathBuf,
    /// What the editor takes its language to be.
    pub language: String,
    /// Its text.
    pub text: String,
}

/// What came along with a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What other tools say about the code.
    pub diagnostics: Vec<ShownDiagnostic>,
    /// What is selected.
    pub selection: Option<ShownSelection>,
}

/// What another tool says about the code. Lines and columns are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownDiagnostic {
    /// The file, relative to the workspace, or its address where it is in none.
    pub path: String,
    /// Where it begins.
    pub line: u32,
    /// Where it begins.
    pub column: u32,
    /// `error`, `warning`, `information` or `hint`.
    pub severity: String,
    /// What it says.
    pub message: String,
    /// Who says it; may be empty.
    pub source: String,
}

/// What is selected. Lines and columns are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownSelection {
    /// The file, relative to the workspace, or its address where it is in none.
    pub path: String,
    /// Where it begins.
    pub start_line: u32,
    /// Where it begins.
    pub start_column: u32,
    /// Where it ends.
    pub end_line: u32,
    /// Where it ends.
    pub end_column: u32,
    /// The text.
    pub text: String,
}

/// What the user of one session has in front of them.
#[derive(Clone, Default)]
pub struct EditorView {
    documents: Option<Arc<dyn OpenDocuments>>,
    root: Option<WorkspaceRoot>,
    shown: Arc<Shown>,
}

impl EditorView {
    /// The documents of a workspace, and what came along with the last prompt.
    pub fn new(documents: Arc<dyn OpenDocuments>, root: Option<WorkspaceRoot>, shown: Arc<Shown>) -> Self {
        Self { documents: Some(documents), root, shown }
    }

    /// The diagnostics that came along with the prompt, as a list.
    pub fn diagnostics(&self) -> Value {
        json!(self.shown.diagnostics)
    }

    /// What is selected, or null.
    pub fn selection(&self) -> Value {
        json!(self.shown.selection)
    }

    /// The open documents of the workspace, by path. It looks at the disk to tell what is unsaved.
    pub fn open_documents(&self) -> Value {
        let (Some(documents), Some(root)) = (&self.documents, &self.root) else { return json!([]) };
        let mut open: Vec<(String, Value)> = documents
            .open_documents()
            .into_iter()
            .filter_map(|OpenDocument { host_path, language, text }| {
                let path = root.relative(&host_path)?.to_string();
                let unsaved = on_disk(root, &path).as_deref() != Some(text.as_bytes());
                let facts = json!({"path": path, "language": language, "unsaved": unsaved});
                Some((path, facts))
            })
            .collect();
        open.sort_by(|(one, _), (other, _)| one.cmp(other));
        open.into_iter().map(|(_, facts)| facts).collect()
    }
}

fn on_disk(root: &WorkspaceRoot, path: &str) -> Option<Vec<u8>> {
    match Folder::open(root.as_host()).ok()?.node_at(path.as_ref()).ok()? {
        Node::File(file) => read_bounded(file, VIEW_CONTENT_MAX_BYTES).ok(),
        _ => None,
    }
}
