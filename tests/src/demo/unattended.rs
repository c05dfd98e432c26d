//! Without a person: the chat runs in a terminal of its own, where this types what a person would. What appears there is
//! copied out, line by line.

use super::task::SCRIPT;
use crate::airlock_command::AirlockCommand;
use crate::terminal::Terminal;
use anyhow::{Result, bail, ensure};
use std::io::Write;
use std::time::{Duration, Instant};

/// How often the terminal is looked at.
const POLL: Duration = Duration::from_millis(50);
/// How long any one step may take. The first sandbox of a machine is the slowest.
const PATIENCE: Duration = Duration::from_secs(120);

/// Talks, reviews, accepts, and ends it.
pub(super) async fn talk(command: &AirlockCommand, out: &mut impl Write) -> Result<()> {
    let terminal = Terminal::start(&command.clone().env("NO_COLOR", "1"));
    let mut copy = Copyist { terminal: &terminal, out, lines: 0 };
    let at_a_prompt = |text: &str| text.ends_with("\n>");
    let at_a_question =
        |text: &str| text.lines().last().is_some_and(|line| line.starts_with("1-") && line.ends_with('?'));
    let text =
        copy.until("the end of the turn", |text| text.contains("session:") && at_a_prompt(text)).await?;
    ensure!(text.contains(" to review: "), "the turn ended without a change to review");
    terminal.send("/review");
    let question = copy.until("the question of the review", at_a_question).await?;
    ensure!(question.contains(&format!("Change to {SCRIPT}")), "the review asks about something else");
    terminal.send("1");
    copy.until("the end of the review", at_a_prompt).await?;
    terminal.send("/quit");
    let status = terminal.wait_for_end().await;
    copy.rest()?;
    ensure!(status == 0, "airlock chat ended with status {status}");
    Ok(())
}

struct Copyist<'a, W> {
    terminal: &'a Terminal,
    out: &'a mut W,
    /// How many lines were copied.
    lines: usize,
}

impl<W: Write> Copyist<'_, W> {
    /// Copies until the terminal is as wanted, and gives what is new in it since then.
    async fn until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let (since, begun_at) = (Instant::now(), self.lines);
        loop {
            let ended = self.terminal.has_ended();
            let text = self.terminal.everything();
            // The last line may still change.
            self.write(&text, text.lines().count().saturating_sub(1))?;
            let new = text.lines().skip(begun_at).collect::<Vec<_>>().join("\n");
            if wanted(&new) {
                return Ok(new);
            }
            if ended {
                self.rest()?;
                bail!("airlock chat ended before there was {what}");
            }
            if since.elapsed() > PATIENCE {
                self.rest()?;
                bail!("{what} did not come within {} s", PATIENCE.as_secs());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Copies what is left.
    fn rest(&mut self) -> Result<()> {
        let text = self.terminal.everything();
        self.write(&text, text.lines().count())
    }

    fn write(&mut self, text: &str, until: usize) -> Result<()> {
        for line in text.lines().take(until).skip(self.lines) {
            writeln!(self.out, "{line}")?;
        }
        self.lines = self.lines.max(until);
        self.out.flush()?;
        Ok(())
    }
}
