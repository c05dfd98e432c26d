//! What a client can send that is no LSP, or not at that time: answered as the protocol says, and life goes on.

use crate::desk::{ready, stop_reason};
use airlock_tests::editor::{Editor, EditorOptions};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

#[tokio::test]
async fn whatever_comes_before_it_a_good_request_is_answered() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let cases: [(&str, Vec<u8>, i64); 10] = [
        ("bad JSON", frame(b"{\"jsonrpc\": \"2.0\", \"id\": 1, "), -32700),
        ("invalid UTF-8", frame(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}"), -32700),
        ("an empty batch", frame(b"[]"), -32600),
        ("a batch", frame(b"[{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}]"), -32600),
        ("a number", frame(b"42"), -32600),
        ("an empty body", frame(b""), -32700),
        ("no header", b"hello, is this the language server?\r\n\r\n".to_vec(), -32700),
        ("a huge length", b"Content-Length: 99999999999\r\n\r\n{}".to_vec(), -32700),
        ("a length of more than 4 GB", b"Content-Length: 4294967297\r\n\r\n{}".to_vec(), -32700),
        ("a length that is none", b"Content-Length: -5\r\n\r\n{}".to_vec(), -32700),
    ];
    for (name, bytes, code) in cases {
        editor.send_raw(bytes);
        let list = editor.expect("airlock/session/list", json!({})).await;
        assert_eq!(list["sessions"], json!([]), "after {name}");
        let of_nobody = |message: &Value| message["id"].is_null() && message.get("error").is_some();
        let refusal = editor.next(&format!("an answer to {name}"), of_nobody).await;
        assert_eq!(refusal["error"]["code"], code, "{name}: {refusal}");
        assert_eq!(editor.unread(), Vec::<Value>::new(), "{name} is answered once");
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn a_frame_above_the_limit_is_skipped_and_the_next_is_read() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let body = vec![b' '; (64 << 20) + 1];
    editor.send_raw(frame(&body));
    editor.expect("airlock/session/list", json!({})).await;
    let refusal = editor.next("a refusal", |message| message.get("error").is_some()).await;
    assert!(refusal["error"]["message"].as_str().unwrap().contains("longer than the limit"), "{refusal}");
    editor.shutdown().await;
}

#[tokio::test]
async fn nothing_is_done_before_initialize_or_after_shutdown() {
    let claude = ScriptedClaude::start().await;
    let mut editor = Editor::start(EditorOptions::new(&claude));
    for method in ["airlock/session/new", "textDocument/codeAction", "workspace/executeCommand", "shutdown"] {
        let refused = editor.request(method, json!({})).await.unwrap_err();
        assert_eq!(refused["code"], -32002, "{method}: {refused}");
    }
    editor.open(&editor.home().file_uri("early.txt"), "ignored");
    editor.initialize().await;
    let again = editor.request("initialize", json!({"capabilities": {}})).await.unwrap_err();
    assert_eq!(again["code"], -32600, "{again}");
    let session = editor.new_session().await;
    editor.expect("shutdown", Value::Null).await;
    let prompt = json!({"sessionId": session, "text": "hi"});
    for (method, params) in [("airlock/session/prompt", prompt), ("airlock/session/new", json!({}))] {
        let refused = editor.request(method, params).await.unwrap_err();
        assert_eq!(refused["code"], -32600, "{method}: {refused}");
    }
    editor.notify("exit", Value::Null);
    assert!(editor.exit_status().await.success());
}

#[tokio::test]
async fn exit_without_shutdown_is_an_error_status() {
    let claude = ScriptedClaude::start().await;
    let mut editor = ready(&claude).await;
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_status().await.code(), Some(1));
}

