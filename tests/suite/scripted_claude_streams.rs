//! The scripted Claude sends what the script says, when it says so, and breaks where it says so.

use crate::http::{Http, error_of, question, read};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use futures::StreamExt;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// The events of a stream: names and data.
fn events(bytes: &[u8]) -> Vec<(String, Value)> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    text.split("\n\n")
        .filter(|frame| !frame.is_empty())
        .map(|frame| {
            let (name, data) = frame.split_once('\n').expect("two lines");
            let data = data.strip_prefix("data: ").expect("a data line");
            let name = name.strip_prefix("event: ").expect("an event line");
            (name.to_owned(), serde_json::from_str(data).expect("JSON"))
        })
        .collect()
}

#[test]
fn the_events_are_those_of_the_api_in_its_order() {
    let reply = Reply::new()
        .thinking("Hm.", "sig")
        .text_in(["Hel", "lo"])
        .tool_use("toolu_1", "bash", json!({"a": 1}))
        .usage(7, 9)
        .cached(3, 4);
    let events = events(&reply.sse_bytes());
    let seen: Vec<String> = events
        .iter()
        .map(|(name, data)| {
            assert_eq!(data["type"], name.as_str());
            let kind = data["delta"]["type"].as_str().or(data["content_block"]["type"].as_str());
            [Some(name.as_str()), kind].into_iter().flatten().collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(
        seen,
        [
            "message_start",
            "content_block_start thinking",
            "ping",
            "content_block_delta thinking_delta",
            "content_block_delta signature_delta",
            "content_block_stop",
            "content_block_start text",
            "content_block_delta text_delta",
            "content_block_delta text_delta",
            "content_block_stop",
            "content_block_start tool_use",
            "content_block_delta input_json_delta",
            "content_block_delta input_json_delta",
            "content_block_delta input_json_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(events[0].1["message"]["usage"]["output_tokens"], 1);
    assert_eq!(events[11].1["delta"]["partial_json"], "");
    let end = &events[15].1;
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(
        end["usage"],
        json!({"input_tokens": 7, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 9})
    );
}

#[tokio::test]
async fn nothing_behind_a_gate_is_sent_before_it_opens() {
    let claude = ScriptedClaude::start().await;
    let gate = Gate::new();
    claude.push(Reply::says("before").gate(&gate).more("behind"));
    let response = Http::of(&claude).post(&question("hi")).await.expect("headers");
    gate.reached().await;
    let mut stream = response.bytes_stream();
    let mut got = Vec::new();
    while !String::from_utf8_lossy(&got).contains("before") {
        got.extend_from_slice(&stream.next().await.expect("a chunk").expect("no error"));
    }
    assert!(!String::from_utf8_lossy(&got).contains("behind"));
    let mut rest = Box::pin(stream.next());
    assert!(futures::poll!(&mut rest).is_pending());
    gate.open();
    assert!(String::from_utf8_lossy(&rest.await.expect("a chunk").expect("no error")).contains("behind"));
    claude.finish();
}

#[tokio::test]
async fn a_cut_stream_ends_in_an_error_after_exactly_so_many_bytes() {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    let whole = Reply::says("Hello, world").sse_bytes().len();
    for bytes in [0, 1, 100, whole - 1, whole] {
        claude.push(Reply::says("Hello, world").cut_after(bytes));
        let (chunks, well) = read(http.post(&question("hi")).await.expect("headers")).await;
        assert!(!well, "the end must be an error");
        assert_eq!(chunks.concat().len(), bytes);
    }
    claude.finish();
}

#[tokio::test]
async fn a_stream_can_end_cleanly_before_its_message_does() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("Hello").end_after(50));
    let (chunks, well) = read(Http::of(&claude).post(&question("hi")).await.expect("headers")).await;
    assert!(well);
    assert_eq!(chunks.concat().len(), 50);
    claude.finish();
}

#[tokio::test]
async fn one_byte_chunks_are_chunks_of_one_byte() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("ä").one_byte_chunks());
    let (chunks, well) = read(Http::of(&claude).post(&question("hi")).await.expect("headers")).await;
    assert!(well && chunks.iter().all(|chunk| chunk.len() == 1));
    assert_eq!(events(&chunks.concat()).last().expect("events").0, "message_stop");
    claude.finish();
}

