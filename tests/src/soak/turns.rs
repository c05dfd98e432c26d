//! A turn, and what happens in the middle of it.

use super::crashes::{self, Crash};
use super::says::Script;
use super::visit::Visit;
use fastrand::Rng;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Duration;

/// What comes between, and after how long.
enum Interruption {
    Nothing,
    Cancel(Duration),
    Close(Duration),
    Crash(Crash, Duration),
}

impl Interruption {
    fn any(dice: &mut Rng, may_close: bool) -> Self {
        let longest_ms = dice.choice([1, 30, 400, 1500]).expect("some");
        let moment = Duration::from_millis(dice.u64(..longest_ms));
        match dice.usize(..20) {
            0..=4 => Self::Cancel(moment),
            5 if may_close => Self::Close(moment),
            6..=8 => Self::Crash(Crash::any(dice), moment),
            _ => Self::Nothing,
        }
    }
}

impl Visit<'_> {
    /// A turn of the model, with what may come between.
    pub(super) async fn turn(&mut self, script: Script) {
        let interruption = Interruption::any(self.dice, self.has_history);
        self.interrupted(script, interruption).await;
    }

    /// A turn of the model that nothing interrupts.
    pub(super) async fn calm_turn(&mut self, script: Script) {
        self.interrupted(script, Interruption::Nothing).await;
    }

    async fn interrupted(&mut self, script: Script, interruption: Interruption) {
        let may_fail = script.may_fail;
        self.world.mind.prepare(&self.kept.mark, script.says);
        let text = format!("{} go on, {}", self.kept.mark, self.kept.turns);
        let updates = self.run(&text, interruption).await;
        let stop = stop_reason(&updates);
        let well = stop == Some("end_turn");
        self.world.mind.turn_ended(&self.kept.mark, well);
        self.has_history |= well;
        let failed = stop == Some("error");
        if failed && !may_fail {
            self.world.fault(format!("a turn failed: {}", updates.last().unwrap_or(&Value::Null)));
        }
        self.world.claude.forget_requests();
    }

    /// A slash command. What it cannot do it says, and that is no fault.
    pub(super) async fn slash(&mut self, command: &str) {
        self.world.mind.prepare(&self.kept.mark, Vec::new());
        let interruption = Interruption::any(self.dice, false);
        self.run(command, interruption).await;
        self.world.mind.turn_ended(&self.kept.mark, false);
    }

    /// Prompts, and gives the updates up to the turn's end.
    async fn run(&mut self, text: &str, interruption: Interruption) -> Vec<Value> {
        let (world, session) = (self.world, self.kept.session.clone());
        self.kept.turns += 1;
        world.counts.turns.up();
        world.editor.prompt(&session, text).await;
        let ended = world.editor.updates_until_turn_end(&session);
        let updates = match interruption {
            Interruption::Nothing => ended.await,
            Interruption::Cancel(moment) => {
                let cancel = async {
                    tokio::time::sleep(moment).await;
                    world.editor.cancel(&session);
                };
                let (updates, ()) = tokio::join!(ended, cancel);
                if stop_reason(&updates) == Some("cancelled") {
                    world.counts.cancels.up();
                }
                updates
            }
            Interruption::Crash(crash, moment) => {
                let strike = async {
                    tokio::time::sleep(moment).await;
                    crashes::strike(world, &session, crash).await
                };
                let (updates, struck) = tokio::join!(ended, strike);
                if struck {
                    world.counts.crashes.up();
                }
                updates
            }
            Interruption::Close(moment) => {
                tokio::time::sleep(moment).await;
                self.close().await;
                ended.await
            }
        };
        let open = calls_without_end(&updates);
        if !open.is_empty() {
            world.fault(format!("a turn of {session} ended before its calls {open:?}"));
        }
        updates
    }
}

/// Why a turn ended.
fn stop_reason(updates: &[Value]) -> Option<&str> {
    updates.last()?["stopReason"].as_str()
}

/// Calls that the user saw begin and not end.
fn calls_without_end(updates: &[Value]) -> Vec<&str> {
    let is = |update: &Value, kind: &str| update["kind"] == kind;
    let over = |update: &&Value| {
        is(update, "tool_call_update") && (update["status"] == "completed" || update["status"] == "failed")
    };
    let ended: HashSet<&str> =
        updates.iter().filter(over).filter_map(|update| update["toolCallId"].as_str()).collect();
    let begun = updates.iter().filter(|update| is(update, "tool_call"));
    begun.filter_map(|update| update["toolCallId"].as_str()).filter(|id| !ended.contains(id)).collect()
}
