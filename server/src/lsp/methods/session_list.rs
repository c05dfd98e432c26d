//! `airlock/session/list`

use crate::lsp::protocol::{ListSessions, SessionList};
use crate::lsp::server::{Shared, failed, off_the_reader};
use crate::lsp::translate;
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) async fn run(shared: &Shared, params: &ListSessions) -> Result<SessionList> {
    let workspace = shared.folders.choose(params.folder.as_ref()).map_err(failed)?;
    let agent = Arc::clone(&shared.agent);
    let kept = off_the_reader(move || agent.kept_sessions(workspace.as_ref())).await?.map_err(failed)?;
    Ok(SessionList { sessions: kept.into_iter().map(translate::kept).collect() })
}
