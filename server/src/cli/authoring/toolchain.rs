//! Runs a tool of the author's: cargo, rustc, componentize-py.

use crate::environment::{Environment, hide_secrets};
use anyhow::Context;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// An installed program, or what to do to get it.
pub(super) fn find(environment: &Environment, name: &str, advice: &str) -> anyhow::Result<PathBuf> {
    environment.program(name).with_context(|| format!("{name} is not installed: {advice}"))
}

/// Runs it in a folder and gives its stdout; what it says on stderr is the author's to read. It ends with us.
pub(super) async fn run<A: AsRef<OsStr>>(
    program: &Path,
    folder: &Path,
    words: &[A],
    stderr: Stdio,
) -> anyhow::Result<(bool, Vec<u8>)> {
    let child = command(program)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true)
        .spawn();
    let child = child.with_context(|| format!("cannot start {}", program.display()))?;
    let output =
        child.wait_with_output().await.with_context(|| format!("cannot hear {}", program.display()))?;
    Ok((output.status.success(), output.stdout))
}

/// With the author's environment, but for our secrets: a build script of a dependency needs none of them.
#[expect(clippy::disallowed_methods, reason = "the author asked for a build, in their own terminal")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    hide_secrets(&mut command);
    command
}
