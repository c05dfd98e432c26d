//! `cargo xtask bench`: the numbers that Airlock promises, measured on the release build.

use crate::{claude_code, components, release_program, target_folder};
use anyhow::{Context, Result, ensure};
use std::path::Path;

/// Measures everything; `true` when every goal is met. With the release build of an earlier commit: when no median is
/// more than a tenth worse than its.
pub(crate) fn run(against: Option<&Path>) -> Result<bool> {
    // Before the long build. The bench calls it from other directories.
    let found = |binary: &Path| binary.canonicalize().with_context(|| binary.display().to_string());
    let against = against.map(found).transpose()?;
    components::set_up_for_sandboxes()?;
    if against.is_none() {
        claude_code::set_up()?;
    }
    let Some(mut bench) = release_program("bench")? else { return Ok(false) };
    if let Some(binary) = &against {
        let ours = target_folder()?.join("release/airlock");
        // The build has just written ours, perhaps over the one that was named.
        ensure!(
            std::fs::read(binary)? != std::fs::read(&ours)?,
            "{} is this tree's own build: copy the earlier commit's out of the target folder first",
            binary.display()
        );
    }
    bench.args(against).env("AIRLOCK_TEST_CACHE", components::cache()?);
    Ok(bench.status()?.success())
}
