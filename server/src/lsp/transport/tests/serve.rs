//! One response a request, in whatever order and after whatever else came; and a proper end.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::serve::Ended;
use super::editor::{Editor, notification, request, settle};
use crate::limits::{LSP_NOTIFICATIONS_IN_WORK_MAX, LSP_REQUESTS_IN_WORK_MAX};

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test(start_paused = true)]
async fn a_bad_frame_is_answered_and_so_is_the_good_request_after_it() {
    let mut editor = Editor::ready().await;
    let bad_frames: [&[u8]; 6] = [
        b"Content-Length: 1\r\n\r\n{",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n\xff\xff",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: ?\r\n\r\n{}",
        b"nonsense",
    ];
    for (id, bad) in (1..).zip(bad_frames) {
        editor.send_raw(bad).await;
        editor.send(&request(id, "test/echo", json!("good"))).await;
        assert_eq!(editor.answer(id).await["result"], "good", "{bad:?}");
        // It has the id null, which our own decoder would not take from a client.
        assert!(editor.next().await["unreadable"].is_string(), "{bad:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_has_one_response_and_the_server_goes_on() {
    let mut editor = Editor::ready().await;
    editor.send(&notification("initialized", json!({}))).await;
    editor.send(&request(1, "test/panic", json!(false))).await;
    editor.send(&request(2, "test/panic", json!(true))).await;
    for id in [1, 2] {
        let answer = editor.answer(id).await;
        assert_eq!(code(&answer), -32603);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("test/panic") && message.contains("on purpose"), "{message}");
    }
    editor.send(&request(3, "test/echo", json!([]))).await;
    assert_eq!(editor.answer(3).await["result"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_initialize_is_answered_and_another_try_may_follow() {
    let mut editor = Editor::start();
    let params = json!({"capabilities": {}, "initializationOptions": "panic"});
    editor.send(&request(1, "initialize", params)).await;
    assert_eq!(code(&editor.answer(1).await), -32603);
    editor.initialize().await;
}

#[tokio::test(start_paused = true)]
async fn requests_are_answered_in_the_order_in_which_they_are_done() {
    let mut editor = Editor::ready().await;
    for id in 0..8 {
        editor.send(&request(id, "test/wait", json!(format!("gate {id}")))).await;
    }
    for id in (0..8).rev() {
        editor.send(&notification("test/release", json!(format!("gate {id}")))).await;
        assert_eq!(editor.next().await["id"], id);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_to_follow_a_response_comes_after_it() {
    let mut editor = Editor::ready().await;
    for id in 0..50 {
        editor.send(&request(id, "test/follow", json!("after"))).await;
        assert_eq!(editor.next().await["id"], id);
        assert_eq!(editor.next().await["method"], "test/note");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_is_answered_as_cancelled() {
    let mut editor = Editor::ready().await;
    editor.send(&request(1, "test/wait", json!("never"))).await;
    editor.send(&notification("$/cancelRequest", json!({"id": 1}))).await;
    assert_eq!(code(&editor.answer(1).await), -32800);
}

async fn ten_thousand_stay_in_order() {
    let mut editor = Editor::ready().await;
    for number in 0..10_000 {
        editor.send(&notification("test/append", json!(number))).await;
    }
    editor.send(&request(1, "test/echo", json!([]))).await;
    editor.answer(1).await;
    let appended = editor.record.appended.lock().unwrap();
    assert!(appended.iter().copied().eq(0..10_000));
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_notifications_are_applied_in_order() {
    ten_thousand_stay_in_order().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_holds_on_several_threads_too() {
    ten_thousand_stay_in_order().await;
}

#[tokio::test(start_paused = true)]
async fn many_handlers_may_wait_for_the_client_at_once() {
    const HANDLERS: u64 = 64;
    let mut editor = Editor::ready().await;
    for id in 0..HANDLERS {
        editor.send(&request(id, "test/ask", json!(format!("section {id}")))).await;
    }
    let mut asked = Vec::new();
    for _ in 0..HANDLERS {
        asked.push(editor.next().await);
    }
    for question in asked.into_iter().rev() {
        assert_eq!(question["method"], "workspace/configuration");
        let section = &question["params"]["items"][0]["section"];
        editor.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": [section]})).await;
    }
    for id in 0..HANDLERS {
        assert_eq!(editor.answer(id).await["result"], format!("section {id}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_too_many_is_refused_and_a_shutdown_still_taken() {
    let mut editor = Editor::ready().await;
    let in_work = LSP_REQUESTS_IN_WORK_MAX;
    for id in 0..in_work {
        editor.send(&request(id, "test/wait", json!("gate"))).await;
    }
    editor.send(&request("more", "test/echo", json!([]))).await;
    let refusal = editor.answer("more").await;
    assert_eq!(code(&refusal), -32803);
    assert!(refusal["error"]["message"].as_str().unwrap().starts_with("too many requests in work"));

    editor.send(&notification("test/release", json!("gate"))).await;
    assert_eq!(editor.next().await["result"], "gate");
    editor.send(&request("again", "test/echo", json!([]))).await;
    assert_eq!(editor.answer("again").await["result"], json!([]));

    editor.send(&request("down", "shutdown", Value::Null)).await;
    assert_eq!(editor.answer("down").await["result"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn notifications_that_all_wait_hold_up_reading_only_for_a_while() {
    let mut editor = Editor::ready().await;
    for _ in 0..LSP_NOTIFICATIONS_IN_WORK_MAX + 3 {
        editor.send(&notification("test/hold", json!("never"))).await;
    }
    editor.send(&request(1, "test/echo", json!([]))).await;
    assert_eq!(editor.answer(1).await["result"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_requests_that_are_quickly_done_is_not_refused() {
    let mut editor = Editor::with_pipes(1 << 20, 1 << 20).initialize().await;
    let burst: Vec<u8> =
        (0..1_000).flat_map(|id| super::editor::framed(&request(id, "test/notes", json!(1)))).collect();
    editor.send_raw(&burst).await;
    for id in 0..1_000 {
        assert_eq!(editor.answer(id).await["result"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_sent_comes_before_its_response() {
    let mut editor = Editor::ready().await;
    for id in 0..100 {
        editor.send(&request(id, "test/notes", json!(3))).await;
        for number in 0..3 {
            assert_eq!(editor.next().await["params"], number);
        }
        assert_eq!(editor.next().await["id"], id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_messages_comes_before_the_response_to_initialize() {
    for _ in 0..50 {
        let mut editor = Editor::start();
        let params = json!({"capabilities": {}, "initializationOptions": "notes"});
        editor.send(&request(1, "initialize", params)).await;
        for _ in 0..3 {
            assert_eq!(editor.next().await["method"], "window/logMessage");
        }
        assert_eq!(editor.next().await["id"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_wrong_time_or_to_nobody_are_refused() {
    let mut editor = Editor::start();
    editor.send(&request(1, "test/echo", json!([]))).await;
    assert_eq!(code(&editor.answer(1).await), -32002);
    let mut editor = editor.initialize().await;
    for method in ["no/such", "$/no/such"] {
        editor.send(&request(2, method, json!([]))).await;
        assert_eq!(code(&editor.answer(2).await), -32601);
    }
    editor.send(&notification("$/no/such", json!([]))).await;
    editor.send(&request(3, "initialize", json!({"capabilities": {}}))).await;
    assert_eq!(code(&editor.answer(3).await), -32600);
    editor.send(&request(4, "shutdown", Value::Null)).await;
    editor.answer(4).await;
    editor.send(&request(5, "test/echo", json!([]))).await;
    assert_eq!(code(&editor.answer(5).await), -32600);
}

#[tokio::test(start_paused = true)]
async fn exit_tells_whether_a_shutdown_came_before() {
    let mut editor = Editor::ready().await;
    editor.send(&request(1, "shutdown", Value::Null)).await;
    editor.send(&notification("exit", Value::Null)).await;
    let (rest, ended) = editor.end().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(ended, Ended::Exit { after_shutdown: true });

    let without = Ended::Exit { after_shutdown: false };
    let mut editor = Editor::ready().await;
    editor.send(&notification("exit", Value::Null)).await;
    assert_eq!(editor.end().await, (vec![], without));

    let mut editor = Editor::start();
    editor.send(&request(1, "shutdown", Value::Null)).await;
    editor.send(&notification("exit", Value::Null)).await;
    assert_eq!(editor.end().await.1, without);
}

#[tokio::test(start_paused = true)]
async fn every_request_is_answered_before_an_exit() {
    let mut editor = Editor::ready().await;
    for id in 0..100 {
        editor.send(&request(id, "test/wait", json!("never"))).await;
    }
    editor.send(&notification("exit", Value::Null)).await;
    let (rest, _) = editor.end().await;
    assert_eq!(rest.len(), 100);
    assert!(rest.iter().all(|answer| code(answer) == -32800));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_waits_for_answers_but_not_for_ever() {
    let mut editor = Editor::ready().await;
    editor.send(&request(1, "test/wait", json!("soon"))).await;
    editor.send(&request(2, "test/wait", json!("never"))).await;
    settle().await;
    editor.close_input();
    settle().await;
    editor.record.gate("soon").notify_one();
    let (rest, ended) = editor.end().await;
    assert_eq!(ended, Ended::InputClosed);
    assert_eq!(rest.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_closes_our_output_ends_the_stream() {
    let mut editor = Editor::ready().await;
    editor.close_output();
    editor.send(&request(1, "test/echo", json!([]))).await;
    assert_eq!(editor.end().await.1, Ended::OutputClosed);
}
