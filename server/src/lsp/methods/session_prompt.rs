//! `airlock/session/prompt`

use crate::agent::Prompt;
use crate::lsp::protocol::{PromptSession, TurnBegun};
use crate::lsp::server::Shared;
use tower_lsp::jsonrpc::Result;

pub(in crate::lsp) fn run(shared: &Shared, params: PromptSession) -> Result<TurnBegun> {
    let session = shared.session(&params.session_id)?;
    let context = super::context::of_prompt(shared, session.workspace(), &params.context)?;
    let shown = super::context::shown(shared, session.workspace(), &params.context);
    shared.begin_turn(&session, Prompt { text: params.text, context, shown })
}
