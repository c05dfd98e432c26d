//! What `cargo xtask bench` runs: prints the table, keeps it in `tests/bench/results.md`, fails when a goal is missed.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

use airlock_tests::bench::{self, table};
use std::path::Path;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let measures = bench::all().await;
    let text = table::render(&measures);
    println!("{text}");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/results.md");
    if let Err(error) = std::fs::write(&kept, format!("{}{text}", table::HEADING)) {
        eprintln!("{} cannot be written: {error}", kept.display());
    }
    if measures.iter().all(bench::Measure::passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
