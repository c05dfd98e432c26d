//! The network to the API misbehaves behind a proxy which the test holds: what passes is told once and tried again, what
//! does not is said with what to do, and the key goes nowhere else.

use crate::world::{configured, error, next_prompt_works, notices, ready_with, stop_reason};
use airlock_tests::echo_server::EchoServer;
use airlock_tests::editor::{EditorOptions, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::unruly::{Trouble, UnrulyNetwork};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// A page of a network that wants a login.
const LOGIN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\nContent-Length: 26\r\n\r\n\
                     <html>Please log in</html>";

/// An answer whose first line never ends.
const DRIP: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nevent: message_start\ndata: ";

/// A turn in which the first request meets this trouble; then the next prompt must work.
async fn turn_through(trouble: Trouble, config: &str) -> Vec<Value> {
    let claude = ScriptedClaude::start().await;
    let network = UnrulyNetwork::to(&claude);
    let options = EditorOptions::with_base_url(&network.base_url()).home(&configured(config));
    let editor = ready_with(options).await;
    let session = editor.new_session().await;
    // These are heard, and their answers are lost.
    if matches!(trouble, Trouble::CutAfter(_) | Trouble::ResetAfter(_)) {
        claude.push("This is lost.");
    }
    network.trouble(trouble, 1);
    if !config.contains("retries = 0") {
        claude.push("Hello.");
    }
    let updates = editor.turn(&session, "go").await;
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
    updates
}

#[tokio::test]
async fn what_the_network_does_once_is_told_once_and_tried_again() {
    for (trouble, words) in [
        (Trouble::HangUp, "cannot reach http://127.0.0.1:"),
        (Trouble::CutAfter(0), "cannot reach http://127.0.0.1:"),
        (Trouble::ResetAfter(0), "cannot reach http://127.0.0.1:"),
        (Trouble::CutAfter(30), "cannot reach http://127.0.0.1:"),
        (Trouble::ResetAfter(30), "cannot reach http://127.0.0.1:"),
        (Trouble::CutAfter(300), "the connection broke in the middle of the answer"),
        (Trouble::ResetAfter(300), "the connection broke in the middle of the answer"),
        (Trouble::garbage(), "cannot reach http://127.0.0.1:"),
        (Trouble::Answer(LOGIN.to_owned()), "answered with a web page: is there a login page"),
        (Trouble::Silence, "does not answer"),
        (Trouble::Drip(DRIP.to_owned()), "no sign of life from the API for 2 s"),
    ] {
        let updates = turn_through(trouble.clone(), "stream_silence_s = 2").await;
        assert_eq!(
            (stop_reason(&updates), agent_text(&updates).as_str()),
            ("end_turn", "Hello."),
            "{trouble:?}"
        );
        let told = notices(&updates);
        assert_eq!(told.len(), 1, "{trouble:?}: {told:#?}");
        let said = told[0].starts_with("warning: ")
            && told[0].contains(words)
            && told[0].contains("trying again in");
        assert!(said, "{trouble:?}: {told:#?}");
    }
}

#[tokio::test]
async fn what_stays_wrong_ends_the_turn_with_the_reason() {
    for (trouble, words) in [
        (Trouble::HangUp, "cannot reach http://127.0.0.1:"),
        (Trouble::garbage(), "cannot reach http://127.0.0.1:"),
        (Trouble::Answer(LOGIN.to_owned()), "Check ANTHROPIC_BASE_URL"),
    ] {
        let updates = turn_through(trouble.clone(), "retries = 0").await;
        assert_eq!(stop_reason(&updates), "error", "{trouble:?}");
        assert!(error(&updates).contains(words), "{trouble:?}: {}", error(&updates));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_whoever_is_there_hears_nothing() {
    let other = EchoServer::start().await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("{}/echo", other.origin());
        let head = format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nConnection: close");
        let redirect = Trouble::Answer(format!("{head}\r\nContent-Length: 0\r\n\r\n"));
        let updates = turn_through(redirect, "retries = 0").await;
        let said = error(&updates);
        assert!(said.contains(&location) && said.contains("check ANTHROPIC_BASE_URL"), "{status}: {said}");
        assert!(other.asked().is_empty(), "{status}: {:?}", other.asked());
    }
}

#[tokio::test]
async fn an_api_that_speaks_no_tls_gets_no_key() {
    let claude = ScriptedClaude::start().await;
    let url = claude.base_url().replace("http://", "https://");
    let editor = ready_with(EditorOptions::with_base_url(&url).home(&configured("retries = 0"))).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "go").await;
    assert!(error(&updates).contains(&format!("cannot reach {url}")), "{}", error(&updates));
    assert!(claude.requests().is_empty());
    editor.shutdown().await;
    claude.finish();
}
