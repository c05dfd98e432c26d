//! Turns over LSP: the real binary, the scripted Claude.

use crate::world::{error, next_prompt_works, ready, stop_reason};
use airlock_tests::editor::{agent_text, kinds};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude, assert_append_only};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn a_chain_of_three_tool_calls_is_told_in_order_and_answered_in_one_message_each() {
    let claude = ScriptedClaude::start().await;
    let two = Reply::new().text("Looking.").tool_use("toolu_1", "list_files", json!({}));
    claude
        .push(two.tool_use("toolu_2", "read_file", json!({"path": "a"})))
        .push(Reply::calls("toolu_3", "bash", json!({"command": "ls"})))
        .push(Reply::new().thinking("hm", "sig").tool_use("toolu_4", "bash", json!({"command": "pwd"})))
        .push("Done.");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "go").await;
    let call = ["tool_call", "usage", "tool_call_update", "tool_call_update"];
    let first = ["agent_message_chunk", "tool_call", "tool_call", "usage"];
    let results = ["tool_call_update"; 4];
    let expected = [
        &first[..],
        &results,
        &call,
        &["agent_thought_chunk"],
        &call,
        &["agent_message_chunk", "usage", "turn_end"],
    ]
    .concat();
    assert_eq!(kinds(&updates), expected);
    assert_eq!(agent_text(&updates), "Looking.Done.");
    let requests = claude.requests();
    assert_append_only(&requests);
    let ids = |message: &Value| -> Vec<String> {
        let content = message["content"].as_array().unwrap();
        content
            .iter()
            .map(|block| block["tool_use_id"].as_str().unwrap_or("not a result").to_owned())
            .collect()
    };
    assert_eq!(ids(&requests[1].messages()[2]), ["toolu_1", "toolu_2"], "both results in one message");
    assert_eq!(ids(&requests[2].messages()[4]), ["toolu_3"]);
    assert_eq!(ids(&requests[3].messages()[6]), ["toolu_4"]);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_answer_of_thinking_alone_spoils_nothing() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::new().thinking("hm", "sig")).push(Reply::says("So").thinking("hm", "sig2"));
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    for _ in 0..2 {
        assert_eq!(stop_reason(&editor.turn(&session, "go").await), "end_turn");
    }
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_prompt_that_says_nothing_is_refused_and_spoils_nothing() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    for nothing in ["", " \n\t"] {
        let updates = editor.turn(&session, nothing).await;
        assert_eq!(
            (stop_reason(&updates), error(&updates)),
            ("error", "the prompt is empty: say what to do")
        );
    }
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}
