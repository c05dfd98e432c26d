//! `airlock/changes/list`, `airlock/changes/accept` and `airlock/changes/reject`

use crate::lsp::protocol::{ChangeList, OneSession, Reviewed, SelectChanges};
use crate::lsp::server::{Shared, failed};
use crate::lsp::translate;
use crate::review::Selection;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) async fn list(shared: &Shared, params: &OneSession) -> Result<ChangeList> {
    let session = shared.session(&params.session_id)?;
    Ok(translate::changes(session.changes().await.map_err(failed)?))
}

pub(in crate::lsp) async fn accept(shared: &Shared, params: SelectChanges) -> Result<Reviewed> {
    let session = shared.session(&params.session_id)?;
    let outcome = session.accept_changes(&selection(params)).await.map_err(failed)?;
    Ok(translate::reviewed(outcome))
}

pub(in crate::lsp) async fn reject(shared: &Shared, params: SelectChanges) -> Result<Reviewed> {
    let session = shared.session(&params.session_id)?;
    let outcome = session.reject_changes(&selection(params)).await.map_err(failed)?;
    Ok(translate::reviewed(outcome))
}

fn selection(params: SelectChanges) -> Selection {
    Selection { paths: params.paths, hunks: params.hunks, shown: translate::displayed(params.shown) }
}
