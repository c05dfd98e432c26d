//! `airlock/session/new`

use crate::lsp::protocol::{NewSession, SessionOpened};
use crate::lsp::server::{Shared, failed};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) async fn run(shared: &Arc<Shared>, params: &NewSession) -> Result<SessionOpened> {
    let workspace = shared.folders.choose(params.folder.as_ref()).map_err(failed)?;
    let session = shared.open(workspace).await?;
    Ok(shared.opened(&session))
}
