//! Progress of a turn: begun once, ended once, never after its end, and a way to cancel.

use crate::desk::{configure, stop_reason};
use crate::sandboxed::path_with;
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;

/// The progress notifications that came so far, of any turn.
fn progress(editor: &Editor) -> Vec<(String, String)> {
    let of_progress = |message: &Value| message["method"] == "$/progress";
    let unread = editor.unread().into_iter().filter(of_progress);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    unread.map(|it| (text(&it["params"]["token"]), text(&it["params"]["value"]["kind"]))).collect()
}

#[tokio::test]
async fn a_turn_shows_its_beginning_its_tool_and_its_end() {
    let claude = ScriptedClaude::start().await;
    let gate = Gate::new();
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "cargo test"})).hold(&gate)).push("done");
    let editor = Editor::ready(EditorOptions::new(&claude)).await;
    editor.answer_by_hand("window/workDoneProgress/create");
    let session = editor.new_session().await;
    editor.prompt(&session, "go").await;
    let create = editor.next_server_request("window/workDoneProgress/create").await;
    let token = create.params["token"].clone();
    create.respond(Value::Null);
    let begin = editor.next_notification("$/progress").await;
    let value = json!({"kind": "begin", "title": "Airlock", "cancellable": true, "message": "thinking"});
    assert_eq!(begin, json!({"token": token, "value": value}));
    gate.open();
    let report = editor.next_notification("$/progress").await;
    assert_eq!((&report["token"], &report["value"]["kind"]), (&token, &json!("report")));
    assert!(report["value"]["message"].as_str().unwrap().contains("cargo test"), "{report}");
    editor.updates_until_turn_end(&session).await;
    assert_eq!(progress(&editor).len(), 1, "the end comes before the turn's");
    let end = editor.next_notification("$/progress").await;
    assert_eq!(end, json!({"token": token, "value": {"kind": "end"}}));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn cancelling_the_progress_cancels_the_turn_and_nothing_follows_the_end() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("one").silence());
    let editor = Editor::ready(EditorOptions::new(&claude)).await;
    let session = editor.new_session().await;
    editor.prompt(&session, "go").await;
    let begin = editor.next_notification("$/progress").await;
    editor.updates_until(&session, "agent_message_chunk").await;
    editor.notify("window/workDoneProgress/cancel", json!({"token": "airlock/nonsense"}));
    editor.notify("window/workDoneProgress/cancel", json!({"token": begin["token"]}));
    assert_eq!(stop_reason(&editor.updates_until_turn_end(&session).await), "cancelled");
    // Late and repeated cancels do nothing to the next turn.
    editor.notify("window/workDoneProgress/cancel", json!({"token": begin["token"]}));
    editor.expect("airlock/session/list", json!({})).await;
    let token = begin["token"].as_str().unwrap().to_owned();
    assert_eq!(progress(&editor), [(token, "end".to_owned())]);
    editor.next_notification("$/progress").await;
    editor.ignore("$/progress");
    claude.push("two");
    assert_eq!(stop_reason(&editor.turn(&session, "again").await), "end_turn");
    editor.shutdown().await;
}

#[tokio::test]
async fn quick_turns_never_leave_a_progress_without_end() {
    let claude = ScriptedClaude::start().await;
    let editor = Editor::ready(EditorOptions::new(&claude)).await;
    let session = editor.new_session().await;
    for _ in 0..100 {
        editor.turn(&session, "/model").await;
        // The next one at once, before the last one's end was read.
        editor.prompt(&session, "/model").await;
        editor.prompt_until_taken(&session, "/model").await;
        for _ in 0..2 {
            editor.updates_until_turn_end(&session).await;
        }
    }
    let mut open = Vec::new();
    for (token, kind) in progress(&editor) {
        match kind.as_str() {
            "begin" => open.push(token),
            "end" => open.retain(|begun| *begun != token),
            _ => {}
        }
    }
    assert_eq!(open, Vec::<String>::new());
    editor.ignore("$/progress");
    editor.shutdown().await;
}

