//! `editor`: what the user has in front of them.

use super::{HostState, wit};
use wit::types::ToolError;

impl wit::editor::Host for HostState {
    async fn diagnostics(&mut self) -> wasmtime::Result<Result<String, ToolError>> {
        Ok(Ok(self.context.editor.diagnostics().to_string()))
    }

    async fn open_documents(&mut self) -> wasmtime::Result<Result<String, ToolError>> {
        let editor = self.context.editor.clone();
        // It looks at the disk to tell what is unsaved.
        let documents = tokio::task::spawn_blocking(move || editor.open_documents()).await;
        Ok(documents
            .map(|documents| documents.to_string())
            .map_err(|error| super::error("failed", error.to_string())))
    }

    async fn selection(&mut self) -> wasmtime::Result<Result<String, ToolError>> {
        Ok(Ok(self.context.editor.selection().to_string()))
    }
}