#[tokio::test]
async fn silence_lasts_until_the_client_hangs_up() {
    let claude = ScriptedClaude::start().await;
    claude.replies([Reply::silent(), Reply::says("a").silence()]);
    let http = Http::of(&claude);
    let silent = http.post(&question("hi")).await.expect("headers");
    let mut body = silent.bytes_stream();
    assert!(futures::poll!(body.next()).is_pending());
    drop(body);
    claude.wait_for_hangups(1).await;
    let half = http.post(&question("hi")).await.expect("headers");
    let mut body = half.bytes_stream();
    body.next().await.expect("message_start").expect("no error");
    drop(body);
    claude.wait_for_hangups(2).await;
    claude.finish();
}

#[tokio::test]
async fn a_held_reply_sends_no_status_line_and_notices_a_client_that_leaves() {
    let claude = ScriptedClaude::start().await;
    let gate = Gate::new();
    claude.push(Reply::says("late").hold(&gate));
    let http = Http::of(&claude);
    let asked = tokio::spawn(async move { http.post(&question("hi")).await });
    gate.reached().await;
    assert!(!asked.is_finished());
    asked.abort();
    claude.wait_for_hangups(1).await;
    claude.finish();
}

#[tokio::test]
async fn faults_have_the_status_headers_and_body_of_the_api() {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    claude.push(Reply::status(429).header("retry-after", "1").error_details(json!({"error_code": "x"})));
    let response = http.post(&question("hi")).await.expect("headers");
    assert_eq!(response.headers()["retry-after"], "1");
    let (status, error) = error_of(response).await;
    assert_eq!((status, &error["type"]), (429, &json!("rate_limit_error")));
    assert_eq!(error["details"]["error_code"], "x");
    claude.push(Reply::status(529));
    assert_eq!(http.refused(&question("hi")).await.1["type"], "overloaded_error");
    claude.push(Reply::says("half").error_event("overloaded_error", "Overloaded").text("never"));
    let (chunks, well) = read(http.post(&question("hi")).await.expect("headers")).await;
    let events = events(&chunks.concat());
    let (name, data) = events.last().expect("events");
    assert!(well && name == "error" && data["error"]["type"] == "overloaded_error", "{events:?}");
    claude.finish();
}

#[tokio::test]
async fn a_stopped_server_refuses_connections_until_it_listens_again() {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    claude.push("first");
    read(http.post(&question("hi")).await.expect("headers")).await;
    claude.stop_listening().await;
    assert!(http.post(&question("hi")).await.expect_err("refused").is_connect());
    claude.listen_again().await;
    claude.push("second");
    read(http.post(&question("hi")).await.expect("headers")).await;
    claude.finish();
}

#[tokio::test]
async fn replies_go_to_the_requests_that_they_are_scripted_for() {
    let claude = ScriptedClaude::start().await;
    let http = Http::of(&claude);
    claude.on("beta", "for beta").on("alpha", "for alpha").push("for anyone");
    for (asked, answered) in [("alpha", "for alpha"), ("alpha", "for anyone"), ("beta", "for beta")] {
        let (chunks, _) = read(http.post(&question(asked)).await.expect("headers")).await;
        assert!(String::from_utf8_lossy(&chunks.concat()).contains(answered), "{asked}");
    }
    assert_eq!(claude.requests_of("alpha").len(), 2);
    claude.finish();
}

#[test]
fn unknown_things_are_sprinkled_only_when_asked_for() {
    let plain = String::from_utf8(Reply::says("x").sse_bytes().to_vec()).expect("UTF-8");
    let noisy = String::from_utf8(Reply::says("x").unknowns().crlf().sse_bytes().to_vec()).expect("UTF-8");
    assert!(!plain.contains("novelty") && !plain.contains('\r'));
    assert!(noisy.contains("event: novelty\r\n") && noisy.contains("novelty_delta"));
}
