//! With a person: `airlock chat` has this terminal, and they answer its questions.

use super::evidence::Fate;
use crate::airlock_command::AirlockCommand;
use anyhow::{Context, Result, ensure};
use std::io::Write;

/// What a program needs to know of this terminal.
const OF_THE_TERMINAL: [&str; 6] = ["TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR"];

/// Talks until the person ends it.
pub(super) async fn talk(command: &AirlockCommand, out: &mut impl Write) -> Result<()> {
    // Ctrl-C is meant for the chat, which stops its turn.
    let interrupts = tokio::spawn(async { while tokio::signal::ctrl_c().await.is_ok() {} });
    run(command).await?;
    if Fate::of(command.home(), true)? == Fate::LeftOut && waits_for_review(command).await? {
        writeln!(out, "\nThe change still waits, and would for days: this is `airlock review`.")?;
        run(&command.again(&["review"])).await?;
    }
    interrupts.abort();
    Ok(())
}

async fn run(command: &AirlockCommand) -> Result<()> {
    let mut process = command.process();
    process.env_remove("TERM");
    for name in OF_THE_TERMINAL {
        if let Some(value) = std::env::var_os(name) {
            process.env(name, value);
        }
    }
    let status = process.status().await.context("airlock does not start")?;
    ensure!(status.success(), "airlock ended with {status}");
    Ok(())
}

/// Without a terminal `airlock review` lists what there is and takes nothing.
async fn waits_for_review(command: &AirlockCommand) -> Result<bool> {
    let mut process = command.again(&["review"]).process();
    let listed = process.stdin(std::process::Stdio::null()).output().await?;
    Ok(!String::from_utf8_lossy(&listed.stdout).starts_with("Nothing waits"))
}
