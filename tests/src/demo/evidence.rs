//! What is known afterwards: not from what Airlock says of itself, but from what the sandbox said and the disk holds.

use super::task::{BEFORE, CALLS, MENDED, SCRIPT};
use crate::editor::Home;
use crate::scripted_claude::ScriptedClaude;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// What the sandbox said.
pub(super) struct Evidence {
    pub(super) is_microvm: bool,
    networks: String,
}

/// What became of the change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    /// The person said no, or not yet.
    LeftOut,
}

impl Evidence {
    /// From what the tool calls gave back to the model; nothing where they were not all made.
    pub(super) fn of(claude: &ScriptedClaude) -> Result<Option<Self>> {
        let requests = claude.requests();
        let blocks: Vec<Value> = requests
            .iter()
            .flat_map(|request| request.messages().iter().filter_map(|message| message["content"].as_array()))
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .cloned()
            .collect();
        let mut results = Vec::new();
        for id in CALLS {
            let Some(block) = blocks.iter().find(|block| block["tool_use_id"] == id) else {
                return Ok(None);
            };
            let text = block["content"][0]["text"].as_str().unwrap_or_default();
            // A command that fails is an error, too, and one of them is to fail.
            if block["is_error"] == true && !text.contains("[exit code ") {
                bail!(
                    "a tool call failed in the sandbox: {text}\n`airlock doctor` says what this machine lacks"
                );
            }
            results.push(text);
        }
        let [failing, read, _edited, passing, look] = results[..] else { bail!("there are five calls") };
        ensure!(
            failing.contains("WRONG  1900: yes") && failing.contains("[exit code 1"),
            "the test did not fail at first, but said: {failing}"
        );
        ensure!(read.contains("$1 % 4"), "the script was not to be read, but: {read}");
        ensure!(
            passing.contains("ok     1900: no") && passing.contains("[exit code 0"),
            "the test did not pass in the end, but said: {passing}"
        );
        let kernel = look.lines().next().unwrap_or_default();
        ensure!(kernel.len() == 36, "no kernel's id came from the sandbox, but: {look}");
        let host = std::fs::read_to_string(BOOT_ID).context(BOOT_ID)?;
        let networks =
            look.lines().find_map(|line| line.strip_prefix("networks: ")).unwrap_or("none").to_owned();
        ensure!(networks == "none" || networks == "lo", "the sandbox sees networks: {networks}");
        Ok(Some(Self { is_microvm: kernel != host.trim(), networks }))
    }

    /// The wall in words.
    pub(super) fn wall(&self) -> String {
        let kernel = if self.is_microvm {
            "The agent ran in a microVM: the kernel in there told another id than this machine's."
        } else {
            "The agent ran in a container, not in a microVM: the kernel in there told this machine's own id.\n\
             `airlock doctor` says what a microVM takes."
        };
        let networks = if self.networks == "lo" { "none but its own loopback" } else { "none" };
        format!("{kernel} Networks that it saw: {networks}.")
    }
}

impl Fate {
    /// From the file in the workspace. Only a person may leave the change out.
    pub(super) fn of(home: &Home, is_attended: bool) -> Result<Self> {
        let path = home.workspace().join(SCRIPT);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        match text.as_str() {
            MENDED => Ok(Self::Accepted),
            BEFORE if is_attended => Ok(Self::LeftOut),
            BEFORE => bail!("the change was accepted, but is not in {SCRIPT}"),
            other => bail!("{SCRIPT} holds neither what it was nor what was accepted:\n{other}"),
        }
    }
}
