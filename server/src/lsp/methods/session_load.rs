//! `airlock/session/load`

use crate::lsp::asker::EditorAsker;
use crate::lsp::protocol::{LoadSession, SessionOpened};
use crate::lsp::pump;
use crate::lsp::server::{Shared, failed};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) async fn run(shared: &Arc<Shared>, params: &LoadSession) -> Result<SessionOpened> {
    let workspace = shared.folders.choose(params.folder.as_ref()).map_err(failed)?;
    let asker = Arc::new(EditorAsker::new(shared));
    let session = shared.agent.load_session(&params.session_id, workspace, asker).await.map_err(failed)?;
    let opened = shared.opened(&session);
    pump::start(shared, &session);
    Ok(opened)
}
