//! The order of what an editor sees: turns one after the other, and each progress with its begin and its end.

use crate::in_process::{World, until_end};
use crate::world::stop_reason;
use airlock::agent::update::Update;
use airlock::agent::{Prompt, Refused};
use airlock_tests::editor::{Editor, EditorOptions};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The kinds of a progress's messages, by its token.
fn progresses(messages: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for params in messages.iter().filter(|message| message["method"] == "$/progress").map(|it| &it["params"])
    {
        let kind = params["value"]["kind"].as_str().unwrap().to_owned();
        all.entry(params["token"].as_str().unwrap().to_owned()).or_default().push(kind);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_turn_comes_before_the_end_of_the_last() {
    const TURNS: usize = 2_000;
    let claude = ScriptedClaude::start().await;
    let world = World::new(&claude, "", Vec::new());
    let session = world.session();
    let impatient = std::sync::Arc::clone(&session);
    let runtime = tokio::runtime::Handle::current();
    // An editor that does not wait for the end before it asks again.
    let asking = std::thread::spawn(move || {
        let _inside = runtime.enter();
        let mut begun = 0;
        while begun < TURNS {
            match impatient.prompt(Prompt::of_text("/model")) {
                Ok(_) => begun += 1,
                Err(Refused::Busy) => std::thread::yield_now(),
                Err(Refused::Closed) => panic!("nobody closed it"),
            }
        }
    });
    for number in 1..=TURNS {
        let updates = until_end(&session).await;
        let [Update::AgentMessageChunk { .. }, Update::TurnEnd { turn_id, .. }] = &updates[..] else {
            panic!("{updates:#?}");
        };
        assert_eq!(*turn_id, format!("turn-{number}"));
    }
    asking.join().unwrap();
    session.close().await;
}

#[tokio::test]
async fn a_progress_that_begins_ends_however_short_its_turn_is() {
    let claude = ScriptedClaude::start().await;
    let editor = Editor::ready(EditorOptions::new(&claude)).await;
    let session = editor.new_session().await;
    for _ in 0..200 {
        let updates = editor.turn(&session, "/model").await;
        assert_eq!(stop_reason(&updates), "end_turn");
    }
    let gate = Gate::new();
    claude
        .push(Reply::calls("toolu_1", "bash", json!({"command": "ls"})))
        .push(Reply::says("Done.").hold(&gate));
    editor.prompt(&session, "go").await;
    // The turn does not end before its progress has begun.
    while editor.next_notification("$/progress").await["value"]["kind"] != "begin" {}
    gate.open();
    editor.updates_until_turn_end(&session).await;
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    for (token, kinds) in progresses(&editor.unread()) {
        let last = kinds.iter().position(|kind| kind == "end");
        assert_eq!(last, Some(kinds.len() - 1), "{token}: {kinds:?}");
        assert!(!kinds[1..].contains(&"begin".to_owned()), "{token}: {kinds:?}");
    }
    editor.ignore("$/progress");
    editor.shutdown().await;
    claude.finish();
}
