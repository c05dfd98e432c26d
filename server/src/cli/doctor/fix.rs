//! `airlock doctor --fix`: gets what is missing, as far as commands can, after showing them all.

use super::Findings;
use crate::cli::exit::Exit;
use crate::cli::signals::Signals;
use crate::distribution::{Distribution, HostCommand};
use crate::environment::{Environment, hide_secrets};
use anyhow::Context;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::Stdio;
use tokio::process::Command;

/// What came of it.
pub(super) enum Fixed {
    /// Nothing was run, and this is how to end.
    Nothing(Exit),
    /// Something was: it is to be looked at again.
    Something,
}

/// What makes another user of the user, best first.
const BECOME_ROOT: [&str; 2] = ["sudo", "doas"];

/// Shows what would be run, asks unless the user has said yes already, and runs it.
pub(super) async fn fix(
    environment: &Environment,
    findings: &Findings,
    distribution: &Distribution,
    said_yes: bool,
    signals: &mut Signals,
) -> anyhow::Result<Fixed> {
    let mut stdout = io::stdout();
    let commands = commands(findings, distribution);
    if commands.is_empty() {
        let rest = if findings.are_well() { "" } else { ": what is left is yours to do" };
        writeln!(stdout, "There is nothing to run{rest}.")?;
        return Ok(Fixed::Nothing(findings.exit()));
    }
    writeln!(stdout, "\nThis would be run:")?;
    for command in &commands {
        writeln!(stdout, "  {command}")?;
    }
    if !said_yes {
        if !io::stdin().is_terminal() {
            writeln!(
                io::stderr(),
                "airlock: nobody can be asked here, so nothing is run: give --yes, or a terminal"
            )?;
            return Ok(Fixed::Nothing(Exit::Misused));
        }
        write!(stdout, "Run it? [y/N] ")?;
        stdout.flush()?;
        let answer = tokio::select! {
            signal = signals.next() => return Ok(Fixed::Nothing(Exit::Signalled(signal))),
            answer = tokio::task::spawn_blocking(answer) => answer??,
        };
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            writeln!(stdout, "Nothing was run.")?;
            return Ok(Fixed::Nothing(findings.exit()));
        }
    }
    for command in &commands {
        writeln!(stdout, "\n> {command}")?;
        stdout.flush()?;
        let status = process(environment, command)?.status().await;
        let status = status.with_context(|| format!("`{command}` cannot be started"))?;
        if !status.success() {
            writeln!(io::stderr(), "airlock: `{command}` ended with {status}, so the rest is not run")?;
            break;
        }
    }
    Ok(Fixed::Something)
}

/// Everything in one installation, then what else is to be run, nothing twice.
fn commands(findings: &Findings, distribution: &Distribution) -> Vec<HostCommand> {
    let remedies: Vec<_> = findings.all.iter().filter_map(|finding| finding.remedy.as_ref()).collect();
    let needs: Vec<_> = remedies.iter().flat_map(|remedy| remedy.needs.iter().copied()).collect();
    let mut commands = distribution.installation(&needs);
    for command in remedies.iter().flat_map(|remedy| &remedy.commands) {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    commands
}

fn answer() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// With the user's environment, but for our secrets: a package's script needs none of them.
#[expect(clippy::disallowed_methods, reason = "the user was shown the command, and wants it run")]
fn process(environment: &Environment, command: &HostCommand) -> anyhow::Result<Command> {
    let mut words: Vec<String> = Vec::new();
    if command.wants_another_user() {
        let found = BECOME_ROOT.iter().find_map(|name| environment.program(name));
        let program =
            found.context("neither sudo nor doas is installed: run the commands as root yourself")?;
        words.push(program.display().to_string());
    }
    words.extend(command.words().iter().cloned());
    let mut process = Command::new(&words[0]);
    hide_secrets(&mut process);
    process.args(&words[1..]).stdin(Stdio::inherit()).kill_on_drop(true);
    Ok(process)
}
