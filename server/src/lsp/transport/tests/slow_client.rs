//! A client that does not read: what it sends is still read, nothing grows without bound, nothing is lost.

use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::super::serve::Ended;
use super::editor::{Editor, framed, notification, request, settle};
use crate::limits::{LSP_REQUESTS_IN_WORK_MAX, LSP_RESPONSES_QUEUED_MAX};

#[tokio::test(start_paused = true)]
async fn a_notification_gets_through_while_a_thousand_answers_wait() {
    let mut editor = Editor::with_pipes(256, 256).initialize().await;
    for id in 0..LSP_RESPONSES_QUEUED_MAX + LSP_REQUESTS_IN_WORK_MAX {
        editor.send(&request(id, "test/echo", json!("x".repeat(200)))).await;
    }
    editor.send(&notification("test/append", json!(7))).await;
    settle().await;
    assert_eq!(*editor.record.appended.lock().unwrap(), [7]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_late_finds_every_answer_once() {
    const REQUESTS: usize = 5_000;
    let mut editor = Editor::with_pipes(256, 256).initialize().await;
    let mut input = editor.take_input();
    let written = tokio::spawn(async move {
        for id in 0..REQUESTS {
            input.write_all(&framed(&request(id, "test/echo", json!("x".repeat(200))))).await.unwrap();
        }
        input
    });
    settle().await;
    assert!(!written.is_finished(), "the server took more than it has room for");

    let mut seen = vec![0; REQUESTS];
    for _ in 0..REQUESTS {
        let answer = editor.next().await;
        seen[usize::try_from(answer["id"].as_u64().unwrap()).unwrap()] += 1;
    }
    assert!(seen.iter().all(|count| *count == 1));
    drop(written.await.unwrap());
    assert_eq!(editor.end().await, (vec![], Ended::InputClosed));
}

#[tokio::test(start_paused = true)]
async fn one_who_sends_much_waits_for_the_client() {
    const NOTES: u64 = 20_000;
    let mut editor = Editor::with_pipes(256, 256).initialize().await;
    editor.send(&request(1, "test/notes", json!(NOTES))).await;
    settle().await;
    let sent = *editor.record.sent.lock().unwrap();
    assert!(sent < 2_000, "{sent} notes were sent to nobody");
    for number in 0..NOTES {
        assert_eq!(editor.next().await["params"], number);
    }
    assert_eq!(editor.next().await["result"], NOTES);
}

#[tokio::test(start_paused = true)]
async fn one_who_sends_much_does_not_keep_a_response_waiting() {
    let mut editor = Editor::ready().await;
    editor.send(&request(1, "test/notes", json!(u64::MAX))).await;
    assert_eq!(editor.next().await["method"], "test/note");
    editor.send(&request(2, "test/echo", json!([]))).await;
    for _ in 0..10_000 {
        if editor.next().await["id"] == 2 {
            return;
        }
    }
    panic!("ten thousand notes came before the response");
}

#[tokio::test(start_paused = true)]
async fn an_exit_does_not_wait_for_a_client_that_reads_nothing() {
    let mut editor = Editor::with_pipes(256, 256).initialize().await;
    for id in 0..1_000 {
        editor.send(&request(id, "test/echo", json!("x".repeat(200)))).await;
    }
    editor.send(&notification("exit", json!(null))).await;
    assert_eq!(editor.end_unread().await, Ended::Exit { after_shutdown: false });
}
