//! The scripted Claude refuses what the API refuses, and fails a test that goes off its script.

use crate::http::{Http, conversation, error_of, question, read};
use airlock_tests::scripted_claude::ScriptedClaude;
use serde_json::{Value, json};

/// Sends each body and expects a 400 whose message holds the text beside it.
async fn all_refused(cases: Vec<(Value, &str)>) {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    let count = cases.len();
    for (body, expected) in cases {
        let (status, error) = http.refused(&body).await;
        assert_eq!((status, &error["type"]), (400, &json!("invalid_request_error")), "{body}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(expected), "{body}\nexpected {expected:?}, got {message:?}");
    }
    assert_eq!(claude.take_problems().len(), count, "each is noted as a problem");
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

fn assistant(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

/// A history that begins with a question.
fn after_question(rest: &[Value]) -> Value {
    let mut messages = vec![user(&[text("hi")])];
    messages.extend_from_slice(rest);
    conversation(json!(messages))
}

#[tokio::test]
async fn calls_and_results_must_pair() {
    let unanswered = "without `tool_result` blocks immediately after: toolu_2";
    let orphan = "unexpected `tool_use_id`";
    all_refused(vec![
        (
            after_question(&[assistant(&[call("toolu_1"), call("toolu_2")]), user(&[result("toolu_1")])]),
            unanswered,
        ),
        (after_question(&[assistant(&[call("toolu_2")]), user(&[text("and?")])]), unanswered),
        (conversation(json!([user(&[result("toolu_1")])])), orphan),
        (
            after_question(&[assistant(&[call("toolu_1")]), user(&[result("toolu_1"), result("toolu_1")])]),
            orphan,
        ),
        (
            after_question(&[assistant(&[call("toolu_1")]), user(&[text("so"), result("toolu_1")])]),
            "must come first",
        ),
        (
            after_question(&[
                assistant(&[call("toolu_1")]),
                user(&[result("toolu_1")]),
                assistant(&[call("toolu_1")]),
                user(&[result("toolu_1")]),
            ]),
            "ids must be unique",
        ),
        (after_question(&[assistant(&[text("I think")])]), "must end with a user message"),
    ])
    .await;
}

#[tokio::test]
async fn blocks_must_be_well_formed() {
    let answered = |block: Value| after_question(&[assistant(&[block]), user(&[text("go on")])]);
    all_refused(vec![
        (conversation(json!([])), "at least one message"),
        (conversation(json!([assistant(&[text("hi")])])), "first message must use"),
        (question(""), "non-empty"),
        (question(" \n"), "non-whitespace"),
        (conversation(json!([user(&[])])), "non-empty content"),
        (conversation(json!([user(&[json!({"text": "hi"})])])), "type: Field required"),
        (conversation(json!([user(&[json!({"type": "novelty"})])])), "expected tags"),
        (conversation(json!([user(&[call("toolu_1")])])), "not permitted in user"),
        (answered(json!({"type": "text", "text": "a", "index": 0})), "index: Extra inputs"),
        (answered(json!({"type": "thinking", "thinking": "hm", "signature": ""})), "signature"),
        (answered(json!({"type": "thinking", "thinking": "hm"})), "signature"),
        (answered(json!({"type": "tool_use", "id": "t", "name": "bash", "input": "{}"})), "dictionary"),
    ])
    .await;
}

#[tokio::test]
async fn tools_and_limits_must_be_such_that_the_api_takes_them() {
    let with = |field: &str, value: Value| {
        let mut body = question("hi");
        body[field] = value;
        body
    };
    let tool = |name: &str, schema: Value| json!({"name": name, "input_schema": schema});
    let object = json!({"type": "object"});
    all_refused(vec![
        (with("tools", json!([tool("a b", object.clone())])), "pattern"),
        (with("tools", json!([tool("a", object.clone()), tool("a", object.clone())])), "unique"),
        (with("tools", json!([tool("a", json!({}))])), "must be `object`"),
        (with("tools", json!([tool("a", json!({"type": "object", "anyOf": []}))])), "anyOf at the top"),
        (with("max_tokens", json!(0)), "max_tokens"),
        (with("max_tokens", Value::Null), "max_tokens"),
        (with("system", json!([text("")])), "system.0.text"),
        (with("reasoning", json!(true)), "reasoning: Extra inputs"),
    ])
    .await;
}

#[tokio::test]
async fn results_may_come_in_any_order_and_in_neighbouring_messages() {
    let claude = ScriptedClaude::start().await;
    claude.push("fine");
    let body = after_question(&[
        assistant(&[text("Let me see"), call("toolu_1"), call("toolu_2")]),
        user(&[result("toolu_2")]),
        user(&[result("toolu_1"), text("and be quick")]),
    ]);
    let response = Http::of(&claude).post(&body).await.expect("headers");
    assert_eq!(response.status(), 200);
    read(response).await;
    claude.finish();
}

#[tokio::test]
async fn thinking_must_come_back_as_it_was_sent() {
    use airlock_tests::scripted_claude::Reply;
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    let reply = Reply::new().thinking("deep", "sig-1").text("so");
    claude.push(reply.clone()).push("good");
    read(http.post(&question("hi")).await.expect("headers")).await;
    let mut content = reply.content();
    let back = |content: &[Value]| after_question(&[assistant(content), user(&[text("go on")])]);
    assert_eq!(http.post(&back(&content)).await.expect("headers").status(), 200);
    content[0]["thinking"] = "shallow".into();
    let (status, error) = http.refused(&back(&content)).await;
    assert!(status == 400 && error["message"].as_str().is_some_and(|why| why.contains("cannot be modified")));
    assert_eq!(claude.take_problems().len(), 1);
}

#[tokio::test]
async fn a_pause_lets_the_conversation_end_with_the_assistant() {
    use airlock_tests::scripted_claude::Reply;
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    claude.replies([Reply::says("wait").stop("pause_turn"), Reply::says("done")]);
    read(http.post(&question("hi")).await.expect("headers")).await;
    let again = after_question(&[assistant(&[text("wait")])]);
    assert_eq!(http.post(&again).await.expect("headers").status(), 200);
    claude.finish();
}

#[tokio::test]
async fn keys_versions_and_models_are_checked() {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    let version = ("anthropic-version", "2023-06-01");
    let no_key = http.post_with(&question("hi"), &[version]).await.expect("headers");
    assert_eq!(error_of(no_key).await.0, 401);
    let no_version = http.post_with(&question("hi"), &[("x-api-key", "key")]).await.expect("headers");
    assert_eq!(error_of(no_version).await.0, 400);
    assert_eq!(claude.take_problems().len(), 1, "a user may lack a key, a client always knows the version");
    claude.require_key("sesame");
    let wrong = http.post_with(&question("hi"), &[version, ("x-api-key", "open")]).await.expect("headers");
    assert_eq!(error_of(wrong).await.1["type"], "authentication_error");

    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    let mut unknown = question("hi");
    unknown["model"] = "claude-none".into();
    assert_eq!(http.refused(&unknown).await.0, 404);
    claude.model("claude-sonnet-5").context(100);
    let (status, error) = http.refused(&question(&"long ".repeat(200))).await;
    assert!(status == 400 && error["message"].as_str().is_some_and(|why| why.contains("too long")));
    assert_eq!(claude.requests().len(), 2);
}

#[tokio::test]
#[should_panic = "no reply is scripted"]
async fn an_unscripted_request_fails_the_test() {
    let claude = ScriptedClaude::start().await;
    let (status, error) = Http::of(&claude).refused(&question("hi")).await;
    assert_eq!(status, 500);
    assert!(error["message"].as_str().is_some_and(|why| why.contains("no reply is scripted")));
}

#[tokio::test]
#[should_panic = "never asked for"]
async fn a_reply_that_nobody_asked_for_fails_the_test_that_finishes() {
    let claude = ScriptedClaude::start().await;
    claude.push("unheard");
    claude.finish();
}
