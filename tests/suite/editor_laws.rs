//! The editor's laws, against a server that the test plays itself: every message is read, numbers have no gaps,
//! and nothing but frames comes.

use airlock_tests::editor::{Wire, agent_text, kinds};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};

/// The server's end.
struct Peer {
    input: BufReader<PipeReader>,
    output: PipeWriter,
}

fn pair() -> (Wire, Peer) {
    let (input, our_input) = std::io::pipe().expect("a pipe");
    let (our_output, output) = std::io::pipe().expect("a pipe");
    let input = BufReader::new(input);
    (Wire::new(our_output, our_input), Peer { input, output })
}

impl Peer {
    fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let body = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("an open pipe");
    }

    fn update(&mut self, session: &str, seq: u64, update: Value) {
        let params = json!({"sessionId": session, "seq": seq, "update": update});
        self.say(json!({"method": "airlock/session/update", "params": params}));
    }

    fn hear(&mut self) -> Value {
        let mut header = String::new();
        self.input.read_line(&mut header).expect("a header");
        let length = header.trim().strip_prefix("Content-Length: ").expect("a length");
        let mut body = vec![0; length.parse::<usize>().expect("a number") + 2];
        self.input.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body[2..]).expect("JSON")
    }
}

#[test]
#[should_panic = "messages were left unread"]
fn dropping_it_fails_when_a_message_is_unread() {
    let (_wire, mut peer) = pair();
    peer.say(json!({"method": "window/logMessage", "params": {}}));
}

#[test]
#[should_panic = "messages were left unread"]
fn a_response_that_nobody_asked_for_is_unread_too() {
    let (_wire, mut peer) = pair();
    peer.say(json!({"id": 7, "result": null}));
}

#[tokio::test]
async fn dropping_it_is_fine_when_all_was_read_or_ignored() {
    let (wire, mut peer) = pair();
    wire.ignore("telemetry/event");
    peer.say(json!({"method": "telemetry/event"}));
    peer.say(json!({"method": "a", "params": 1}));
    assert_eq!(wire.next_notification("a").await, 1);
    let (wire, mut peer) = pair();
    peer.say(json!({"method": "a"}));
    wire.ignore_unread();
}

#[tokio::test]
async fn a_request_gets_its_own_response_whatever_comes_between() {
    let (wire, mut peer) = pair();
    let (first, second) = (wire.start_request("one", json!({})), wire.start_request("two", json!({})));
    let (one, two) = (peer.hear(), peer.hear());
    assert_eq!((&one["method"], &two["method"]), (&json!("one"), &json!("two")));
    peer.say(json!({"method": "note", "params": "between"}));
    peer.say(json!({"id": two["id"], "error": {"code": -1}}));
    peer.say(json!({"id": one["id"], "result": "yes"}));
    assert_eq!(wire.response(first).await, Ok(json!("yes")));
    assert_eq!(wire.response(second).await, Err(json!({"code": -1})));
    assert_eq!(wire.next_notification("note").await, "between");
}

#[tokio::test]
async fn requests_of_the_server_are_answered_by_the_test_or_by_themselves() {
    let (wire, mut peer) = pair();
    wire.answer("window/workDoneProgress/create", Value::Null);
    peer.say(json!({"id": "p", "method": "window/workDoneProgress/create"}));
    assert_eq!(peer.hear(), json!({"jsonrpc": "2.0", "id": "p", "result": null}));
    for id in [1, 2] {
        peer.say(json!({"id": id, "method": "airlock/permission", "params": {"title": id}}));
    }
    let first = wire.next_server_request("airlock/permission").await;
    let second = wire.next_server_request("airlock/permission").await;
    assert_eq!(first.params["title"], 1);
    second.respond(json!({"optionId": "no"}));
    first.refuse(-32603, "broken");
    assert_eq!(peer.hear()["result"]["optionId"], "no");
    assert_eq!(peer.hear()["error"]["message"], "broken");
}

#[tokio::test]
async fn updates_are_sorted_by_session() {
    let (wire, mut peer) = pair();
    let chunk = |text: &str| json!({"kind": "agent_message_chunk", "text": text});
    let end = |turn: &str| json!({"kind": "turn_end", "turnId": turn, "stopReason": "end_turn"});
    peer.update("a", 0, chunk("He"));
    peer.update("b", 0, chunk("other"));
    peer.update("a", 1, chunk("llo"));
    peer.update("a", 2, end("t1"));
    peer.update("b", 1, end("t1"));
    let updates = wire.updates_until_turn_end("a").await;
    assert_eq!(agent_text(&updates), "Hello");
    assert_eq!(kinds(&updates), ["agent_message_chunk", "agent_message_chunk", "turn_end"]);
    assert_eq!(agent_text(&wire.updates_until_turn_end("b").await), "other");
}

#[tokio::test]
#[should_panic = "update 3 of a follows update 1"]
async fn a_gap_in_the_numbers_fails_although_all_was_read() {
    let (wire, mut peer) = pair();
    peer.update("a", 1, json!({"kind": "notice"}));
    peer.update("a", 3, json!({"kind": "notice"}));
    wire.next_update("a").await;
    wire.next_update("a").await;
}

#[tokio::test]
#[should_panic = "the server's output is no frame"]
async fn anything_but_frames_on_the_output_fails() {
    let (wire, mut peer) = pair();
    peer.output.write_all(b"hello\n").expect("an open pipe");
    wire.next_notification("never").await;
}

#[tokio::test]
#[should_panic = "the server's output ended before a notification never came"]
async fn waiting_ends_with_the_server() {
    let (wire, peer) = pair();
    drop(peer);
    wire.next_notification("never").await;
}

#[tokio::test]
async fn a_paused_reader_lets_the_pipe_fill_up() {
    let (wire, mut peer) = pair();
    wire.pause_reading();
    let full = std::thread::spawn(move || {
        for number in 0..10_000 {
            peer.say(json!({"method": "more", "params": number}));
        }
    });
    // A read that was in work takes one frame; the rest fits in no pipe.
    assert!(wire.unread().len() <= 1);
    assert!(!full.is_finished());
    wire.resume_reading();
    for number in 0..10_000 {
        assert_eq!(wire.next_notification("more").await, number);
    }
    full.join().expect("all was written");
}
