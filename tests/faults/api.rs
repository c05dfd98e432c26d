//! What the API may do to a turn. Whatever it is, the turn ends once and the next prompt works.

use crate::world::{error, next_prompt_works, notices, ready, ready_configured, stop_reason};
use airlock_tests::editor::{Editor, agent_text};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::Duration;

/// Prompts against these replies. Then the turn is over, and the next one must work.
async fn turn_against(editor: &Editor, claude: &ScriptedClaude, replies: Vec<Reply>) -> Vec<Value> {
    claude.replies(replies);
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "go").await;
    next_prompt_works(editor, claude, &session).await;
    updates
}

/// For turns that wait for silence. Long enough for an answer on a busy machine.
const IMPATIENT: &str = "stream_silence_s = 2";

/// The same, with an editor and a Claude for this turn alone. Gives the updates and how long the second try waited.
async fn turn_of(replies: Vec<Reply>) -> (Vec<Value>, Duration) {
    turn_of_configured("", replies).await
}

async fn turn_of_configured(config: &str, replies: Vec<Reply>) -> (Vec<Value>, Duration) {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, config).await;
    let updates = turn_against(&editor, &claude, replies).await;
    let requests = claude.requests();
    let waited = requests[1].at - requests[0].at;
    editor.shutdown().await;
    claude.finish();
    (updates, waited)
}

/// A passing fault before any text: one notice that has these words, then the answer.
fn assert_tried_again(updates: &[Value], words: &str) {
    let told = notices(updates);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].starts_with("warning: ") && told[0].contains(words) && told[0].contains("trying again in"),
        "{told:#?}"
    );
    assert_eq!((stop_reason(updates), agent_text(updates).as_str()), ("end_turn", "Hello."));
}

/// A final fault: no notice, no second try, an error with these words.
fn assert_final(updates: &[Value], words: &str) {
    assert_eq!((stop_reason(updates), notices(updates)), ("error", vec![]), "{updates:#?}");
    assert!(error(updates).contains(words), "{}", error(updates));
}

#[tokio::test]
async fn a_429_waits_as_long_as_retry_after_asks() {
    let slow_down = Reply::status(429).header("retry-after", "1");
    let (updates, waited) = turn_of(vec![slow_down, "Hello.".into()]).await;
    assert_tried_again(&updates, "slow down (429)");
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
}

#[tokio::test]
async fn retry_after_ms_beats_retry_after() {
    let slow_down = Reply::status(429).header("retry-after", "30").header("retry-after-ms", "20");
    let (updates, waited) = turn_of(vec![slow_down, "Hello.".into()]).await;
    assert_tried_again(&updates, "slow down (429)");
    assert!(waited >= Duration::from_millis(20) && waited < Duration::from_secs(20), "{waited:?}");
}

#[tokio::test]
async fn an_overloaded_and_a_broken_api_are_asked_again_after_a_growing_pause() {
    let replies = vec![Reply::status(529), Reply::status(500), "Hello.".into()];
    let (updates, waited) = turn_of(replies).await;
    let told = notices(&updates);
    assert!(told[0].contains("overloaded (529)") && told[0].contains("(1 of 8)"), "{told:#?}");
    assert!(told[1].contains("a problem (500)") && told[1].contains("(2 of 8)"), "{told:#?}");
    assert_eq!((told.len(), agent_text(&updates).as_str()), (2, "Hello."));
    assert!(waited >= Duration::from_millis(375), "{waited:?}");
}

#[tokio::test]
async fn x_should_retry_false_is_obeyed() {
    let (updates, _) = turn_of(vec![Reply::status(529).header("x-should-retry", "false")]).await;
    assert_final(&updates, "overloaded (529)");
}

#[tokio::test]
async fn x_should_retry_true_is_obeyed() {
    let (updates, _) =
        turn_of(vec![Reply::status(400).header("x-should-retry", "true"), "Hello.".into()]).await;
    assert_tried_again(&updates, "(400)");
}

#[tokio::test]
async fn a_reached_spend_limit_is_final() {
    let limit = Reply::status(429)
        .error("rate_limit_error", "You have reached your limit")
        .error_details(json!({"error_code": "enforced_spend_limit_reached"}))
        .header("retry-after", "1");
    let (updates, _) = turn_of(vec![limit]).await;
    assert_final(&updates, "spend limit is reached (429): You have reached your limit");
}

#[tokio::test]
async fn what_is_the_users_to_mend_is_final_and_says_how() {
    for (status, words) in [(401, "check ANTHROPIC_API_KEY"), (403, "(403)"), (404, "/model"), (400, "(400)")]
    {
        let (updates, _) = turn_of(vec![Reply::status(status)]).await;
        assert_final(&updates, words);
    }
}

