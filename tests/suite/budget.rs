//! The bounds that a user sets: each stops the turn with a sentence that names it.

use crate::world::{call_updates, error, next_prompt_works, notices, ready_configured, stop_reason};
use airlock_tests::editor::agent_text;
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn call(number: usize) -> Reply {
    Reply::calls(&format!("toolu_{number}"), "bash", json!({"command": format!("echo {number}")}))
}

#[tokio::test]
async fn max_rounds_stops_a_turn_and_the_next_goes_on() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, "max_rounds = 2").await;
    let session = editor.new_session().await;
    claude.push(call(1)).push(call(2));
    let updates = editor.turn(&session, "go").await;
    assert_eq!(stop_reason(&updates), "max_turn_requests");
    assert_eq!(notices(&updates), ["warning: stopped after 2 rounds: say \"go on\" to continue"]);
    assert_eq!(claude.requests().len(), 2);
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn max_session_tokens_stops_before_the_next_call_and_before_the_next_request() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, "max_session_tokens = 100").await;
    let session = editor.new_session().await;
    claude.push(
        Reply::new()
            .thinking("hm", "sig")
            .tool_use("toolu_1", "bash", json!({"command": "ls"}))
            .usage(90, 20),
    );
    let updates = editor.turn(&session, "go").await;
    let why =
        "this session used 110 tokens and may use 100: raise max_session_tokens, or start a new session";
    assert_eq!((stop_reason(&updates), error(&updates)), ("error", why));
    assert_eq!(call_updates(&updates), [("toolu_1", "failed", "not run")]);
    let updates = editor.turn(&session, "go on").await;
    assert_eq!((stop_reason(&updates), error(&updates)), ("error", why));
    assert_eq!(claude.requests().len(), 1, "nothing more is spent");
    let other = editor.new_session().await;
    claude.push(Reply::says("Hello.").usage(10, 5));
    assert_eq!(agent_text(&editor.turn(&other, "Hi").await), "Hello.");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_answer_that_is_whole_counts_though_it_used_the_last_of_the_budget() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, "max_session_cost_usd = 0.01").await;
    let session = editor.new_session().await;
    claude.push(Reply::says("Expensive.").usage(1_000, 1_000));
    let updates = editor.turn(&session, "go").await;
    let why =
        "this session cost $0.02 and may cost $0.01: raise max_session_cost_usd, or start a new session";
    assert_eq!((stop_reason(&updates), agent_text(&updates).as_str()), ("end_turn", "Expensive."));
    assert_eq!(notices(&updates), [format!("warning: {why}")]);
    let updates = editor.turn(&session, "more").await;
    assert_eq!((stop_reason(&updates), error(&updates)), ("error", why));
    assert_eq!(claude.requests().len(), 1);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_bound_on_cost_that_cannot_hold_is_told() {
    let claude = ScriptedClaude::start().await;
    claude.model("claude-nameless-9");
    let config = "max_session_cost_usd = 0.01\nmodel = \"claude-nameless-9\"";
    let editor = ready_configured(&claude, config).await;
    let session = editor.new_session().await;
    claude.push("Hello.").push("Again.");
    let told = notices(&editor.turn(&session, "Hi").await);
    assert_eq!(
        told,
        [
            "warning: what claude-nameless-9 costs is not known, so max_session_cost_usd cannot stop this session: put its prices under [prices] in your config.toml"
        ]
    );
    assert_eq!(notices(&editor.turn(&session, "Hi").await), Vec::<String>::new(), "once");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_bound_on_cost_that_cannot_hold_is_told_again_when_the_session_is_opened_again() {
    let claude = ScriptedClaude::start().await;
    claude.model("claude-nameless-9");
    let editor = ready_configured(&claude, "max_session_cost_usd = 0.01").await;
    let session = editor.new_session().await;
    claude.push("Hello.").push("Again.");
    editor.turn(&session, "/model claude-nameless-9").await;
    editor.turn(&session, "Hi").await;
    editor.turn(&session, "/model claude-sonnet-5").await;
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    let told = notices(&editor.turn(&session, "Hi").await);
    assert!(told.iter().any(|text| text.contains("what claude-nameless-9 costs is not known")), "{told:?}");
    let cost = agent_text(&editor.turn(&session, "/cost").await);
    assert!(cost.contains("put the prices of claude-nameless-9 under"), "{cost}");
    editor.shutdown().await;
    claude.finish();
}

/// It is paid for, though it never became whole.
#[tokio::test]
async fn what_an_answer_used_that_was_stopped_or_broke_off_is_counted() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, "max_session_tokens = 2000\nretries = 0").await;
    let session = editor.new_session().await;
    let never = Gate::new();
    claude.push(Reply::says("Half, ").usage(1_000, 5).gate(&never).more("whole."));
    editor.prompt(&session, "go").await;
    editor.updates_until(&session, "agent_message_chunk").await;
    editor.cancel(&session);
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!(stop_reason(&updates), "cancelled");
    let used = |updates: &[Value]| {
        let usage = updates.iter().find(|update| update["kind"] == "usage").expect("what was used");
        usage["inputTokens"].as_u64().expect("a number")
    };
    assert_eq!(used(&updates), 1_000);
    claude.push(Reply::says("Half, ").usage(1_000, 5).error_event("overloaded_error", "too much"));
    let updates = editor.turn(&session, "again").await;
    assert_eq!((stop_reason(&updates), used(&updates)), ("error", 2_000));
    let updates = editor.turn(&session, "once more").await;
    assert!(error(&updates).contains("may use 2000"), "{updates:#?}");
    editor.shutdown().await;
    claude.finish();
}
