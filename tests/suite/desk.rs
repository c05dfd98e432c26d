//! What the suites of the front ends share: editors for common cases, and looks into what they heard.

use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use serde_json::{Value, json};
use std::path::PathBuf;

/// An editor with the extension, for tests that are not about progress.
pub(crate) async fn ready(claude: &ScriptedClaude) -> Editor {
    ready_with(EditorOptions::new(claude)).await
}

/// The same, in a home of the test's.
pub(crate) async fn ready_in(claude: &ScriptedClaude, home: &Home) -> Editor {
    ready_with(EditorOptions::new(claude).home(home)).await
}

/// The same, of another kind.
pub(crate) async fn ready_with(options: EditorOptions) -> Editor {
    let editor = Editor::ready(options).await;
    editor.ignore("$/progress");
    editor
}

/// Writes a file of Airlock's configuration directory, such as `config.toml` or `commands/fix.md`.
pub(crate) fn configure(home: &Home, path: &str, text: &str) -> PathBuf {
    let path = home.config().join("airlock").join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    path
}

/// What went wrong in a turn, by its last update.
pub(crate) fn error_of(updates: &[Value]) -> &str {
    let end = updates.last().expect("a turn's end");
    assert_eq!(end["stopReason"], "error", "{updates:#?}");
    end["error"].as_str().expect("an error says why")
}

/// Why a turn ended, by its last update.
pub(crate) fn stop_reason(updates: &[Value]) -> &str {
    updates.last().and_then(|end| end["stopReason"].as_str()).expect("a turn's end")
}

/// The texts of the notices among these updates.
pub(crate) fn notices(updates: &[Value]) -> Vec<&str> {
    let notices = updates.iter().filter(|update| update["kind"] == "notice");
    notices.filter_map(|update| update["text"].as_str()).collect()
}

/// Runs `/trust` and says yes; gives the question and the updates.
pub(crate) async fn trust(editor: &Editor, session: &str) -> (Value, Vec<Value>) {
    editor.prompt(session, "/trust").await;
    let question = editor.next_server_request("airlock/permission").await;
    let asked = question.params.clone();
    question.respond(json!({"optionId": "trust"}));
    (asked, editor.updates_until_turn_end(session).await)
}
