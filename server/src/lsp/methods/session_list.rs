//! `airlock/session/list`

use crate::lsp::protocol::{ListSessions, SessionList};
use crate::lsp::server::{Shared, failed};
use crate::lsp::translate;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) async fn run(shared: &Shared, params: &ListSessions) -> Result<SessionList> {
    let workspace = shared.folders.choose(params.folder.as_ref()).map_err(failed)?;
    let agent = Arc::clone(&shared.agent);
    // It reads every history. Nothing else would be read from the editor meanwhile, not even a cancel.
    let kept = tokio::task::spawn_blocking(move || agent.kept_sessions(workspace.as_ref())).await;
    let kept = kept.map_err(failed)?.map_err(failed)?;
    Ok(SessionList { sessions: kept.into_iter().map(translate::kept).collect() })
}
