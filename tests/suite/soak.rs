//! A short soak. `cargo xtask soak` has the long one.

use airlock_tests::soak::{Plan, run};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_leaves_nothing_behind_and_every_history_whole() {
    let seed = std::env::var("AIRLOCK_SOAK_SEED").ok().and_then(|seed| seed.parse().ok());
    let plan = Plan {
        length: Duration::from_secs(16),
        warm_up: Duration::ZERO,
        round: Duration::from_secs(4),
        visitors: 3,
        seed: seed.unwrap_or_else(|| fastrand::u64(..)),
        // A young server still grows; the long soak is the judge of that.
        memory_growth_max: 2.0,
    };
    let outcome = run(&plan).await;
    eprintln!("{outcome}");
    assert!(outcome.faults.is_empty(), "seed {}: {:#?}", plan.seed, outcome.faults);
}
