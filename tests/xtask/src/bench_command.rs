//! `cargo xtask bench`: the numbers that Airlock promises, measured on the release build.

use crate::{claude_code, components, release_program};
use anyhow::Result;

/// Measures everything; `true` when every goal is met.
pub(crate) fn run() -> Result<bool> {
    components::set_up_for_sandboxes()?;
    claude_code::set_up()?;
    let Some(mut bench) = release_program("bench")? else { return Ok(false) };
    Ok(bench.env("AIRLOCK_TEST_CACHE", components::cache()?).status()?.success())
}
