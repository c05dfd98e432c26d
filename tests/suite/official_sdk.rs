//! The official Python SDK is content with the scripted Claude. If it is not, the scripted Claude is wrong, and
//! so is every test that believes it. The scenarios are in `official_sdk.py`.

use airlock_tests::components;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::json;
use std::path::Path;
use tokio::process::Command;

/// Runs a scenario of the Python file against this Claude.
async fn sdk(scenario: &str, claude: &ScriptedClaude) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/official_sdk.py");
    let output = Command::new(components::python())
        .arg(script)
        .args([scenario, &claude.base_url()])
        .env_clear()
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("python starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the SDK is not content with `{scenario}`:\n{stderr}");
}

#[tokio::test]
async fn the_sdk_streams_text_with_its_usage() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::new().text_in(["Hel", "lo ", "wörld 🌍"]).ping().usage(11, 22).cached(33, 44));
    sdk("text", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_has_a_type_for_every_event() {
    let claude = ScriptedClaude::start().await;
    let reply = Reply::new().thinking("Hm.", "sig").text("Hello");
    claude.push(reply.tool_use("toolu_1", "weather", json!({"place": "Rome"})));
    sdk("raw_events", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_goes_through_a_loop_of_thinking_and_tools() {
    let claude = ScriptedClaude::start().await;
    let first = Reply::new()
        .thinking("Two places.", "sig-1")
        .redacted_thinking("b64")
        .text("I look.")
        .tool_use("toolu_1", "weather", json!({"place": "Köln"}))
        .tool_use("toolu_2", "weather", json!({"place": "Rome"}));
    claude.push(first).on("toolu_2", "It rains.");
    sdk("tool_loop", &claude).await;
    airlock_tests::scripted_claude::assert_append_only(&claude.requests());
    claude.finish();
}

#[tokio::test]
async fn the_sdk_reads_an_answer_that_is_not_streamed() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("Hello").tool_use("toolu_1", "weather", json!({"place": "Rome"})));
    sdk("whole", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_reads_a_stream_byte_by_byte() {
    let claude = ScriptedClaude::start().await;
    let reply = Reply::says("wörld 🌍").tool_use("toolu_1", "weather", json!({"place": "Köln"}));
    claude.push(reply.one_byte_chunks());
    sdk("one_byte_chunks", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_passes_over_what_it_does_not_know() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("Hello").unknowns().crlf());
    sdk("unknowns", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_raises_an_error_in_the_middle_of_a_stream() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("half").error_event("overloaded_error", "Overloaded"));
    sdk("mid_stream_error", &claude).await;
    claude.push(Reply::says("half of it").cut_after(600));
    sdk("cut", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_raises_the_typed_error_of_each_status() {
    let claude = ScriptedClaude::start().await;
    let spent = json!({"error_code": "enforced_spend_limit_reached"});
    claude.require_key("key").replies([
        Reply::status(429).header("retry-after", "7"),
        Reply::status(429).error_details(spent),
        Reply::status(529),
        Reply::status(500),
    ]);
    sdk("errors", &claude).await;
    claude.finish();
}

#[tokio::test]
async fn the_sdk_is_told_of_an_invalid_history() {
    let claude = ScriptedClaude::start().await;
    sdk("invalid_history", &claude).await;
    assert_eq!(claude.take_problems().len(), 1);
    claude.finish();
}

#[tokio::test]
async fn the_sdk_reads_the_models() {
    let claude = ScriptedClaude::start().await;
    claude.model("claude-sonnet-5").context(20_000);
    sdk("models", &claude).await;
    claude.finish();
}
