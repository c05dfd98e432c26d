//! `cargo xtask soak`: one server of the release build, kept busy for a long time.

use crate::{components, release_program};
use anyhow::Result;

/// A machine on which others work, too, may take long for something without being stuck.
const DEADLINE_S: &str = "120";

/// Soaks for so many minutes; `true` when nothing leaked and nothing was lost.
pub(crate) fn run(minutes: f64, seed: Option<u64>) -> Result<bool> {
    components::set_up_for_sandboxes()?;
    let Some(mut soak) = release_program("soak")? else { return Ok(false) };
    soak.arg(minutes.to_string()).args(seed.map(|seed| seed.to_string()));
    Ok(soak.env("AIRLOCK_TEST_DEADLINE_S", DEADLINE_S).status()?.success())
}
