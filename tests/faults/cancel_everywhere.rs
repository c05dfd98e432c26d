//! Cancel at every point of a long turn: it ends once and at once, and the conversation goes on, also from the disk.

use crate::in_process::{World, ending, said, turn, until_end};
use airlock::agent::update::{StopReason, Update};
use airlock::agent::{Prompt, Session};
use airlock::claude::ToolSpec;
use airlock::tools::{Tool, ToolContext, ToolOutcome};
use airlock_tests::deadline::within;
use airlock_tests::failing_disk::{FailingDisk, Fault};
use airlock_tests::scripted_claude::{Received, Reply, ScriptedClaude, assert_append_only};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_millis(100);

/// A tool that says something, waits for a moment, and says something more.
struct Quick {
    name: &'static str,
    reads_only: bool,
}

impl Tool for Quick {
    fn spec(&self) -> ToolSpec {
        let (description, input_schema) = (String::from("is quick"), json!({"type": "object"}));
        ToolSpec { name: self.name.to_owned(), description, input_schema }
    }

    fn reads_only(&self) -> bool {
        self.reads_only
    }

    fn title(&self, _: &Value) -> String {
        self.name.to_owned()
    }

    fn run(&self, _: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            context.progress.show("one".to_owned()).await;
            tokio::task::yield_now().await;
            context.progress.show("two".to_owned()).await;
            ToolOutcome::text("done")
        })
    }
}

fn tools() -> Vec<Arc<dyn Tool>> {
    let tool = |name, reads_only| -> Arc<dyn Tool> { Arc::new(Quick { name, reads_only }) };
    vec![tool("look", true), tool("change", false)]
}

/// A turn with everything in it that a turn waits for: thoughts, text, calls side by side and one after the other, a
/// pause that the API asks for, and the same again.
fn long_turn() -> impl FnMut(&Received) -> Option<Reply> + Send + 'static {
    let mut slowed_down = HashSet::new();
    move |request| {
        let asked = request.last_user_text();
        Some(if asked.contains("And now?") {
            "All is well.".into()
        } else if asked.contains("toolu_4") {
            Reply::new().thinking("so", "sig-2").text_in(["Do", "ne."])
        } else if asked.contains("toolu_3") {
            Reply::calls("toolu_4", "look", json!({"again": true}))
        } else if asked.contains("toolu_1") && slowed_down.insert(request.first_user_text()) {
            Reply::status(429).header("retry-after-ms", "3")
        } else if asked.contains("toolu_1") {
            Reply::says("More.").tool_use("toolu_3", "change", json!({}))
        } else {
            let reply = Reply::new().thinking("hm", "sig").text_in(["Look", "ing."]);
            reply.tool_use("toolu_1", "look", json!({})).tool_use("toolu_2", "look", json!({"more": 1}))
        })
    }
}

/// Cancels after so many updates and so many turns of the runtime. Gives how long the end took, or nothing when the turn
/// had ended by itself.
async fn cancel_after(
    session: &Arc<Session>,
    updates: usize,
    turns: usize,
    prompt: &str,
) -> Option<Duration> {
    session.prompt(Prompt::of_text(prompt)).expect("it is idle");
    for _ in 0..updates {
        let (_, update) =
            within(session.outbox().next(), || "no update".to_owned()).await.expect("it is open");
        if matches!(update, Update::TurnEnd { .. }) {
            return None;
        }
    }
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    let sent = Instant::now();
    session.cancel();
    let updates = until_end(session).await;
    let took = sent.elapsed();
    let ended = ending(&updates);
    assert!(matches!(ended, StopReason::Cancelled | StopReason::EndTurn), "{updates:#?}");
    Some(took)
}

/// One session that is cancelled there, goes on, and goes on again from the disk. Gives whether the turn was still on.
async fn holds_after(world: &World, claude: &ScriptedClaude, updates: usize, turns: usize) -> bool {
    // The best of three: the machine is shared.
    let mut all = Vec::new();
    while all.len() < 3 {
        let at = format!("{updates} updates, {turns} turns, try {}", all.len());
        let session = world.session();
        let took = cancel_after(&session, updates, turns, &format!("go ({at})")).await;
        let next = turn(&session, "And now?").await;
        assert_eq!(said(&next), "All is well.", "{at}: {next:#?}");
        let id = session.id().to_owned();
        session.close().await;
        let again = world.session();
        turn(&again, &format!("/load {id}")).await;
        let next = turn(&again, "And now?").await;
        assert_eq!(said(&next), "All is well.", "from the disk: {at}: {next:#?}");
        again.close().await;
        assert_append_only(&claude.requests_of(&format!("({at})")));
        match took {
            None => return false,
            Some(took) => all.push(took),
        }
        if all.iter().any(|took| *took <= LONGEST) {
            return true;
        }
    }
    panic!("after {updates} updates and {turns} turns it took {all:?}");
}

#[tokio::test]
async fn whenever_a_turn_is_cancelled_it_ends_once_and_at_once_and_the_conversation_goes_on() {
    for turns in [0, 1, 2, 5, 20, 100] {
        let claude = ScriptedClaude::start().await;
        claude.otherwise(long_turn());
        let world = World::new(&claude, "", tools());
        let mut updates = 0;
        while holds_after(&world, &claude, updates, turns).await {
            updates += 1;
        }
        assert!(updates > 15, "a long turn has more than {updates} updates");
        claude.finish();
    }
}

#[tokio::test]
async fn a_history_that_is_being_saved_holds_up_no_cancel_and_is_whole_afterwards() {
    for well in 0..6 {
        let claude = ScriptedClaude::start().await;
        claude.otherwise(long_turn());
        let disk = FailingDisk::mount();
        let world = World::at(&disk.folder("home"), &claude, "", tools());
        let session = world.session();
        assert_eq!(said(&turn(&session, "And now?").await), "All is well.");
        disk.fails(Fault::Hangs, well);
        session.prompt(Prompt::of_text("go (slow)")).expect("it is idle");
        disk.hangs().await;
        let sent = Instant::now();
        session.cancel();
        let ended = ending(&until_end(&session).await);
        let took = sent.elapsed();
        assert_eq!(ended, StopReason::Cancelled);
        disk.mend();
        assert_eq!(said(&turn(&session, "And now?").await), "All is well.");
        let id = session.id().to_owned();
        session.close().await;
        disk.cut_power();
        let again = world.session();
        let shown = said(&turn(&again, &format!("/load {id}")).await);
        assert_eq!(shown.matches("All is well.").count(), 2, "{well}: {shown}");
        assert_eq!(said(&turn(&again, "And now?").await), "All is well.");
        again.close().await;
        assert!(took <= 3 * LONGEST, "{well}: {took:?}");
        claude.finish();
    }
}
