//! How a sandbox ends: with its session, with the editor, and after a kill at the next start.

use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::json;
use std::process::Command;
use std::time::Duration;

/// The containers of a server, by its process id.
fn containers_of(pid: u32) -> Vec<String> {
    let format = "{{.ID}} {{index .Labels \"airlock.owner\"}}";
    let output = Command::new("podman").args(["ps", "--all", "--format", format]).output().expect("podman");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let owner = format!(" {pid}@");
    text.lines().filter(|line| line.contains(&owner)).map(str::to_owned).collect()
}

/// Our own podman services that a process started.
fn services() -> Vec<String> {
    let output = Command::new("pgrep").args(["-af", "podman .*system service"]).output().expect("pgrep");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

async fn with_a_running_sandbox(claude: &ScriptedClaude, home: &Home) -> (Editor, String) {
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo up"}))).push("Up.");
    let editor = Editor::ready(EditorOptions::new(claude).home(home).with_sandbox()).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    editor.turn(&session, "go").await;
    (editor, session)
}

#[tokio::test]
async fn a_closed_session_has_no_sandbox_left_when_it_answers() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (editor, session) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    assert_eq!(containers_of(pid).len(), 1);
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    assert_eq!(containers_of(pid), Vec::<String>::new());
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_goes_away_takes_the_sandbox_along_within_five_seconds() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (mut editor, _) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    editor.close_stdin();
    let ended = tokio::time::timeout(Duration::from_secs(5), editor.exit_status()).await;
    assert!(ended.is_ok(), "it did not end");
    assert_eq!(containers_of(pid), Vec::<String>::new());
    claude.finish();
}

#[tokio::test]
async fn what_a_killed_server_left_is_gone_after_the_next_start() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (editor, _) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    let runtime = home.runtime();
    let of_home =
        || services().into_iter().filter(|line| line.contains(runtime.to_str().unwrap())).collect::<Vec<_>>();
    assert_eq!(of_home().len(), 1, "{:?}", services());
    editor.kill9().await;
    let (editor, _) = with_a_running_sandbox(&claude, &home).await;
    assert_eq!(containers_of(pid), Vec::<String>::new());
    assert_eq!(of_home().len(), 1, "the old service is gone: {:?}", of_home());
    let sockets = std::fs::read_dir(&runtime).expect("the folder").flatten();
    let ours =
        sockets.filter(|entry| entry.file_name().to_string_lossy().starts_with("airlock-podman-")).count();
    assert_eq!(ours, 1, "the old socket's folder is gone");
    editor.shutdown().await;
    claude.finish();
}
