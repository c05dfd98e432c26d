//! `cargo xtask bench`: the numbers that Airlock promises, measured on the release build.

use crate::cargo;
use anyhow::Result;

/// Measures everything; `true` when every goal is met. The bench builds the binary that it measures.
pub(crate) fn run() -> Result<bool> {
    let bench = ["run", "--release", "--quiet", "--package", "airlock-tests", "--bin", "bench"];
    Ok(cargo().args(bench).status()?.success())
}
