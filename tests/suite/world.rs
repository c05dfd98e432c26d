//! What the suites share: editors with a configuration, and questions to ask of a turn's updates.

use airlock_tests::editor::{Editor, EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{Received, Reply, ScriptedClaude, assert_append_only};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// An editor that looks at no progress.
pub async fn ready(claude: &ScriptedClaude) -> Editor {
    ready_with(EditorOptions::new(claude)).await
}

/// The same, with options.
pub async fn ready_with(options: EditorOptions) -> Editor {
    let editor = Editor::ready(options).await;
    editor.ignore("$/progress");
    editor
}

/// A home whose user wrote this `config.toml`.
pub fn configured(config: &str) -> Home {
    let home = Home::new();
    let folder = home.config().join("airlock");
    std::fs::create_dir_all(&folder).expect("a folder in the home");
    std::fs::write(folder.join("config.toml"), config).expect("a file in the home");
    home
}

/// An editor whose user wrote this `config.toml`.
pub async fn ready_configured(claude: &ScriptedClaude, config: &str) -> Editor {
    ready_with(EditorOptions::new(claude).home(&configured(config))).await
}

/// The texts of the notices, each after its level.
pub fn notices(updates: &[Value]) -> Vec<String> {
    let notice = |update: &&Value| update["kind"] == "notice";
    let text = |update: &Value| {
        format!("{}: {}", update["level"].as_str().unwrap(), update["text"].as_str().unwrap())
    };
    updates.iter().filter(notice).map(text).collect()
}

/// How the turn ended.
pub fn stop_reason(updates: &[Value]) -> &str {
    updates.last().expect("a turn's end")["stopReason"].as_str().expect("a reason")
}

/// What the turn's end says went wrong; empty when nothing did.
pub fn error(updates: &[Value]) -> &str {
    updates.last().expect("a turn's end")["error"].as_str().unwrap_or_default()
}

/// The calls' updates: id, status and output.
pub fn call_updates(updates: &[Value]) -> Vec<(&str, &str, &str)> {
    let of_call = |update: &&Value| update["kind"] == "tool_call_update";
    updates
        .iter()
        .filter(of_call)
        .map(|update| {
            let field = |name: &str| update.get(name).and_then(Value::as_str).unwrap_or_default();
            (field("toolCallId"), field("status"), field("output"))
        })
        .collect()
}

/// The law after every fault: the next prompt works, with a history that the API accepts and that only grew.
pub async fn next_prompt_works(editor: &Editor, claude: &ScriptedClaude, session: &str) {
    claude.push(Reply::says("All is well."));
    let updates = editor.turn(session, "And now?").await;
    assert_eq!(
        (stop_reason(&updates), agent_text(&updates).as_str()),
        ("end_turn", "All is well."),
        "{updates:#?}"
    );
    let mut requests = claude.requests();
    // A request for a summary is no part of the conversation.
    requests.retain(|request| !is_for_summary(request));
    assert_append_only(&requests);
}

/// Whether the model is asked to summarise the conversation.
pub fn is_for_summary(request: &Received) -> bool {
    request.last_user_text().contains("will go on from a summary")
}
