//! Cancel while tools run, with tools that wait for the test.

use crate::in_process::{World, ending, said, turn, until, until_end};
use airlock::agent::Prompt;
use airlock::agent::update::{StopReason, ToolCallStatus, Update};
use airlock::claude::ToolSpec;
use airlock::tools::{Tool, ToolContext, ToolOutcome};
use airlock_tests::deadline::within;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude, assert_append_only};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A tool that says when it begins and when it is told to stop, and never ends by itself.
struct Stuck {
    name: &'static str,
    reads_only: bool,
    /// Does not end when it is told to, either.
    deaf: bool,
    events: mpsc::UnboundedSender<&'static str>,
}

impl Tool for Stuck {
    fn spec(&self) -> ToolSpec {
        let (description, input_schema) = (String::from("waits"), json!({"type": "object"}));
        ToolSpec { name: self.name.to_owned(), description, input_schema }
    }

    fn reads_only(&self) -> bool {
        self.reads_only
    }

    fn title(&self, _: &Value) -> String {
        self.name.to_owned()
    }

    fn run(&self, _: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let (events, deaf) = (self.events.clone(), self.deaf);
        Box::pin(async move {
            context.progress.show("begun".to_owned()).await;
            events.send("begun").unwrap();
            context.cancel.cancelled().await;
            events.send("told to stop").unwrap();
            if deaf {
                std::future::pending::<()>().await;
            }
            ToolOutcome::text("stopped")
        })
    }
}

#[tokio::test]
async fn every_call_gets_its_result_and_every_running_tool_is_told_to_stop() {
    for deaf in [false, true] {
        // The best of three, as in `cancel`.
        let mut all = Vec::new();
        for _ in 0..3 {
            all.push(cancel_during_tools(deaf).await);
        }
        eprintln!("cancel during a tool (deaf: {deaf}): {all:?}");
        assert!(all.iter().any(|took| *took <= Duration::from_millis(100)), "{all:?}");
    }
}

async fn cancel_during_tools(deaf: bool) -> Duration {
    let claude = ScriptedClaude::start().await;
    let (events, mut seen) = mpsc::unbounded_channel();
    let tool = |name, reads_only| -> Arc<dyn Tool> {
        Arc::new(Stuck { name, reads_only, deaf, events: events.clone() })
    };
    let world = World::new(&claude, "", vec![tool("look", true), tool("change", false)]);
    let two = Reply::calls("toolu_1", "look", json!({})).tool_use("toolu_2", "look", json!({}));
    claude.push(two.tool_use("toolu_3", "change", json!({}))).push("All is well.");
    let session = world.session();
    session.prompt(Prompt::of_text("go")).unwrap();
    for _ in 0..2 {
        assert_eq!(next(&mut seen).await, "begun");
    }
    for _ in 0..2 {
        until(&session, shows_output).await;
    }
    let sent = Instant::now();
    session.cancel();
    let updates = until_end(&session).await;
    let took = sent.elapsed();
    assert_eq!(ending(&updates), StopReason::Cancelled);
    let failed = |update: &&Update| matches!(update, Update::ToolCallUpdate(it) if it.status == ToolCallStatus::Failed);
    assert_eq!(updates.iter().filter(failed).count(), 3, "{updates:#?}");
    for _ in 0..2 {
        assert_eq!(next(&mut seen).await, "told to stop");
    }
    assert_eq!(said(&turn(&session, "And now?").await), "All is well.");
    assert_append_only(&claude.requests());
    assert!(seen.is_empty(), "the third call never ran");
    session.close().await;
    claude.finish();
    took
}

fn shows_output(update: &Update) -> bool {
    matches!(update, Update::ToolCallUpdate(progress) if progress.output.is_some())
}

async fn next(seen: &mut mpsc::UnboundedReceiver<&'static str>) -> &'static str {
    within(seen.recv(), || "a tool said nothing".to_owned()).await.unwrap()
}
