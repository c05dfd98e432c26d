//! What tools say: all of it is shown, however slow the front end is, and none of it spoils the history.

use crate::in_process::{World, ending, said, turn, until_end};
use airlock::agent::Prompt;
use airlock::agent::update::{StopReason, Update};
use airlock::claude::ToolSpec;
use airlock::limits::OUTBOX_MAX_BYTES;
use airlock::tools::{Tool, ToolContext, ToolOutcome};
use airlock_tests::deadline::within;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude, assert_append_only};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Notify;

/// Shows these pieces, says that it is done, and answers with this text.
struct Speaker {
    pieces: Vec<String>,
    done: Arc<Notify>,
    answer: &'static str,
}

impl Tool for Speaker {
    fn spec(&self) -> ToolSpec {
        let (description, input_schema) = (String::from("speaks"), json!({"type": "object"}));
        ToolSpec { name: "speak".to_owned(), description, input_schema }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn title(&self, _: &Value) -> String {
        "speak".to_owned()
    }

    fn run(&self, _: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let (pieces, done, answer) = (self.pieces.clone(), Arc::clone(&self.done), self.answer);
        Box::pin(async move {
            let shown = !pieces.is_empty();
            for piece in pieces {
                context.progress.show(piece).await;
            }
            done.notify_one();
            ToolOutcome { shown, ..ToolOutcome::text(answer) }
        })
    }
}

fn world(claude: &ScriptedClaude, pieces: Vec<String>, answer: &'static str) -> (World, Arc<Notify>) {
    let done = Arc::new(Notify::new());
    let tool = Speaker { pieces, done: Arc::clone(&done), answer };
    (World::new(claude, "", vec![Arc::new(tool)]), done)
}

#[tokio::test]
async fn a_slow_front_end_misses_nothing_of_a_tools_last_words() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::calls("toolu_1", "speak", json!({}))).push("Done.");
    let more_than_fits = "x".repeat(OUTBOX_MAX_BYTES + 1);
    let (world, done) = world(&claude, vec![more_than_fits.clone(), "one, ".into(), "two".into()], "spoken");
    let session = world.session();
    session.prompt(Prompt::of_text("go")).unwrap();
    within(done.notified(), || "the tool never ended".to_owned()).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let updates = until_end(&session).await;
    let output = |update: &Update| match update {
        Update::ToolCallUpdate(progress) => progress.output.clone(),
        _ => None,
    };
    let shown: String = updates.iter().filter_map(output).collect();
    assert!(shown == more_than_fits + "one, two", "{} bytes: …{}", shown.len(), &shown[shown.len() - 9..]);
    assert_eq!(said(&updates), "Done.");
    session.close().await;
    claude.finish();
}

#[tokio::test]
async fn a_tool_that_says_nothing_does_not_spoil_the_history() {
    for nothing in ["", " \n"] {
        let claude = ScriptedClaude::start().await;
        claude.push(Reply::calls("toolu_1", "speak", json!({}))).push("Done.").push("All is well.");
        let (world, _) = world(&claude, vec![], nothing);
        let session = world.session();
        let updates = turn(&session, "go").await;
        assert_eq!(
            (ending(&updates), said(&updates).as_str()),
            (StopReason::EndTurn, "Done."),
            "{updates:#?}"
        );
        assert_eq!(said(&turn(&session, "And now?").await), "All is well.");
        assert_append_only(&claude.requests());
        session.close().await;
        claude.finish();
    }
}