#[tokio::test]
async fn a_fault_that_stays_ends_the_turn_when_the_tries_are_used_up() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_configured(&claude, "retries = 2").await;
    let fault = || Reply::status(503).header("retry-after-ms", "1");
    let updates = turn_against(&editor, &claude, vec![fault(), fault(), fault()]).await;
    assert_eq!((stop_reason(&updates), notices(&updates).len()), ("error", 2), "{updates:#?}");
    assert!(error(&updates).contains("(503)"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_until_somebody_listens() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    claude.stop_listening().await;
    let turn = editor.prompt(&session, "go").await;
    let notice = editor.updates_until(&session, "notice").await;
    assert!(notices(&notice)[0].contains("cannot reach http://127.0.0.1"), "{notice:#?}");
    claude.push("Hello.");
    claude.listen_again().await;
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!((agent_text(&updates).as_str(), stop_reason(&updates)), ("Hello.", "end_turn"));
    assert_eq!(updates.last().unwrap()["turnId"], turn);
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn silence_before_any_text_is_a_broken_connection() {
    for silent in [Reply::silent(), Reply::new().ping().silence()] {
        let (updates, _) = turn_of_configured(IMPATIENT, vec![silent, "Hello.".into()]).await;
        assert_tried_again(&updates, "no sign of life from the API for 2 s");
    }
}

#[tokio::test]
async fn an_error_whose_body_never_ends_is_a_fault_like_any_other() {
    let endless = Reply::status(500).endless();
    let (updates, _) = turn_of_configured(IMPATIENT, vec![endless, "Hello.".into()]).await;
    assert_tried_again(&updates, "(500)");
}

#[tokio::test]
async fn text_that_was_shown_before_a_fault_is_kept_marked_and_not_asked_for_again() {
    let begun = || Reply::says("The answer is");
    let cut = begun().sse_bytes().len() - 200;
    for (reply, config, words) in [
        (begun().silence(), IMPATIENT, "no sign of life"),
        (begun().error_event("overloaded_error", "Overloaded"), "", "Overloaded (overloaded_error)"),
        (begun().cut_after(cut), "", "the connection broke in the middle of the answer"),
        (begun().end_after(cut), "", "the connection ended in the middle of the answer"),
    ] {
        let claude = ScriptedClaude::start().await;
        let editor = ready_configured(&claude, config).await;
        let updates = turn_against(&editor, &claude, vec![reply]).await;
        assert_eq!(agent_text(&updates), "The answer is");
        assert_final(&updates, words);
        let kept = claude.requests()[1].messages()[1].clone();
        let expected = json!([
            {"type": "text", "text": "The answer is"},
            {"type": "text", "text": "[the answer was cut off here]"},
        ]);
        assert_eq!(kept["content"], expected);
        editor.shutdown().await;
        claude.finish();
    }
}

#[tokio::test]
async fn a_message_cut_before_any_text_is_asked_for_again() {
    let reply = || Reply::new().thinking("hm", "sig").text("Never seen");
    let before_text = reply().sse_bytes().windows(4).position(|window| window == b"text").unwrap() - 40;
    for (reply, words) in [
        (Reply::new().error_event("overloaded_error", "Overloaded"), "Overloaded (overloaded_error)"),
        (reply().cut_after(before_text), "the connection broke in the middle of the answer"),
        (reply().end_after(before_text), "the connection ended in the middle of the answer"),
        (reply().cut_after(0), "the connection broke"),
        (reply().end_after(0), "the connection ended"),
    ] {
        let (updates, _) = turn_of(vec![reply, "Hello.".into()]).await;
        assert_tried_again(&updates, words);
    }
}

#[tokio::test]
async fn an_answer_in_chunks_of_one_byte_is_the_same_answer() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let reply = Reply::new().thinking("hm", "sig").text("Grüße, 世界 😀").crlf().unknowns();
    let updates = turn_against(&editor, &claude, vec![reply.one_byte_chunks()]).await;
    assert_eq!((agent_text(&updates).as_str(), stop_reason(&updates)), ("Grüße, 世界 😀", "end_turn"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_frame_of_20_mb_is_refused_and_the_next_try_counts() {
    let huge = Reply::new().event("novelty", json!({"type": "novelty", "data": "x".repeat(20 << 20)}));
    let (updates, _) = turn_of(vec![huge, "Hello.".into()]).await;
    assert_tried_again(&updates, "an event of the stream is larger than 16777216 bytes");
}
