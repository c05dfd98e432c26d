//! A conversation that fills the model's window: it is summarised once, and goes on from the summary.

use crate::world::{error, is_for_summary, next_prompt_works, notices, ready, ready_with, stop_reason};
use airlock_tests::editor::{Editor, EditorOptions, agent_text};
use airlock_tests::scripted_claude::{Gate, Received, Reply, ScriptedClaude, assert_append_only};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const NEARS: &str = "info: the conversation nears the end of the model's window: it is being summarised";
const BEGUN: &str = "info: the conversation is being summarised";
const DONE: &str = "info: the conversation was summarised; it goes on from the summary";

/// A model with a window of 10,000 tokens, and an editor whose session has filled it almost.
async fn almost_full() -> (ScriptedClaude, Editor, String) {
    let claude = ScriptedClaude::start().await;
    claude.model("claude-sonnet-5").context(10_000);
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    claude.push(Reply::says("Hello.").usage(8_400, 100));
    let updates = editor.turn(&session, "My name is Ada.").await;
    assert_eq!((stop_reason(&updates), notices(&updates)), ("end_turn", vec![]));
    (claude, editor, session)
}

/// The first message of a request, as text.
fn beginning(request: &Received) -> String {
    request.first_user_text()
}

fn summary_requests(claude: &ScriptedClaude) -> usize {
    claude.requests().iter().filter(|request| is_for_summary(request)).count()
}

