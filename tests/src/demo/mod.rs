//! The main job for real, without a key: what `cargo xtask demo` runs.
//!
//! | file | holds |
//! |---|---|
//! | `task` | the workspace, and what the scripted Claude does in it |
//! | `attended` | a person at this terminal talks to `airlock chat` |
//! | `unattended` | nobody is there: the same chat in a terminal of its own, typed into and copied out |
//! | `evidence` | what is known afterwards, from what the sandbox said and what the disk holds |
//!
//! Only Claude is a stand-in. The binary, its terminal, podman, the sandbox and the review are the real ones.

mod attended;
mod evidence;
mod task;
mod unattended;

use crate::airlock_binary::airlock_binary;
use crate::airlock_command::AirlockCommand;
use crate::ordinary_user::UserHome;
use crate::scripted_claude::ScriptedClaude;
use anyhow::Result;
use evidence::{Evidence, Fate};
use std::io::Write;

/// Plays it through, and fails if anything was not as it must be. Nothing of it stays.
///
/// # Errors
/// What did not hold.
pub async fn run(is_attended: bool, out: &mut impl Write) -> Result<()> {
    let claude = ScriptedClaude::start().await;
    task::teach(&claude, is_attended);
    let command = AirlockCommand::new(&claude, &["chat", task::PROMPT]).without_env("USE_SANDBOX");
    // What podman keeps running in it ends with it.
    let home = UserHome::new(command.home().clone());
    for (path, text) in task::FILES {
        home.write(path, text);
    }
    writeln!(out, "{}", introduction(is_attended))?;
    let talked =
        if is_attended { attended::talk(&command, out).await } else { unattended::talk(&command, out).await };
    // A sandbox that could not be says more than that the chat went wrong.
    let evidence = Evidence::of(&claude)?;
    talked?;
    let Some(evidence) = evidence else {
        writeln!(
            out,
            "\nYou left before the agent was done, so nothing was changed. Start it again any time."
        )?;
        return Ok(());
    };
    let fate = Fate::of(&home, is_attended)?;
    writeln!(out, "\n{}", closing(&evidence, fate))?;
    Ok(())
}

fn introduction(is_attended: bool) -> String {
    let hint = if is_attended {
        "When the agent is done, type /review, choose 1 to accept, and end with /quit."
    } else {
        "There is no terminal here, so the chat runs in one of its own, and the questions are answered for you."
    };
    format!(
        "\nThis is `airlock chat` in a temporary workspace: a script, and a test that fails.\n\
         Claude is a stand-in that plays one task; the sandbox, the tool calls and the review are real.\n\
         {hint}\n"
    )
}

fn closing(evidence: &Evidence, fate: Fate) -> String {
    let rule = "─".repeat(20);
    let became = match fate {
        Fate::Accepted => {
            format!("{rule} {} in the workspace, as it is now\n{}{rule}", task::SCRIPT, task::MENDED)
        }
        Fate::LeftOut => format!("You did not accept the change, so {} is as it was.", task::SCRIPT),
    };
    let airlock = airlock_binary().display();
    format!(
        "{became}\n\n{wall}\n\nNext:\n  \
         {airlock} doctor           what this machine has and lacks\n  \
         export ANTHROPIC_API_KEY=…; cd YOUR-PROJECT; {airlock} chat\n  \
         README.md                  VS Code, Neovim and other editors; plugins; configuration",
        wall = evidence.wall(),
    )
}
