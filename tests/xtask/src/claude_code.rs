//! Claude Code, the peer that Airlock is measured beside: its program as the registry of npm has it.

use crate::components::{cache, run};
use anyhow::{Context, Result};
use std::process::Command;

/// Pinned, so that a run today and one next year agree. The package of this machine's kind, which holds the program.
const PACKAGE: &str = "@anthropic-ai/claude-code-linux-x64@2.1.325";

/// Installs it where it is missing.
pub(crate) fn set_up() -> Result<()> {
    let home = cache()?.join("claude-code");
    let marker = home.join(".ready");
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == PACKAGE) {
        return Ok(());
    }
    eprintln!("setting up {PACKAGE} in {}", home.display());
    crate::vscode::npm()?;
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    std::fs::write(home.join("package.json"), "{\"private\": true}\n")?;
    let install = ["install", "--no-progress", "--no-audit", "--no-fund", PACKAGE];
    run(Command::new("npm").current_dir(&home).args(install)).context(PACKAGE)?;
    std::fs::write(marker, PACKAGE)?;
    Ok(())
}
