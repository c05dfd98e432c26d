//! What users and clients get wrong: a message that says what, where and what to do, and a server that keeps running.

use crate::desk::{configure, error_of, notices, ready, ready_in, ready_with, stop_reason};
use airlock_tests::editor::{EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn without_a_key_a_prompt_says_where_to_put_one_and_commands_work() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_with(EditorOptions::new(&claude).without_env("ANTHROPIC_API_KEY")).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    let why = error_of(&updates);
    assert!(why.contains("ANTHROPIC_API_KEY") && why.contains("config.toml"), "{why}");
    assert_eq!(stop_reason(&editor.turn(&session, "/help").await), "end_turn");
    assert_eq!(claude.hits(), 0);
    editor.shutdown().await;
}

#[tokio::test]
async fn an_unknown_model_is_named_and_another_can_be_chosen() {
    let claude = ScriptedClaude::start().await;
    claude.push("hello");
    let editor = ready_with(EditorOptions::new(&claude).env("MODEL", "claude-nonsense-9")).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    let why = error_of(&updates);
    assert!(why.contains("claude-nonsense-9") && why.contains("/model NAME"), "{why}");
    let updates = editor.turn(&session, "/model claude-haiku-4-5").await;
    let told = updates.iter().find(|update| update["kind"] == "model").expect("the model is told");
    assert_eq!(told["model"], "claude-haiku-4-5");
    assert_eq!(agent_text(&editor.turn(&session, "hi again").await), "hello");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn malformed_configuration_is_told_with_file_and_line_and_the_rest_is_used() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("ok");
    let file =
        configure(&home, "config.toml", "model = \"claude-haiku-4-5\"\nmax_tokens = \"many\"\nretrys = 1\n");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    let place = |line| format!("{}:{line}: ", file.display());
    assert!(
        notices(&updates)[0].starts_with(&(place(2) + "max_tokens: expected a whole number")),
        "{updates:#?}"
    );
    assert!(notices(&updates)[1].contains("did you mean retries?"), "{updates:#?}");
    assert_eq!(claude.requests()[0].body["model"], "claude-haiku-4-5");
    editor.shutdown().await;

    configure(&home, "config.toml", "model = \"x\"\n\nthis is no TOML\n");
    claude.push("ok");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    assert!(notices(&updates)[0].starts_with(&(place(3) + "not TOML")), "{updates:#?}");
    assert_eq!(agent_text(&updates), "ok", "with the defaults");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_base_url_that_cannot_be_used_sends_the_key_nowhere() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let no_retry = EditorOptions::with_base_url("proxy.example:8080/claude").home(&home);
    let editor = ready_with(no_retry).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    assert!(error_of(&updates).contains("nothing is sent until"), "{updates:#?}");
    assert!(error_of(&updates).contains("ANTHROPIC_BASE_URL"), "{updates:#?}");
    assert!(notices(&updates)[0].contains("ANTHROPIC_BASE_URL"), "{updates:#?}");
    editor.turn(&session, "/model claude-haiku-4-5").await;
    editor.shutdown().await;

    let file = configure(&home, "config.toml", "base_url = \"proxy.example\"\n");
    let options = EditorOptions::new(&claude).home(&home).without_env("ANTHROPIC_BASE_URL");
    let editor = ready_with(options).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    assert!(error_of(&updates).contains(&format!("{}:1: base_url", file.display())), "{updates:#?}");
    editor.shutdown().await;
    assert_eq!(claude.hits(), 0);
}

#[tokio::test]
async fn an_unknown_session_is_named_in_every_method_that_takes_one() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    for (method, params) in [
        ("airlock/session/prompt", json!({"sessionId": "nope", "text": "hi"})),
        ("airlock/session/close", json!({"sessionId": "nope"})),
        ("airlock/session/load", json!({"sessionId": "nope"})),
        ("airlock/session/load", json!({"sessionId": "../../nope"})),
    ] {
        let refused = editor.request(method, params).await.unwrap_err();
        assert_eq!(refused["code"], -32803, "{method}");
        assert!(refused["message"].as_str().unwrap().contains("nope"), "{method}: {refused}");
    }
    editor.cancel("nope");
    for folder in ["file:///nowhere/at/all", "untitled:x"] {
        let refused = editor.request("airlock/session/new", json!({"folder": folder})).await.unwrap_err();
        assert!(refused["message"].as_str().unwrap().contains("folder") || folder.starts_with("file"));
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn sessions_of_several_folders_opened_at_once_are_all_opened_under_different_names() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let folders: Vec<String> = (0..8)
        .map(|index| {
            editor.home().write(&format!("folder{index}/a.txt"), "");
            editor.home().file_uri(&format!("folder{index}"))
        })
        .collect();
    for _ in 0..5 {
        let open = |folder: &String| editor.start_request("airlock/session/new", json!({"folder": folder}));
        let requests: Vec<_> = folders.iter().map(open).collect();
        let mut names = Vec::new();
        for request in requests {
            names.push(editor.response(request).await.expect("a session")["sessionId"].clone().to_string());
        }
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn a_prompt_while_busy_or_after_the_end_is_refused_and_disturbs_nothing() {
    let claude = ScriptedClaude::start().await;
    let gate = Gate::new();
    claude.push(Reply::says("one ").gate(&gate).more("two"));
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.prompt(&session, "go").await;
    let prompt = || json!({"sessionId": session, "text": "more"});
    for _ in 0..3 {
        let refused = editor.request("airlock/session/prompt", prompt()).await.unwrap_err();
        assert!(refused["message"].as_str().unwrap().contains("a turn is in work"), "{refused}");
    }
    gate.open();
    assert_eq!(agent_text(&editor.updates_until_turn_end(&session).await), "one two");
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    let refused = editor.request("airlock/session/prompt", prompt()).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("no open session"), "{refused}");
    let twice = editor.request("airlock/session/close", json!({"sessionId": session})).await;
    assert!(twice.is_err());
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn closing_a_session_in_the_middle_of_a_turn_ends_the_turn_first() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("one").silence()).push(Reply::says("two").silence());
    let editor = ready(&claude).await;
    for request in ["airlock/session/close", "shutdown"] {
        let session = editor.new_session().await;
        editor.prompt(&session, "go").await;
        editor.updates_until(&session, "agent_message_chunk").await;
        let params = if request == "shutdown" { Value::Null } else { json!({"sessionId": session}) };
        editor.expect(request, params).await;
        let is_end = |message: &Value| message["params"]["update"]["stopReason"] == "cancelled";
        assert!(editor.unread().iter().any(is_end), "the turn's end comes before the answer to {request}");
        editor.updates_until_turn_end(&session).await;
    }
    editor.notify("exit", Value::Null);
    claude.finish();
}

#[tokio::test]
async fn a_prompt_that_says_nothing_never_becomes_part_of_the_conversation() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("ok");
    configure(&home, "commands/echo.md", "$ARGUMENTS\n");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    for text in ["", " \n\t ", "/echo", "/echo \n"] {
        let updates = editor.turn(&session, text).await;
        assert!(error_of(&updates).contains("the prompt is empty"), "{text:?}: {updates:#?}");
    }
    assert_eq!(agent_text(&editor.turn(&session, "/echo hi").await), "ok");
    assert_eq!(claude.requests().len(), 1);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_prompt_above_the_limit_is_refused() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let params = json!({"sessionId": session, "text": "x".repeat((1 << 20) + 1)});
    let refused = editor.request("airlock/session/prompt", params).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("1048576"), "{refused}");
    assert_eq!(claude.hits(), 0);
    editor.shutdown().await;
}