#[tokio::test]
async fn unknown_methods_and_wrong_types_are_refused_by_their_kind() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    for method in ["airlock/session/fly", "$/nonsense", "", "initialize/"] {
        let refused = editor.request(method, json!({})).await.unwrap_err();
        assert_eq!(refused["code"], -32601, "{method:?}: {refused}");
    }
    for (method, params) in [
        ("airlock/session/prompt", json!({})),
        ("airlock/session/prompt", json!({"sessionId": 7, "text": "x"})),
        ("airlock/session/prompt", json!({"sessionId": "s", "text": ["x"]})),
        ("airlock/session/prompt", json!({"sessionId": "s", "text": "x", "context": [{"uri": 1}]})),
        ("airlock/session/new", json!({"folder": 3})),
        ("airlock/session/load", json!("nope")),
        ("textDocument/codeAction", json!({"range": 1})),
        ("workspace/executeCommand", json!([])),
    ] {
        let refused = editor.request(method, params.clone()).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{method} {params}: {refused}");
    }
    // Notifications have no answer, whatever is wrong with them.
    for (method, params) in [
        ("airlock/session/cancel", json!({})),
        ("airlock/session/fly", json!({})),
        ("textDocument/didOpen", json!({"textDocument": 3})),
        ("textDocument/didChange", json!(null)),
        ("window/workDoneProgress/cancel", json!({"token": []})),
        ("$/setTrace", json!({"value": "off"})),
    ] {
        editor.notify(method, params);
    }
    // Nor have answers to what was never asked, and the end of what was never begun.
    for id in [json!(4711), json!("nobody"), json!(null)] {
        editor.send_raw(frame(
            json!({"jsonrpc": "2.0", "id": id, "result": {"optionId": "x"}}).to_string().as_bytes(),
        ));
        editor.notify("$/cancelRequest", json!({"id": id}));
    }
    editor.expect("airlock/session/list", json!({})).await;
    editor.shutdown().await;
}

#[tokio::test]
async fn documents_that_are_changed_badly_do_no_harm() {
    let claude = ScriptedClaude::start().await;
    claude.push("ok");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let uri = editor.home().file_uri("a.txt");
    editor.change(&uri, 1, json!([{"text": "changed before it was open"}]));
    editor.open(&uri, "a😀b\n");
    let far = json!({"line": 4_294_967_295_u32, "character": 4_294_967_295_u32});
    let inside = json!({"line": 0, "character": 2});
    let start = json!({"line": 0, "character": 0});
    for (version, range, text) in [
        (2, json!({"start": far, "end": far}), "end"),
        // Inside a surrogate pair: before the character.
        (3, json!({"start": inside, "end": inside}), "X"),
        // Backwards, and with a version that does not rise.
        (1, json!({"start": {"line": 0, "character": 1}, "end": start}), "A"),
    ] {
        editor.change(&uri, version, json!([{"range": range, "text": text}]));
    }
    let other = editor.home().file_uri("never.txt");
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": other}}));
    let params = json!({"sessionId": session, "text": "look", "context": [{"uri": uri}]});
    editor.expect("airlock/session/prompt", params).await;
    editor.updates_until_turn_end(&session).await;
    let words = claude.requests()[0].last_user_text();
    assert!(words.contains(">\nAX😀b\nend\n</context>"), "{words}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_goes_away_ends_the_process_with_histories_whole() {
    let claude = ScriptedClaude::start().await;
    claude.push("kept").push(Reply::says("half").silence());
    let mut editor = ready(&claude).await;
    let home = editor.home().clone();
    let (quiet, busy) = (editor.new_session().await, editor.new_session().await);
    editor.turn(&quiet, "one").await;
    editor.prompt(&busy, "two").await;
    editor.updates_until(&busy, "agent_message_chunk").await;
    editor.ignore("airlock/session/update");
    let closed = Instant::now();
    editor.close_stdin();
    assert!(editor.exit_status().await.success());
    assert!(closed.elapsed() < Duration::from_secs(5), "{:?}", closed.elapsed());
    drop(editor);

    claude.push("again");
    let editor = crate::desk::ready_in(&claude, &home).await;
    for (session, words) in [(&quiet, "one"), (&busy, "two")] {
        editor.expect("airlock/session/load", json!({"sessionId": session})).await;
        let replayed = editor.updates_until(session, "usage").await;
        assert_eq!(replayed[0]["text"], words);
    }
    assert_eq!(stop_reason(&editor.turn(&busy, "go on").await), "end_turn");
    editor.shutdown().await;
    claude.finish();
}
