//! `cargo xtask demo`: the main job for real, without a key. Sets up what is missing, builds, and hands over.

use crate::{cargo, components, target_folder};
use anyhow::{Context, Result, bail};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes the demo; it returns only when that cannot be.
pub(crate) fn run(unattended: bool) -> Result<bool> {
    components::set_up_for_demo()?;
    eprintln!("building Airlock; the first time this takes some minutes");
    // As the tests build it, so that whoever runs them next has most of it already.
    let build = [
        "build",
        "--workspace",
        "--bin",
        "airlock",
        "--bin",
        "demo",
        "--features",
        "airlock-tests/as-tested",
    ];
    if !cargo().args(build).status().context("cannot start cargo")?.success() {
        bail!("Airlock does not build here: what the compiler says above is why");
    }
    let built = target_folder()?.join("debug");
    let mut demo = Command::new(built.join("demo"));
    demo.env("AIRLOCK_BIN", built.join("airlock")).args(unattended.then_some("--unattended"));
    // In our place, not beneath us: a Ctrl-C in the terminal is for the chat alone.
    Err(demo.exec()).context("cannot start the demo")
}
