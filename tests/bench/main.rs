//! What `cargo xtask bench` runs: prints the table, keeps it in `tests/bench/results.md`, fails when a goal is missed.
//! With the absolute path of another build of Airlock it compares the two instead, and keeps nothing.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

use airlock_tests::bench::{self, table};
use std::path::Path;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let measures = match std::env::args_os().nth(1) {
        None => {
            let measures = bench::all().await;
            keep(&measures);
            measures
        }
        Some(before) => {
            println!("{}\n", bench::NOT_COMPARED);
            bench::compare(Path::new(&before)).await
        }
    };
    println!("{}", table::render(&measures));
    if measures.iter().all(bench::Measure::passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn keep(measures: &[bench::Measure]) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/results.md");
    if let Err(error) = std::fs::write(&kept, format!("{}{}", table::HEADING, table::render(measures))) {
        eprintln!("{} cannot be written: {error}", kept.display());
    }
}
