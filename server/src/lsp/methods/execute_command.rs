//! `workspace/executeCommand`: what a code action starts.

use crate::agent::Session;
use crate::lsp::protocol::{AskArgument, ReviewArgument};
use crate::lsp::server::{Shared, failed};
use crate::lsp::translate;
use crate::lsp::transport::answered;
use crate::lsp::{plain, plain_review};
use crate::review::Selection;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{ExecuteCommandParams, LSPAny};

/// The commands there are.
pub(super) const COMMANDS: [&str; 5] =
    ["airlock.ask", "airlock.fix", "airlock.explain", "airlock.accept", "airlock.reject"];

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
        "airlock.accept" | "airlock.reject" => return review(shared, &params).await.map(Some),
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
        let (shared, answered) = (Arc::clone(shared), answered());
        tokio::spawn(async move {
            answered.cancelled().await;
            plain::ask_what(&shared, argument).await;
        });
        return Ok(None);
    };
    if shared.traits().extension.is_none() {
        let (shared, answered) = (Arc::clone(shared), answered());
        tokio::spawn(async move {
            answered.cancelled().await;
            plain::begin(&shared, &argument, words).await;
        });
        return Ok(None);
    }
    let begun = plain::ask(shared, &argument, words).await?;
    Ok(Some(json!(begun)))
}

/// Accepts or rejects changes of a session; of this editor's own one, if none is named.
async fn review(shared: &Arc<Shared>, params: &ExecuteCommandParams) -> Result<LSPAny> {
    let argument = params.arguments.first().cloned().unwrap_or_else(|| json!({}));
    let argument = ReviewArgument::deserialize(argument).map_err(|error| {
        Error::invalid_params(format!("{} takes {{sessionId?, paths?, hunks?}}: {error}", params.command))
    })?;
    let session = match &argument.session_id {
        Some(id) => shared.session(id)?,
        None => session_with_changes(shared).await?,
    };
    let shown = match shared.traits().extension {
        Some(_) => translate::displayed(argument.shown),
        None => session.displayed(),
    };
    let selection = Selection { paths: argument.paths, hunks: argument.hunks, shown };
    let reviewed = if params.command == "airlock.accept" {
        session.accept_changes(&selection).await
    } else {
        session.reject_changes(&selection).await
    };
    let reviewed = translate::reviewed(reviewed.map_err(failed)?);
    if shared.traits().extension.is_none() {
        plain_review::tell_all(shared, &params.command, &reviewed).await;
    }
    Ok(json!(reviewed))
}

/// The one session of this editor's own that has changes. Which one of several is meant cannot be guessed.
async fn session_with_changes(shared: &Shared) -> Result<Arc<Session>> {
    let own: Vec<Arc<Session>> = shared.folder_sessions.lock().await.values().cloned().collect();
    if let [session] = &own[..] {
        return Ok(Arc::clone(session));
    }
    let mut changed = Vec::new();
    for session in own {
        if session.has_changes().await {
            changed.push(session);
        }
    }
    match &changed[..] {
        [] => Err(failed("there is no session with changes: ask Airlock something first")),
        [session] => Ok(Arc::clone(session)),
        _ => Err(failed(
            "changes wait in more than one folder: ask Airlock `/accept` or `/reject` in a file of the one that you mean",
        )),
    }
}
