//! `cargo xtask bench`: the numbers that Airlock promises, measured on the release build.

use crate::{cargo, target_folder};
use anyhow::Result;
use std::process::Command;

/// Measures everything; `true` when every goal is met.
pub(crate) fn run() -> Result<bool> {
    // Both at once, so that what they share is built once.
    let build = ["build", "--release", "--quiet", "--workspace", "--bin", "bench", "--bin", "airlock"];
    if !cargo().args(build).status()?.success() {
        return Ok(false);
    }
    let release = target_folder()?.join("release");
    let mut bench = Command::new(release.join("bench"));
    Ok(bench.env("AIRLOCK_BIN", release.join("airlock")).status()?.success())
}
