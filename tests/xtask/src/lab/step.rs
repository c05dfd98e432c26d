//! Programs that make the lab: silent when they work, heard when they do not.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// The end of what a program said that failed.
const SAID_MAX_LINES: usize = 30;

/// Runs a program to its end, and gives what it wrote to stdout.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(std::process::Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        let all = said(&output.stdout) + &said(&output.stderr);
        let lines: Vec<&str> = all.lines().collect();
        let end = lines[lines.len().saturating_sub(SAID_MAX_LINES)..].join("\n");
        bail!("{program} failed ({}):\n{end}", output.status);
    }
    Ok(said(&output.stdout))
}

/// Downloads a file of the Debian mirror as apt does, with its proxies, and refuses any other content.
pub(crate) fn download(mirror: &str, path: &str, sha256: &str, to: &Path) -> Result<()> {
    run(Command::new("/usr/lib/apt/apt-helper")
        .arg("download-file")
        .arg(format!("{mirror}/{path}"))
        .arg(to)
        .arg(format!("SHA256:{sha256}")))
    .with_context(|| {
        format!("{path} cannot be had; if the mirror has another version now, name that one here")
    })?;
    Ok(())
}
