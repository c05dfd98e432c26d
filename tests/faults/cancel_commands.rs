//! Slash commands that are stopped: they are done or not done, never half, and what is said afterwards is kept.

use crate::in_process::{World, said, turn, until_end};
use airlock::agent::Prompt;
use airlock_tests::scripted_claude::{Received, Reply, ScriptedClaude};

/// Answers everything with the words that it was asked.
fn echo(request: &Received) -> Option<Reply> {
    Some(Reply::says(request.last_user_text().lines().last()?))
}

/// Runs a command and stops it wherever it is after so many turns of the runtime.
async fn stop_after(world: &World, turns: usize, command: &str) {
    let session = world.session();
    turn(&session, &format!("before {turns}")).await;
    session.prompt(Prompt::of_text(command)).unwrap();
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    session.cancel();
    until_end(&session).await;
    let words = format!("after {turns}.");
    assert_eq!(said(&turn(&session, &words).await), words);
    session.close().await;
    let histories = world.histories();
    let of_words: Vec<&String> = histories.iter().filter(|text| text.contains(&words)).collect();
    assert_eq!(of_words.len(), 1, "after {turns} turns: what was said is kept once");
    assert!(
        of_words[0].contains("\"type\":\"session\""),
        "after {turns} turns: in a history that can be listed"
    );
}

#[tokio::test]
async fn what_is_said_after_a_stopped_load_is_kept() {
    let claude = ScriptedClaude::start().await;
    claude.otherwise(echo);
    for turns in 0..60 {
        let world = World::new(&claude, "", Vec::new());
        let old = world.session();
        turn(&old, "old").await;
        let id = old.id().to_owned();
        old.close().await;
        stop_after(&world, turns * turns / 4, &format!("/load {id}")).await;
    }
}

#[tokio::test]
async fn what_is_said_after_a_stopped_clear_is_kept() {
    let claude = ScriptedClaude::start().await;
    claude.otherwise(echo);
    for turns in 0..60 {
        stop_after(&World::new(&claude, "", Vec::new()), turns * turns / 4, "/clear").await;
    }
}
