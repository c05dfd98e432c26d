//! One opening of a session: new or loaded, some turns and reviews, closed again.

use super::mind::mark;
use super::says;
use super::world::World;
use crate::workbench::displayed;
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// How long a conversation may become.
const TURNS_MAX: usize = 20;
const SLASH_COMMANDS: [&str; 9] =
    ["/changes", "/accept", "/reject", "/undo", "/undo 2", "/cost", "/tools", "/compact", "/sessions"];

/// A session that is closed.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) session: String,
    pub(super) mark: String,
    pub(super) turns: usize,
}

pub(super) struct Visit<'a> {
    pub(super) world: &'a World,
    pub(super) dice: &'a mut Rng,
    pub(super) kept: Kept,
    /// The model was heard to the end of a turn once, so there is a history.
    pub(super) has_history: bool,
    pub(super) is_open: bool,
}

/// Visits, one after the other.
pub(super) async fn visits(world: Arc<World>, mut dice: Rng, until: Instant) {
    while Instant::now() < until && world.is_well() {
        let mut visit = Visit::begin(&world, &mut dice).await;
        for _ in 0..visit.dice.usize(1..6) {
            if Instant::now() < until && visit.is_open {
                visit.step().await;
            }
        }
        visit.end().await;
    }
}

impl<'a> Visit<'a> {
    async fn begin(world: &'a World, dice: &'a mut Rng) -> Self {
        let earlier = if dice.usize(..10) < 4 { one_of(world, dice) } else { None };
        let has_history = earlier.is_some();
        let kept = match earlier {
            Some(kept) => {
                world.counts.loads.up();
                world.editor.expect("airlock/session/load", json!({"sessionId": kept.session})).await;
                if dice.bool() {
                    world.editor.updates_until(&kept.session, "usage").await;
                }
                kept
            }
            None => {
                let mark = mark(world.counts.sessions.up());
                Kept { session: world.editor.new_session().await, mark, turns: 0 }
            }
        };
        Self { world, dice, kept, has_history, is_open: true }
    }

    async fn step(&mut self) {
        match self.dice.usize(..10) {
            0..=6 => {
                let script = says::any(self.dice);
                self.turn(script).await;
            }
            7..=8 => self.review().await,
            _ => {
                let command = self.dice.choice(SLASH_COMMANDS).expect("some commands");
                self.slash(command).await;
            }
        }
    }

    /// Looks at what waits for review and takes some of it, or throws it away.
    async fn review(&mut self) {
        self.world.counts.reviews.up();
        let session = self.kept.session.as_str();
        let listed = self.request("airlock/changes/list", json!({"sessionId": session})).await;
        let changes = listed["changes"].as_array().cloned().unwrap_or_default();
        let verb = if self.dice.usize(..3) == 0 { "reject" } else { "accept" };
        let mut params = if listed.is_null() { json!({}) } else { displayed(&listed) };
        params["sessionId"] = json!(session);
        if self.dice.bool() {
            let some: Vec<&Value> =
                changes.iter().filter(|_| self.dice.bool()).map(|change| &change["path"]).collect();
            params["paths"] = json!(some);
        }
        let outcome = self.request(&format!("airlock/changes/{verb}"), params).await;
        self.world.counts.reviewed.add(outcome["done"].as_array().map_or(0, Vec::len));
    }

    async fn request(&self, method: &str, params: Value) -> Value {
        match self.world.editor.request(method, params).await {
            Ok(result) => result,
            Err(error) => {
                self.world.fault(format!("{method} of {} failed: {error}", self.kept.session));
                Value::Null
            }
        }
    }

    /// Closes the session, whatever is in work in it.
    pub(super) async fn close(&mut self) {
        self.is_open = false;
        let session = self.kept.session.clone();
        self.request("airlock/session/close", json!({"sessionId": session})).await;
    }

    async fn end(mut self) {
        if self.is_open {
            // What was never heard to its end has no history to load.
            while !self.has_history && self.world.is_well() {
                let script = says::talk(self.dice);
                self.calm_turn(script).await;
            }
            self.close().await;
        }
        self.forget_updates();
        self.world.kept.lock().expect("no panic under the lock").push(self.kept);
    }

    /// What was said of this session is read. Nothing may come after the answer to its closing.
    fn forget_updates(&self) {
        let session = &self.kept.session;
        self.world.editor.take_all(|message| message["params"]["sessionId"] == **session);
    }
}

fn one_of(world: &World, dice: &mut Rng) -> Option<Kept> {
    let mut kept = world.kept.lock().expect("no panic under the lock");
    let short: Vec<usize> = (0..kept.len()).filter(|index| kept[*index].turns < TURNS_MAX).collect();
    dice.choice(short).map(|index| kept.swap_remove(index))
}