#[tokio::test]
async fn a_full_window_is_summarised_once_and_the_conversation_goes_on_from_there() {
    let (claude, editor, session) = almost_full().await;
    claude.push(Reply::says("The user is Ada.").usage(8_500, 50)).push(Reply::says("Ada.").usage(300, 10));
    let updates = editor.turn(&session, "What is my name?").await;
    assert_eq!((stop_reason(&updates), agent_text(&updates).as_str()), ("end_turn", "Ada."));
    assert_eq!(notices(&updates), [NEARS, DONE]);
    let requests = claude.requests();
    assert_append_only(&requests[..2]);
    assert!(is_for_summary(&requests[1]));
    let begins = beginning(&requests[2]);
    assert_eq!(requests[2].messages().len(), 1);
    assert!(begins.contains("<summary>\nThe user is Ada.\n</summary>"), "{begins}");
    assert!(begins.contains("User: What is my name?"), "the recent part is kept word for word: {begins}");
    // Where the window stands is told anew, and from there on it only grows.
    let used = updates
        .iter()
        .filter(|update| update["kind"] == "usage")
        .map(|it| it["contextUsed"].as_u64().unwrap());
    assert!(used.collect::<Vec<_>>()[0] < 1_000, "{updates:#?}");
    claude.push("Fine.");
    assert_eq!(notices(&editor.turn(&session, "Good.").await), Vec::<String>::new());
    assert_append_only(&claude.requests()[2..]);
    assert!(claude.requests()[3].last_user_text().contains("Today is "), "the summary need not have told it");
    assert_eq!(summary_requests(&claude), 1);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn the_users_own_wish_summarises_and_a_restart_goes_on_from_the_summary() {
    let (claude, editor, session) = almost_full().await;
    let gate = Gate::new();
    claude.push(Reply::says("The user is Ada.").usage(8_500, 50).hold(&gate));
    editor.prompt(&session, "/compact").await;
    let told = editor.updates_until(&session, "notice").await;
    assert_eq!(notices(&told), [BEGUN], "it is told before the model has answered");
    gate.open();
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!((stop_reason(&updates), notices(&updates)), ("end_turn", vec![DONE.to_owned()]));
    assert!(agent_text(&updates).starts_with("About 8500 tokens became about"), "{}", agent_text(&updates));
    let home = editor.home().clone();
    editor.shutdown().await;
    let editor = ready_with(EditorOptions::new(&claude).home(&home)).await;
    editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    let shown = editor.updates_until(&session, "usage").await;
    assert_eq!(agent_text(&shown), "Hello.", "what was said is shown, not the summary");
    claude.push("Ada.");
    let updates = editor.turn(&session, "What is my name?").await;
    assert_eq!(
        (agent_text(&updates).as_str(), notices(&updates)),
        ("Ada.", vec![]),
        "it is not summarised again"
    );
    let requests = claude.requests();
    let begins = beginning(requests.last().unwrap());
    assert!(begins.contains("<summary>\nThe user is Ada.\n</summary>"), "{begins}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_summary_that_frees_nothing_stops_instead_of_looping() {
    let (claude, editor, session) = almost_full().await;
    claude.push(Reply::says(&"All of it. ".repeat(2_500)).usage(8_500, 8_000));
    let updates = editor.turn(&session, "go on").await;
    assert_eq!((stop_reason(&updates), notices(&updates)), ("error", vec![NEARS.to_owned()]));
    assert_eq!(error(&updates), "summarising the conversation would free nothing: start anew with /clear");
    assert_eq!(summary_requests(&claude), 1);
    let spent: Vec<&Value> = updates.iter().filter(|update| update["kind"] == "usage").collect();
    assert_eq!(
        spent.last().map(|usage| &usage["outputTokens"]),
        Some(&json!(8_100)),
        "what was spent is counted"
    );
    editor.turn(&session, "/clear").await;
    claude.push("Hello again.");
    assert_eq!(agent_text(&editor.turn(&session, "Hi").await), "Hello again.");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_request_that_is_refused_as_too_long_is_summarised_and_sent_again() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    claude.push("Hello.");
    editor.turn(&session, "My name is Ada.").await;
    let too_long = Reply::status(400)
        .error("invalid_request_error", "prompt is too long: 1000001 tokens > 1000000 maximum");
    claude.push(too_long).push("The user is Ada.").push("Ada.");
    let updates = editor.turn(&session, "What is my name?").await;
    assert_eq!((stop_reason(&updates), agent_text(&updates).as_str()), ("end_turn", "Ada."));
    let told = notices(&updates);
    assert!(told[0].starts_with("warning: the conversation is too long for the model (400)"), "{told:#?}");
    assert_eq!(told[1..], [NEARS, DONE]);
    let requests = claude.requests();
    assert!(beginning(requests.last().unwrap()).contains("<summary>"));
    claude.push("Fine.");
    assert_eq!(agent_text(&editor.turn(&session, "Good.").await), "Fine.");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_request_that_stays_too_long_ends_the_turn() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let too_long = || Reply::status(413);
    claude.push(too_long()).push("Nothing yet.").push(too_long());
    let updates = editor.turn(&session, "Hi").await;
    assert_eq!(stop_reason(&updates), "error");
    assert!(error(&updates).contains("too long for the model (413)"), "{}", error(&updates));
    claude.push("Hello.");
    assert_eq!(agent_text(&editor.turn(&session, "Hi").await), "Hello.");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_fault_while_it_is_summarised_is_told_and_tried_again() {
    let (claude, editor, session) = almost_full().await;
    claude.push(Reply::status(529).header("retry-after-ms", "1"));
    claude.push(Reply::says("The user").cut_after(600));
    claude.push("The user is Ada.").push("Ada.");
    let updates = editor.turn(&session, "What is my name?").await;
    assert_eq!((stop_reason(&updates), agent_text(&updates).as_str()), ("end_turn", "Ada."));
    let told = notices(&updates);
    assert!(
        told[1].contains("overloaded (529)") && told[1].contains("trying again in 0.0 s (1 of 8)"),
        "{told:#?}"
    );
    assert!(told[2].contains("the connection broke") && told[2].contains("(2 of 8)"), "{told:#?}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_summary_that_cannot_be_had_ends_the_turn_and_the_conversation_stays() {
    let (claude, editor, session) = almost_full().await;
    for reply in [Reply::status(403), Reply::says("No.").stop("refusal"), Reply::new()] {
        claude.push(reply);
        let updates = editor.turn(&session, "/compact").await;
        assert_eq!(stop_reason(&updates), "error");
        assert!(
            error(&updates).starts_with("the conversation could not be summarised: "),
            "{}",
            error(&updates)
        );
    }
    claude.model("claude-sonnet-5").context(1_000_000);
    let home = editor.home().clone();
    editor.shutdown().await;
    let editor = ready_with(EditorOptions::new(&claude).home(&home)).await;
    editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    editor.updates_until(&session, "usage").await;
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}
