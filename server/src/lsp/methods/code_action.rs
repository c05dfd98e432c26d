//! `textDocument/codeAction`: ask about a selection, fix or explain a diagnostic.

use crate::lsp::client_traits::ClientTraits;
use crate::lsp::protocol::AskArgument;
use serde_json::json;
use tower_lsp::ls_types::*;

/// The kind of "Ask Airlock…".
pub(super) const ASK: CodeActionKind = CodeActionKind::new("refactor.airlock.ask");

pub(in crate::lsp) fn run(traits: &ClientTraits, params: CodeActionParams) -> CodeActionResponse {
    let CodeActionParams { text_document, range, context, .. } = params;
    let argument = |range, diagnostics| AskArgument {
        uri: text_document.uri.clone(),
        range: Some(range),
        diagnostics,
        prompt: None,
        session_id: None,
    };
    let mut actions = Vec::new();
    for diagnostic in &context.diagnostics {
        let about = argument(diagnostic.range, vec![diagnostic.clone()]);
        actions.push(action("Fix with Airlock", "airlock.fix", CodeActionKind::QUICKFIX, &about));
        actions.push(action("Explain with Airlock", "airlock.explain", CodeActionKind::QUICKFIX, &about));
    }
    if range.start != range.end {
        actions.push(action(
            "Ask Airlock…",
            "airlock.ask",
            ASK,
            &argument(range, context.diagnostics.clone()),
        ));
    }
    actions.retain(|action| wanted(action.kind.as_ref(), context.only.as_deref()));
    actions.into_iter().map(|action| offer(action, traits)).collect()
}

fn action(title: &str, command: &str, kind: CodeActionKind, argument: &AskArgument) -> CodeAction {
    let command = Command {
        title: title.to_owned(),
        command: command.to_owned(),
        arguments: Some(vec![json!(argument)]),
    };
    CodeAction {
        title: title.to_owned(),
        kind: Some(kind),
        diagnostics: Some(argument.diagnostics.clone()).filter(|diagnostics| !diagnostics.is_empty()),
        command: Some(command),
        ..CodeAction::default()
    }
}

/// A kind is wanted when it, or a kind above it, is asked for.
fn wanted(kind: Option<&CodeActionKind>, only: Option<&[CodeActionKind]>) -> bool {
    let (Some(kind), Some(only)) = (kind, only) else {
        return true;
    };
    only.iter().any(|asked| {
        let rest = kind.as_str().strip_prefix(asked.as_str());
        rest.is_some_and(|rest| asked.as_str().is_empty() || rest.is_empty() || rest.starts_with('.'))
    })
}

/// Editors that know no code actions take the command alone.
fn offer(action: CodeAction, traits: &ClientTraits) -> CodeActionOrCommand {
    match action.command {
        Some(command) if !traits.code_action_literals => CodeActionOrCommand::Command(command),
        _ => CodeActionOrCommand::CodeAction(action),
    }
}
