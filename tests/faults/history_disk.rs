//! Histories that cannot be read or written: a message that says so, and the conversation goes on.

use crate::world::{error, next_prompt_works, notices, ready, ready_with, stop_reason};
use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::editor::{Editor, EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{ScriptedClaude, assert_append_only};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The one history file of a home.
fn history_file(home: &Home, session: &str) -> PathBuf {
    let folders = std::fs::read_dir(home.state().join("airlock/history")).expect("a folder of histories");
    let files = folders.map(|folder| folder.unwrap().path().join(format!("{session}.jsonl")));
    files.into_iter().find(|file| file.exists()).expect("a history")
}

async fn ready_in(home: &Home, claude: &ScriptedClaude) -> Editor {
    ready_with(EditorOptions::new(claude).home(home)).await
}

/// A session in which something was said, in a server that is gone.
async fn kept_session(claude: &ScriptedClaude) -> (Home, String) {
    let editor = ready(claude).await;
    let session = editor.new_session().await;
    claude.push("Hello.");
    editor.turn(&session, "Hi").await;
    let home = editor.home().clone();
    editor.shutdown().await;
    (home, session)
}

async fn load(editor: &Editor, session: &str) -> Result<Value, String> {
    let loaded = editor.request("airlock/session/load", json!({"sessionId": session})).await;
    loaded.map_err(|error| error["message"].as_str().expect("a message").to_owned())
}

#[tokio::test]
async fn a_torn_last_line_is_dropped_and_nothing_else() {
    let claude = ScriptedClaude::start().await;
    let (home, session) = kept_session(&claude).await;
    let file = history_file(&home, &session);
    let whole = std::fs::read(&file).unwrap();
    for torn in
        ["{", "{\"at\":\"2026-01-01T00:00:00Z\",\"type\":\"message\",\"role\":\"user\",\"conte", "\0\0\0"]
    {
        let mut bytes = whole.clone();
        bytes.extend(torn.as_bytes());
        std::fs::write(&file, bytes).unwrap();
        let editor = ready_in(&home, &claude).await;
        load(&editor, &session).await.unwrap();
        let shown = editor.updates_until(&session, "usage").await;
        assert_eq!((agent_text(&shown).as_str(), notices(&shown)), ("Hello.", vec![]));
        editor.shutdown().await;
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
    let editor = ready_in(&home, &claude).await;
    load(&editor, &session).await.unwrap();
    editor.updates_until(&session, "usage").await;
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_history_that_is_in_use_is_refused_by_name_and_left_alone() {
    let claude = ScriptedClaude::start().await;
    let first = ready(&claude).await;
    let session = first.new_session().await;
    claude.push("Hello.");
    first.turn(&session, "Hi").await;
    let second = ready_in(first.home(), &claude).await;
    let in_use = format!("the session {session} is open in another window or editor: close it there first");
    assert_eq!(load(&second, &session).await, Err(in_use.clone()));
    let other = second.new_session().await;
    let refused = second.turn(&other, &format!("/load {session}")).await;
    assert_eq!((stop_reason(&refused), error(&refused)), ("error", in_use.as_str()));
    assert_eq!(load(&first, &session).await, Err(in_use), "nor twice in the same server");
    next_prompt_works(&first, &claude, &session).await;
    first.expect("airlock/session/close", json!({"sessionId": session})).await;
    load(&second, &session).await.unwrap();
    second.updates_until(&session, "usage").await;
    next_prompt_works(&second, &claude, &session).await;
    second.shutdown().await;
    first.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_history_that_cannot_be_read_is_named_and_the_server_goes_on() {
    let claude = ScriptedClaude::start().await;
    let (home, session) = kept_session(&claude).await;
    let file = history_file(&home, &session);
    std::fs::write(&file, b"not a history\n\xff\xfe\n").unwrap();
    let editor = ready_in(&home, &claude).await;
    let refused = load(&editor, &session).await.unwrap_err();
    assert_eq!(refused, format!("the history {} holds nothing that this version can read", file.display()));
    assert_eq!(
        load(&editor, "20000101-000000").await.unwrap_err(),
        "there is no session \"20000101-000000\": /sessions lists those there are"
    );
    let listed = editor.expect("airlock/session/list", json!({})).await;
    assert_eq!(listed["sessions"], json!([]));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(load(&editor, &session).await.unwrap_err().contains("cannot open the history"));
    let session = editor.new_session().await;
    claude.push("Fine.");
    assert_eq!(agent_text(&editor.turn(&session, "Hi").await), "Fine.");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn lines_that_cannot_be_read_are_counted_and_the_others_used() {
    let claude = ScriptedClaude::start().await;
    let (home, session) = kept_session(&claude).await;
    let file = history_file(&home, &session);
    let text = std::fs::read_to_string(&file).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    std::fs::write(&file, format!("{header}\nnonsense\n{rest}")).unwrap();
    let editor = ready_in(&home, &claude).await;
    load(&editor, &session).await.unwrap();
    let shown = editor.updates_until(&session, "usage").await;
    assert_eq!(notices(&shown), ["warning: 1 lines of the history could not be read and are left out"]);
    assert_eq!(agent_text(&shown), "Hello.");
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn without_a_state_directory_the_conversation_goes_on_and_the_user_is_told() {
    let claude = ScriptedClaude::start().await;
    let home = Home::new();
    std::fs::write(home.state().join("airlock"), "a file where the folder should be").unwrap();
    let editor = ready_in(&home, &claude).await;
    let session = editor.new_session().await;
    let told = editor.updates_until(&session, "notice").await;
    let text = &notices(&told)[0];
    assert!(
        text.starts_with("error: cannot create the history")
            && text.ends_with("this conversation will not be kept"),
        "{text}"
    );
    claude.push("Hello.");
    assert_eq!(agent_text(&editor.turn(&session, "Hi").await), "Hello.");
    next_prompt_works(&editor, &claude, &session).await;
    assert!(editor.request("airlock/session/list", json!({})).await.is_err());
    editor.shutdown().await;
    claude.finish();
}

/// An editor whose server can write no file beyond a few blocks, until [`free_disk`]. No mount is needed for that.
async fn ready_on_small_disk(claude: &ScriptedClaude) -> Editor {
    let script = "trap '' XFSZ; ulimit -S -f 32; exec \"$0\" lsp";
    let binary = airlock_binary().to_str().unwrap();
    ready_with(EditorOptions::new(claude).program("/bin/sh", &["-c", script, binary])).await
}

fn free_disk(editor: &Editor) {
    let pid = editor.pid().expect("it runs").to_string();
    let done = std::process::Command::new("prlimit").args(["--fsize=unlimited", "--pid", &pid]).status();
    assert!(done.expect("prlimit, of util-linux").success());
}

#[tokio::test]
async fn a_full_disk_is_told_once_and_leaves_whole_lines_and_what_waited_is_written_later() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_on_small_disk(&claude).await;
    let session = editor.new_session().await;
    claude.push("Hello.");
    assert_eq!(notices(&editor.turn(&session, "Hi").await), Vec::<String>::new());
    let file = history_file(editor.home(), &session);
    let kept = std::fs::read_to_string(&file).unwrap();
    claude.push("Long.");
    let full = editor.turn(&session, &"x".repeat(100_000)).await;
    assert_eq!((stop_reason(&full), agent_text(&full).as_str()), ("end_turn", "Long."));
    let told = notices(&full);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].starts_with(&format!("error: the history {} cannot be written", file.display())),
        "{told:#?}"
    );
    claude.push("Short.");
    assert_eq!(notices(&editor.turn(&session, "Hm").await), Vec::<String>::new());
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        kept,
        "nothing is half-written, and there is no hole"
    );
    free_disk(&editor);
    claude.push("Saved.");
    let saved = editor.turn(&session, "Now?").await;
    assert_eq!(notices(&saved), ["info: the history is written again, and nothing is missing in it"]);
    let home = editor.home().clone();
    editor.kill9().await;
    let editor = ready_in(&home, &claude).await;
    load(&editor, &session).await.unwrap();
    let again = editor.updates_until(&session, "usage").await;
    assert_eq!(agent_text(&again), "Hello.Long.Short.Saved.");
    next_prompt_works(&editor, &claude, &session).await;
    assert_append_only(&claude.requests());
    editor.shutdown().await;
    claude.finish();
}
