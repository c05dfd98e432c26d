//! `airlock/session/list`

use crate::lsp::protocol::{ListSessions, SessionList};
use crate::lsp::server::{Shared, failed};
use crate::lsp::translate;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) fn run(shared: &Shared, params: &ListSessions) -> Result<SessionList> {
    let workspace = shared.folders.choose(params.folder.as_ref()).map_err(failed)?;
    let kept = shared.agent.kept_sessions(workspace.as_ref()).map_err(failed)?;
    Ok(SessionList { sessions: kept.into_iter().map(translate::kept).collect() })
}
