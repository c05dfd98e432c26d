//! `workspace/executeCommand`: what a code action starts.

use crate::lsp::plain;
use crate::lsp::protocol::AskArgument;
use crate::lsp::server::Shared;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{ExecuteCommandParams, LSPAny};

/// The commands there are.
pub(super) const COMMANDS: [&str; 3] = ["airlock.ask", "airlock.fix", "airlock.explain"];

pub(in crate::lsp) async fn run(
    shared: &Arc<Shared>,
    params: ExecuteCommandParams,
) -> Result<Option<LSPAny>> {
    let words = match params.command.as_str() {
        "airlock.ask" => None,
        "airlock.fix" => Some("Fix the problem that the diagnostic names."),
        "airlock.explain" => {
            Some("Explain the problem that the diagnostic names, and how to solve it. Change nothing.")
        }
        other => {
            let known = COMMANDS.join(", ");
            return Err(Error::invalid_params(format!("there is no command {other:?}; there are {known}")));
        }
    };
    let argument = params.arguments.first().cloned().unwrap_or_default();
    let argument = AskArgument::deserialize(argument).map_err(|error| {
        Error::invalid_params(format!("{} takes {{uri, range?, …}}: {error}", params.command))
    })?;
    let Some(words) = argument.prompt.clone().or(words.map(str::to_owned)) else {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { plain::ask_what(&shared, argument).await });
        return Ok(None);
    };
    if shared.traits().extension.is_none() {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { plain::begin(&shared, &argument, words).await });
        return Ok(None);
    }
    let begun = plain::ask(shared, &argument, words).await?;
    Ok(Some(json!(begun)))
}
