//! What the user has in front of them. Needs `editor = true` in `plugin.toml`, and the user's grant.

use crate::error::{Error, Result};
use crate::host;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A diagnostic that the editor showed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostic {
    /// The file.
    pub path: String,
    /// Counted from 1.
    #[serde(default)]
    pub line: u32,
    /// Counted from 1.
    #[serde(default)]
    pub column: u32,
    /// `error`, `warning`, `information` or `hint`.
    #[serde(default)]
    pub severity: String,
    /// What it says.
    #[serde(default)]
    pub message: String,
    /// Who says it.
    #[serde(default)]
    pub source: Option<String>,
}

/// A document that is open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Document {
    /// The file.
    pub path: String,
    /// The editor's name of its language.
    #[serde(default)]
    pub language: String,
    /// Whether it has changes that are not saved.
    #[serde(default)]
    pub unsaved: bool,
}

/// What is selected.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Selection {
    /// The file.
    pub path: String,
    /// Lines and columns are counted from 1.
    pub start_line: u32,
    /// Where it begins.
    pub start_column: u32,
    /// The last line.
    pub end_line: u32,
    /// Where it ends.
    pub end_column: u32,
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// The diagnostics that the editor showed with a prompt.
pub fn diagnostics() -> Result<Vec<Diagnostic>> {
    read(&host::editor_diagnostics()?)
}

/// The open documents.
pub fn open_documents() -> Result<Vec<Document>> {
    read(&host::editor_open_documents()?)
}

/// What is selected, if anything is.
pub fn selection() -> Result<Option<Selection>> {
    read(&host::editor_selection()?)
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| Error::failed(format!("the editor's answer does not fit: {error}")))
}
