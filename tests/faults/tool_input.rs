//! Tool calls that cannot be run: each gets an error as its result, and the history stays one that the API accepts.

use crate::world::{call_updates, next_prompt_works, notices, ready, stop_reason};
use airlock_tests::editor::agent_text;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A turn in which the model makes this call and hears of its result. Gives the updates, the call as the API got it
/// back, and the result.
async fn turn_with(call: Reply) -> (Vec<Value>, Value, Value) {
    let claude = ScriptedClaude::start().await;
    claude.push(call).push("I see.");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "go").await;
    assert_eq!((stop_reason(&updates), agent_text(&updates).as_str()), ("end_turn", "I see."));
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    let messages = claude.requests()[1].messages().to_vec();
    claude.finish();
    (updates, messages[1]["content"][0].clone(), messages[2]["content"][0].clone())
}

fn assert_refused(updates: &[Value], result: &Value, words: &str) {
    assert_eq!(result["is_error"], true);
    let told = result["content"][0]["text"].as_str().unwrap();
    assert!(told.contains(words), "{told}");
    let shown = call_updates(updates);
    assert_eq!(
        shown.last().unwrap(),
        &("toolu_1", "failed", told),
        "the user is told what the model is told"
    );
}

#[tokio::test]
async fn input_that_is_no_json_is_an_error_result() {
    let call = Reply::new().tool_use_in("toolu_1", "bash", ["", "{\"command\": ", "ls"]);
    let (updates, back, result) = turn_with(call).await;
    assert_refused(&updates, &result, "the input was not valid JSON");
    assert_eq!(back["input"], json!({"not_json": "{\"command\": ls"}));
}

#[tokio::test]
async fn input_of_the_wrong_type_is_an_error_result() {
    for input in [json!({"command": 7}), json!({}), json!({"command": "ls", "colour": "red"})] {
        let (updates, back, result) = turn_with(Reply::calls("toolu_1", "bash", input.clone())).await;
        assert_refused(&updates, &result, "does not fit the tool's schema");
        assert_eq!(back["input"], input);
    }
    let (updates, back, result) = turn_with(Reply::calls("toolu_1", "bash", json!(["ls"]))).await;
    assert_refused(&updates, &result, "must be a JSON object");
    assert!(back["input"].is_object());
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_result_that_names_those_there_are() {
    let (updates, _, result) = turn_with(Reply::calls("toolu_1", "teleport", json!({"to": "Mars"}))).await;
    assert_refused(&updates, &result, "there is no tool \"teleport\"; there are bash, read_file");
}

#[tokio::test]
async fn input_of_5_mb_is_an_error_result_and_is_not_carried_along() {
    let call = Reply::calls("toolu_1", "bash", json!({"command": "x".repeat(5 << 20)}));
    let (updates, back, result) = turn_with(call).await;
    assert_refused(&updates, &result, "larger than 1048576 bytes");
    assert!(back.to_string().len() < 1000);
}

#[tokio::test]
async fn a_call_that_was_cut_by_max_tokens_is_not_run_and_leaves_no_call_behind() {
    let claude = ScriptedClaude::start().await;
    let whole = Reply::says("Writing.").tool_use("toolu_1", "bash", json!({"command": "ls"}));
    claude.push(whole.tool_use_in("toolu_2", "write_file", ["{\"path\": \"a\", \"cont"]).stop("max_tokens"));
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "go").await;
    assert_eq!(stop_reason(&updates), "max_tokens");
    assert_eq!(notices(&updates), ["warning: the answer was cut at the output limit (MAX_TOKENS)"]);
    assert!(call_updates(&updates).iter().all(|(_, status, _)| *status == "failed"), "{updates:#?}");
    next_prompt_works(&editor, &claude, &session).await;
    let kept = claude.requests()[1].messages()[1]["content"].clone();
    assert_eq!(kept[0]["text"], "Writing.");
    assert!(kept.as_array().unwrap().iter().all(|block| block["type"] == "text"), "{kept}");
    editor.shutdown().await;
    claude.finish();
}
