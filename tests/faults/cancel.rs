//! Cancel, whatever the turn waits for: it ends within 100 ms as seen by the client, once, and the next prompt works.
//!
//! The machine is shared and a try may be held up by others, so a latency is the best of three tries. Run with
//! `--nocapture` to see them.

use crate::world::{call_updates, next_prompt_works, notices, ready, ready_with, stop_reason};
use airlock_tests::editor::{Editor, EditorOptions, agent_text};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use airlock_tests::unruly::{Trouble, UnrulyPodman};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_millis(100);
const TRIES: usize = 3;

/// Where a turn stands: cancel it now.
struct Stand<'a> {
    claude: &'a ScriptedClaude,
    editor: &'a Editor,
    session: &'a str,
}

impl Stand<'_> {
    /// Cancels, and gives the updates that came after it and how long the end took.
    async fn cancel(&self) -> (Vec<Value>, Duration) {
        let sent = Instant::now();
        self.editor.cancel(self.session);
        let updates = self.editor.updates_until_turn_end(self.session).await;
        let took = sent.elapsed();
        assert_eq!((stop_reason(&updates), updates.last().unwrap().get("error")), ("cancelled", None));
        (updates, took)
    }
}

/// Tries a scenario in an editor of its own until it is fast enough; then the next prompt must work.
async fn fast_enough(what: &str, scenario: impl AsyncFn(&Stand<'_>) -> Duration) {
    let mut all = Vec::new();
    for _ in 0..TRIES {
        let claude = ScriptedClaude::start().await;
        let editor = ready(&claude).await;
        let session = editor.new_session().await;
        let took = scenario(&Stand { claude: &claude, editor: &editor, session: &session }).await;
        next_prompt_works(&editor, &claude, &session).await;
        editor.shutdown().await;
        claude.finish();
        all.push(took);
        if took <= LONGEST {
            eprintln!("cancel {what}: {all:?}");
            return;
        }
    }
    panic!("cancel {what} took {all:?}");
}

#[tokio::test]
async fn during_the_stream_what_was_shown_is_kept_and_the_request_dropped() {
    fast_enough("during the stream", async |stand| {
        let gate = Gate::new();
        stand.claude.push(Reply::says("One, ").more("two").gate(&gate).more(", three"));
        stand.editor.prompt(stand.session, "count").await;
        gate.reached().await;
        while agent_text(&stand.editor.updates_until(stand.session, "agent_message_chunk").await) == "One, " {
        }
        let (updates, took) = stand.cancel().await;
        assert_eq!(agent_text(&updates), "");
        stand.claude.wait_for_hangups(1).await;
        took
    })
    .await;
}

#[tokio::test]
async fn before_the_answer_begins_the_request_is_dropped() {
    fast_enough("before the headers", async |stand| {
        let gate = Gate::new();
        stand.claude.push(Reply::says("Never.").hold(&gate));
        stand.editor.prompt(stand.session, "go").await;
        gate.reached().await;
        let (_, took) = stand.cancel().await;
        stand.claude.wait_for_hangups(1).await;
        took
    })
    .await;
}

#[tokio::test]
async fn during_the_backoff_nothing_is_asked_again() {
    fast_enough("during the backoff", async |stand| {
        stand.claude.push(Reply::status(429).header("retry-after", "30"));
        stand.editor.prompt(stand.session, "go").await;
        let told = stand.editor.updates_until(stand.session, "notice").await;
        assert!(notices(&told)[0].contains("trying again in 30.0 s"), "{told:#?}");
        let (_, took) = stand.cancel().await;
        assert_eq!(stand.claude.requests().len(), 1);
        took
    })
    .await;
}

#[tokio::test]
async fn during_a_permission_request_the_question_goes_away_and_a_late_answer_does_nothing() {
    fast_enough("during a permission request", async |stand| {
        let call = |id: &str| Reply::calls(id, "bash", json!({"command": "ls"}));
        stand.claude.replies(["toolu_1", "toolu_2", "toolu_3"].map(call));
        stand.editor.prompt(stand.session, "go").await;
        let question = stand.editor.next_server_request("airlock/permission").await;
        let (updates, took) = stand.cancel().await;
        assert_eq!(call_updates(&updates).len(), 6, "the three calls ran before the question: {updates:#?}");
        let withdrawn = stand.editor.next_notification("$/cancelRequest").await;
        assert_eq!(&withdrawn["id"], question.id());
        question.respond(json!({"optionId": "continue"}));
        took
    })
    .await;
}

#[tokio::test]
async fn while_the_conversation_is_summarised_it_stays_as_it_was() {
    fast_enough("during compaction", async |stand| {
        stand.claude.push("Hello.");
        stand.editor.turn(stand.session, "Hi").await;
        let gate = Gate::new();
        stand.claude.push(Reply::says("They ").gate(&gate).more("greeted."));
        stand.editor.prompt(stand.session, "/compact").await;
        gate.reached().await;
        let (_, took) = stand.cancel().await;
        stand.claude.wait_for_hangups(1).await;
        took
    })
    .await;
}

#[tokio::test]
async fn while_the_model_is_being_asked_about_the_prompt_is_kept() {
    fast_enough("while the model's properties are fetched", async |stand| {
        let gate = Gate::new();
        stand.claude.hold_models(&gate);
        stand.editor.prompt(stand.session, "remember the milk").await;
        gate.reached().await;
        let (_, took) = stand.cancel().await;
        gate.open();
        stand.claude.on_request(
            |request| request.first_user_text().contains("remember the milk"),
            Reply::says("Milk it is."),
        );
        let updates = stand.editor.turn(stand.session, "what was it?").await;
        assert_eq!(agent_text(&updates), "Milk it is.", "the model never heard of it");
        took
    })
    .await;
}

#[tokio::test]
async fn while_the_sandbox_starts_the_call_is_given_up_and_the_next_one_finds_it_ready() {
    let mut all = Vec::new();
    while all.len() < TRIES {
        let (claude, unruly) = (ScriptedClaude::start().await, UnrulyPodman::new());
        unruly.trouble("containers/create", Trouble::Late, usize::MAX);
        let options = EditorOptions::new(&claude).with_sandbox().env("PATH", unruly.path());
        let editor = ready_with(options).await;
        let session = editor.new_session().await;
        claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo never"})));
        editor.prompt(&session, "go").await;
        unruly.silences(1).await;
        editor.updates_until(&session, "tool_call_update").await;
        let stand = Stand { claude: &claude, editor: &editor, session: &session };
        let (updates, took) = stand.cancel().await;
        assert_eq!(
            call_updates(&updates).last().map(|(_, status, _)| *status),
            Some("failed"),
            "{updates:#?}"
        );
        unruly.behave();
        claude.push(Reply::calls("toolu_2", "bash", json!({"command": "echo up"}))).push("Up.");
        editor.turn(&session, "again").await;
        let heard = claude.requests().last().expect("a request").last_user_text();
        assert!(heard.contains("up\n[exit code 0"), "{heard}");
        next_prompt_works(&editor, &claude, &session).await;
        editor.shutdown().await;
        claude.finish();
        all.push(took);
        if took <= LONGEST {
            return;
        }
    }
    panic!("cancel while the sandbox starts took {all:?}");
}

#[tokio::test]
async fn a_cancel_without_a_turn_does_nothing() {
    fast_enough("(without a turn)", async |stand| {
        stand.editor.cancel(stand.session);
        stand.editor.cancel("no such session");
        Duration::ZERO
    })
    .await;
}
