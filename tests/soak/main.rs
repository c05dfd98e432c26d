//! What `cargo xtask soak` runs: prints how it goes and a table at the end, and fails when something did not hold.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

use airlock_tests::soak::{self, Plan};
use std::process::ExitCode;
use std::time::Duration;

/// Memory at the end may be a tenth more than after the first two minutes.
const MEMORY_GROWTH_MAX: f64 = 1.1;

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let minutes: f64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(20.0);
    let seed: u64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    eprintln!("{minutes} minutes with seed {seed}");
    let length = Duration::from_secs_f64(minutes * 60.0);
    let plan = Plan {
        length,
        warm_up: Duration::from_secs(120).min(length / 3),
        round: Duration::from_secs(20),
        visitors: 4,
        seed,
        memory_growth_max: MEMORY_GROWTH_MAX,
    };
    let outcome = soak::run(&plan).await;
    println!("{outcome}");
    if outcome.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
