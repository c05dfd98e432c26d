//! kill -9 at any moment of a long turn, then a new server in the same home: nothing is lost but the unfinished message.

use crate::shown::{Seen, assert_shown_again, seen};
use crate::world::{ready, ready_with, stop_reason};
use airlock_tests::editor::{Editor, EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{Gate, Received, Reply, ScriptedClaude, assert_append_only};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Where a long turn can be held, in order.
const MOMENTS: [&str; 7] = [
    "before the first byte",
    "in the thinking",
    "in the text",
    "after a call arrived",
    "between two rounds",
    "before the last round",
    "in the last text",
];

/// A long turn with a gate at each moment.
fn long_turn(gates: &[Gate; MOMENTS.len()]) -> [Reply; 3] {
    let [first, thinking, text, call, between, last, last_text] = gates;
    [
        Reply::new()
            .thinking("hm", "sig")
            .gate(thinking)
            .more("!")
            .text_in(["Look", "ing"])
            .gate(text)
            .more(".")
            .tool_use("toolu_1", "bash", json!({"command": "ls"}))
            .end_block()
            .gate(call)
            .hold(first),
        Reply::calls("toolu_2", "read_file", json!({"path": "a"}))
            .tool_use("toolu_3", "read_file", json!({"path": "b"}))
            .hold(between),
        Reply::says("Half").gate(last_text).more(" done.").hold(last),
    ]
}

/// A conversation that stands at the first closed gate of a long turn: its editor, its session, what was shown before.
async fn in_the_long_turn(
    claude: &ScriptedClaude,
    gates: &[Gate; MOMENTS.len()],
) -> (Editor, String, Vec<Value>) {
    let editor = ready(claude).await;
    let session = editor.new_session().await;
    claude.push("Hello.");
    let shown = editor.turn(&session, "Hi").await;
    claude.replies(long_turn(gates));
    editor.prompt(&session, "go").await;
    (editor, session, shown)
}

/// The updates of a session among messages.
fn updates_of(session: &str, messages: &[Value]) -> Vec<Value> {
    let of_session =
        |message: &&Value| message["params"]["sessionId"] == session && message.get("id").is_none();
    messages.iter().filter(of_session).map(|message| message["params"]["update"].clone()).collect()
}

async fn ready_in(home: &Home, claude: &ScriptedClaude) -> Editor {
    ready_with(EditorOptions::new(claude).home(home)).await
}

/// The law: after the kill a new server goes on, twice. What was seen before it is `before`.
async fn goes_on(home: &Home, claude: &ScriptedClaude, session: &str, before: &[Seen]) {
    let heard = claude.requests().last().expect("a request").messages().to_vec();
    let editor = ready_in(home, claude).await;
    let loaded = editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    assert_eq!(loaded["sessionId"], session);
    let again = seen(&editor.updates_until(session, "usage").await);
    assert_shown_again(before, &again);
    prompt(&editor, claude, session).await;
    let requests = claude.requests();
    let messages = requests.last().expect("a request").messages();
    assert_eq!(messages[..heard.len()], heard, "everything that the API had heard of is still there");
    editor.shutdown().await;
    // The same with the slash command, in a session of its own.
    let editor = ready_in(home, claude).await;
    let other = editor.new_session().await;
    let replayed = editor.turn(&other, &format!("/load {session}")).await;
    assert_eq!(stop_reason(&replayed), "end_turn");
    let expected: Vec<Seen> = [&again[..], &[Seen::Said("All is well.".into())]].concat();
    assert_eq!(seen(&replayed), expected);
    prompt(&editor, claude, &other).await;
    assert_append_only(&claude.requests()[requests.len() - 1..]);
    editor.shutdown().await;
}

async fn prompt(editor: &Editor, claude: &ScriptedClaude, session: &str) {
    let asks = |request: &Received| request.last_user_text().contains("And now?");
    claude.on_request(asks, "All is well.");
    let updates = editor.turn(session, "And now?").await;
    assert_eq!(
        (stop_reason(&updates), agent_text(&updates).as_str()),
        ("end_turn", "All is well."),
        "{updates:#?}"
    );
}

#[tokio::test]
async fn nothing_is_lost_but_the_unfinished_message_at_each_moment() {
    for (number, moment) in MOMENTS.iter().enumerate() {
        eprintln!("killed {moment}");
        let (claude, gates) = (ScriptedClaude::start().await, MOMENTS.map(|_| Gate::new()));
        gates[..number].iter().for_each(Gate::open);
        let (editor, session, mut shown) = in_the_long_turn(&claude, &gates).await;
        let home = editor.home().clone();
        gates[number].reached().await;
        let heard = claude.requests().len();
        shown.extend(updates_of(&session, &editor.kill9().await));
        assert_eq!(claude.requests().len(), heard, "the turn stood at the gate");
        goes_on(&home, &claude, &session, &seen(&shown)).await;
    }
}

#[tokio::test]
async fn nothing_is_lost_but_the_unfinished_message_at_any_moment() {
    // Without gates a turn takes some milliseconds, and the kill comes wherever it is after so many updates.
    for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16] {
        eprintln!("killed after {count} updates");
        let (claude, gates) = (ScriptedClaude::start().await, MOMENTS.map(|_| Gate::new()));
        gates.iter().for_each(Gate::open);
        let (editor, session, mut shown) = in_the_long_turn(&claude, &gates).await;
        let home = editor.home().clone();
        for _ in 0..count {
            let update = editor.next_update(&session).await;
            let end = update["kind"] == "turn_end";
            shown.push(update);
            if end {
                break;
            }
        }
        shown.extend(updates_of(&session, &editor.kill9().await));
        claude.forget_script();
        goes_on(&home, &claude, &session, &seen(&shown)).await;
    }
}
