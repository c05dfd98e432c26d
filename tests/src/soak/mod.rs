//! A long life of one server: many sessions with real sandboxes, cancelled, crashed and loaded again at random moments,
//! while plugins, documents and files change around them.
//!
//! It goes in rounds. After each, every session is closed and the server rests; then the world is looked at, for all
//! rests are alike: what is there at one and was not at an earlier one has leaked.
//!
//! | what | where |
//! |---|---|
//! | what the model says, and whether it is told the truth | `mind`, `says` |
//! | the life of a session, and its turns | `visit`, `turns` |
//! | what dies | `crashes` |
//! | what changes around: files, plugins, documents | `surroundings`, `typist` |
//! | what a server leaves in the world; how it is judged | `crate::traces`, `rest` |
//! | whether every history is whole | `histories` |
//! | what is told at the end | `report` |

mod crashes;
mod histories;
mod mind;
mod report;
mod rest;
mod says;
mod surroundings;
mod turns;
mod typist;
mod visit;
mod world;

pub use report::Outcome;

use crate::editor::{Editor, EditorOptions, Home};
use crate::scripted_claude::ScriptedClaude;
use crate::traces;
use fastrand::Rng;
use rest::Rest;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{JoinError, JoinSet};
use world::World;

/// How a soak goes.
pub struct Plan {
    /// How long it lasts, without the look at the histories.
    pub length: Duration,
    /// How long the server may grow before its memory counts.
    pub warm_up: Duration,
    /// How long it works between two rests.
    pub round: Duration,
    /// How many sessions are open at once.
    pub visitors: usize,
    /// Makes the same choices again; the moments are the machine's.
    pub seed: u64,
    /// The most that memory may grow after the warm-up.
    pub memory_growth_max: f64,
}

/// Runs it. What does not hold is in what comes back, a line each.
pub async fn run(plan: &Plan) -> Outcome {
    let world = start().await;
    let mut dice = Rng::with_seed(plan.seed);
    let begun = Instant::now();
    let mut rests: Vec<Rest> = Vec::new();
    let edits = tokio::spawn(typist::make_edits(Arc::clone(&world)));
    while begun.elapsed() < plan.length && world.is_well() {
        let until = Instant::now() + plan.round.min(plan.length.saturating_sub(begun.elapsed()));
        round(&world, plan, &mut dice, until).await;
        if world.is_well() {
            let rest = rest::rest(&world, begun).await;
            eprintln!("{rest}; {}", world.counts);
            rests.push(rest);
        }
    }
    edits.abort();
    let _ = edits.await;
    rest::judge(&world, plan, &rests);
    let counts = world.counts.rows();
    let world = Arc::into_inner(world).expect("every task has ended");
    let (home, mind, kept, mut faults) = world.end().await;
    faults.extend(histories::check(&home, &mind, kept).await);
    faults.extend(traces::left_by_the_dead(&home).await);
    Outcome { seed: plan.seed, took: begun.elapsed(), counts, rests: (rests, plan.warm_up), faults }
}

async fn start() -> Arc<World> {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    surroundings::prepare(&home);
    let options = EditorOptions::new(&claude).home(&home).with_sandbox();
    let editor = Editor::ready(options.env("TMPDIR", world::temporary_folder(&home))).await;
    for method in ["$/progress", "$/cancelRequest"] {
        editor.ignore(method);
    }
    editor.answer("airlock/permission", json!({"optionId": "continue"}));
    Arc::new(World::new(claude, editor))
}

/// Work, until a moment; everything that was opened is closed after it.
async fn round(world: &Arc<World>, plan: &Plan, dice: &mut Rng, until: Instant) {
    let mut tasks = JoinSet::new();
    for _ in 0..plan.visitors {
        tasks.spawn(visit::visits(Arc::clone(world), dice.fork(), until));
    }
    tasks.spawn(surroundings::change_files(Arc::clone(world), dice.fork(), until));
    tasks.spawn(surroundings::change_plugins(Arc::clone(world), dice.fork(), until));
    tasks.spawn(typist::types(Arc::clone(world), dice.fork(), until));
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            world.fault(format!("a part of the soak did not end well: {}", words(error)));
            // The others would wait for what does not come.
            tasks.shutdown().await;
        }
    }
}

fn words(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return "it was stopped".to_owned() };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}