#[tokio::test]
async fn an_editor_that_never_answers_holds_nothing_up() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    configure(&home, "config.toml", "permission_timeout_s = 1\n");
    let same = |id| Reply::calls(id, "bash", json!({"command": "ls"}));
    claude.replies(["toolu_1", "toolu_2", "toolu_3"].map(same)).push("still here");
    let editor = Editor::ready(EditorOptions::new(&claude).home(&home)).await;
    editor.answer_by_hand("window/workDoneProgress/create");
    let session = editor.new_session().await;
    // Neither the progress nor the permission question is ever answered.
    let updates = editor.turn(&session, "go").await;
    assert_ne!(stop_reason(&updates), "error", "{updates:#?}");
    editor.turn(&session, "are you there?").await;
    assert_eq!(progress(&editor), []);
    for method in ["window/workDoneProgress/create", "airlock/permission", "$/cancelRequest"] {
        editor.ignore(method);
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_without_progress_gets_none() {
    let claude = ScriptedClaude::start().await;
    claude.push("ok");
    let options = EditorOptions::new(&claude)
        .capabilities(|capabilities| capabilities["window"]["workDoneProgress"] = json!(false));
    let editor = Editor::ready(options).await;
    editor.answer_by_hand("window/workDoneProgress/create");
    let session = editor.new_session().await;
    editor.turn(&session, "hi").await;
    editor.shutdown().await;
    claude.finish();
}

/// Waits for a report of progress with this message.
async fn report(editor: &Editor, message: &str) {
    let fits = |value: &Value| value["kind"] == "report" && value["message"] == message;
    editor.next(message, |it| it["method"] == "$/progress" && fits(&it["params"]["value"])).await;
}

/// A podman that begins when the test writes to a pipe.
#[tokio::test]
async fn a_call_that_waits_for_the_sandbox_says_so_until_it_is_there() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let gate = home.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("mkfifo").success());
    let podman = "[ ! -p \"$HOME/gate\" ] || read -r _ < \"$HOME/gate\"; exec /usr/bin/podman \"$@\"";
    let path = path_with(&home, &[("podman", podman)]);
    let begun = Gate::new();
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo up"})).hold(&begun)).push("done");
    let editor =
        Editor::ready(EditorOptions::new(&claude).home(&home).env("PATH", path).with_sandbox()).await;
    let session = editor.new_session().await;
    editor.prompt(&session, "go").await;
    editor.next_notification("$/progress").await;
    begun.open();
    report(&editor, "$ echo up (the sandbox is starting)").await;
    // It opens only when podman reads it, and is there for no other podman.
    let opened = tokio::task::spawn_blocking(move || {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(&gate)?;
        std::fs::remove_file(&gate)?;
        pipe.write_all(b"go on\n")
    });
    opened.await.expect("a thread").expect("a pipe");
    report(&editor, "$ echo up").await;
    assert_eq!(stop_reason(&editor.updates_until_turn_end(&session).await), "end_turn");
    editor.ignore("$/progress");
    editor.shutdown().await;
    claude.finish();
}

/// An editor that takes its time with an edit.
#[tokio::test]
async fn an_accept_that_takes_long_says_how_far_it_is() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("a.txt", "one\n");
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo two > a.txt"}))).push("done");
    let editor = Editor::ready(EditorOptions::new(&claude).home(&home).with_sandbox()).await;
    let (session, uri) = (editor.new_session().await, home.file_uri("a.txt"));
    editor.open(&uri, "one\n");
    assert_eq!(stop_reason(&editor.turn(&session, "go").await), "end_turn");
    editor.turn(&session, "/changes").await;
    editor.prompt(&session, "/accept").await;
    let request = editor.next_server_request("workspace/applyEdit").await;
    report(&editor, "0 of 1 files are accepted").await;
    let told = editor.updates_until(&session, "notice").await;
    assert_eq!(told.last().expect("a notice")["text"], "0 of 1 files are accepted");
    editor.change(&uri, 2, json!([{"text": "two\n"}]));
    request.respond(json!({"applied": true}));
    assert_eq!(stop_reason(&editor.updates_until_turn_end(&session).await), "end_turn");
    editor.ignore("$/progress");
    editor.shutdown().await;
    claude.finish();
}
