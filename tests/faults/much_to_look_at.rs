//! An agent that makes very much: looking at it holds up no turn and no cancel.

use airlock_tests::scripted_claude::Reply;
use airlock_tests::workbench::Workbench;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MUCH: &str = "mkdir many && cd many && seq 1 100000 | xargs touch && cd .. && \
                    truncate -s 1G a b c d && truncate -s 1T e && echo made";

/// What is promised of a cancel.
const CANCEL_MAX: Duration = Duration::from_millis(100);
/// A turn waits a second for the count of its changes. The rest is what a busy machine takes for its other work.
const TURN_MAX: Duration = Duration::from_secs(5);

fn call(id: &str, command: &str) -> Reply {
    Reply::calls(id, "bash", json!({"command": command}))
}

/// Until an update of this kind, of which this is true.
async fn until(bench: &Workbench, kind: &str, is_it: impl Fn(&Value) -> bool) {
    while !bench.editor.updates_until(&bench.session, kind).await.last().is_some_and(&is_it) {}
}

/// Cancels, and gives how long the turn went on and how it ended.
async fn cancel(bench: &Workbench) -> (Duration, Value) {
    let begun = Instant::now();
    bench.editor.cancel(&bench.session);
    let updates = bench.editor.updates_until_turn_end(&bench.session).await;
    let took = begun.elapsed();
    (took, updates.last().expect("an end")["stopReason"].clone())
}

/// The moments in which there is work after a call, or before one.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// The command has said its last word.
    AfterTheCommand,
    /// The next call of the same turn waits for that.
    BeforeTheNextCall,
    /// Nothing has been asked of the model yet that changes anything in this turn.
    AtTheFirstCall,
    /// The model has said its last word.
    AtTheEnd,
}

impl Moment {
    async fn cancelled(self, bench: &Workbench, number: usize) -> Duration {
        let (id, other) = (format!("toolu_{number}a"), format!("toolu_{number}b"));
        let prompt = || bench.editor.prompt(&bench.session, "go on");
        let is = |id: &str, key: &'static str, value: &'static str| {
            let id = id.to_owned();
            move |update: &Value| update["toolCallId"] == *id && update[key].as_str() == Some(value)
        };
        match self {
            Self::AfterTheCommand => {
                bench.claude.push(call(&id, "touch many/1; echo made"));
                prompt().await;
                until(bench, "tool_call_update", is(&id, "output", "made\n")).await;
            }
            Self::BeforeTheNextCall => {
                let two =
                    call(&id, "touch many/2").tool_use(&other, "bash", json!({"command": "touch many/3"}));
                bench.claude.push(two);
                prompt().await;
                until(bench, "tool_call_update", is(&id, "status", "completed")).await;
            }
            Self::AtTheFirstCall => {
                bench.claude.push(call(&id, "touch many/4"));
                prompt().await;
                until(bench, "tool_call_update", is(&id, "status", "in_progress")).await;
            }
            Self::AtTheEnd => {
                bench.claude.push(call(&id, "touch many/5")).push("Done.");
                prompt().await;
                until(bench, "agent_message_chunk", |update| update["text"] == "Done.").await;
            }
        }
        let (took, ended) = cancel(bench).await;
        // Where the model had said all, the turn may have been over.
        let is_known = ended == "cancelled" || (ended == "end_turn" && matches!(self, Self::AtTheEnd));
        assert!(is_known, "{self:?}: {ended}");
        took
    }
}

#[tokio::test]
async fn neither_very_many_nor_very_large_files_hold_up_a_turn_or_a_cancel() {
    let bench = Workbench::new().await;
    bench.claude.push(call("toolu_0", MUCH)).push("Done.");
    bench.editor.prompt(&bench.session, "go on").await;
    until(&bench, "agent_message_chunk", |update| update["text"] == "Done.").await;
    let said = Instant::now();
    bench.editor.updates_until_turn_end(&bench.session).await;
    let took = said.elapsed();
    assert!(took <= TURN_MAX, "the turn ended {took:?} after its last word");
    let moments =
        [Moment::AfterTheCommand, Moment::BeforeTheNextCall, Moment::AtTheFirstCall, Moment::AtTheEnd];
    for (number, moment) in moments.into_iter().enumerate() {
        // The best of three: a machine may be busy.
        let mut all = Vec::new();
        for again in 0..3 {
            all.push(moment.cancelled(&bench, 10 * (number + 1) + again).await);
        }
        eprintln!("cancelled {moment:?}: {all:?}");
        assert!(all.iter().any(|took| *took <= CANCEL_MAX), "{moment:?}: {all:?}");
    }
    bench.claude.forget_script();
    bench.editor.ignore_unread();
    bench.end().await;
}
