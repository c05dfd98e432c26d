//! `airlock chat`: what to say, where, and whether a person is there to talk to.

use super::arguments::ChatArguments;
use super::exit::Exit;
use super::questions::{self, Question};
use super::signals::Signals;
use super::{fail, interactive, one_turn};
use crate::agent::{Agent, Session};
use crate::environment::Environment;
use crate::limits::PROMPT_MAX_BYTES;
use crate::paths::WorkspaceRoot;
use crate::tools;
use crate::view::NoEditor;
use anyhow::{Context, bail};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A session, and what a front end needs around it.
pub(super) struct Conversation {
    pub(super) agent: Arc<Agent>,
    pub(super) session: Arc<Session>,
    pub(super) questions: mpsc::Receiver<Question>,
    pub(super) signals: Signals,
}

/// Runs `airlock chat`.
pub(super) async fn run(environment: Environment, arguments: ChatArguments) -> Exit {
    let (stdin, stdout) = (io::stdin().is_terminal(), io::stdout().is_terminal());
    let mode = match Mode::choose(&arguments, stdin, stdout) {
        Ok(mode) => mode,
        Err(misuse) => {
            // Nowhere is left to say that stderr is gone.
            let _ = writeln!(io::stderr(), "airlock: {misuse}");
            return Exit::Misused;
        }
    };
    match talk(environment, arguments.workspace, mode).await {
        Ok(exit) => exit,
        Err(error) => fail(&error),
    }
}

async fn talk(environment: Environment, workspace: Option<PathBuf>, mode: Mode) -> anyhow::Result<Exit> {
    let (agent, exit) = match mode {
        Mode::OneTurn(source) => {
            // Before signals are taken as events, so that Ctrl-C still ends a program that waits for its input.
            let prompt = source.read()?;
            let conversation = Conversation::open(environment, workspace)?;
            (Arc::clone(&conversation.agent), one_turn::run(conversation, prompt).await)
        }
        Mode::Interactive(first) => {
            let conversation = Conversation::open(environment, workspace)?;
            (Arc::clone(&conversation.agent), interactive::run(conversation, first).await)
        }
    };
    agent.close().await;
    Ok(exit)
}

impl Conversation {
    fn open(environment: Environment, workspace: Option<PathBuf>) -> anyhow::Result<Self> {
        let (agent, root) = agent_for(environment, workspace)?;
        let (asker, questions) = questions::channel();
        let session = agent.new_session(Some(root), Arc::new(asker))?;
        let signals = Signals::new().context("signals cannot be caught")?;
        Ok(Self { agent, session, questions, signals })
    }

    /// The session of this name, or the newest in which something waits for review, if there is one.
    pub(super) async fn to_review(
        environment: Environment,
        workspace: Option<PathBuf>,
        id: Option<String>,
    ) -> anyhow::Result<Option<Self>> {
        let (agent, root) = agent_for(environment, workspace)?;
        let Some(id) = id.map_or_else(|| agent.session_to_review(&root), |id| Ok(Some(id)))? else {
            return Ok(None);
        };
        let (asker, questions) = questions::channel();
        let session = agent.load_session(&id, Some(root), Arc::new(asker)).await?;
        let signals = Signals::new().context("signals cannot be caught")?;
        Ok(Some(Self { agent, session, questions, signals }))
    }
}

fn agent_for(
    environment: Environment,
    workspace: Option<PathBuf>,
) -> anyhow::Result<(Arc<Agent>, WorkspaceRoot)> {
    let agent = Agent::new(environment, Arc::new(NoEditor), tools::built_in());
    let working_dir = &agent.environment().working_dir;
    let folder = match workspace {
        Some(folder) => working_dir.join(folder),
        None => agent.settings().safedir.clone().unwrap_or_else(|| working_dir.clone()),
    };
    let root = WorkspaceRoot::open(&folder)?;
    Ok((agent, root))
}

/// How to talk.
#[derive(Debug, PartialEq, Eq)]
enum Mode {
    /// One prompt, one answer.
    OneTurn(Source),
    /// A person types; this is said first.
    Interactive(Option<String>),
}

/// Where a prompt comes from.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    Text(String),
    Stdin,
}

impl Mode {
    fn choose(arguments: &ChatArguments, stdin: bool, stdout: bool) -> Result<Self, &'static str> {
        match arguments.prompt.as_deref() {
            Some("-") => Ok(Self::OneTurn(Source::Stdin)),
            Some(text) if text.trim().is_empty() => Err("the prompt is empty: say something"),
            Some(text) if arguments.print || !stdin || !stdout => {
                Ok(Self::OneTurn(Source::Text(text.to_owned())))
            }
            None if !stdin => Ok(Self::OneTurn(Source::Stdin)),
            None if arguments.print => Err("there is nothing to say: give --print a PROMPT, or pipe one in"),
            None if !stdout => {
                Err("the output is no terminal to talk in: give a PROMPT, and one answer is written to it")
            }
            first => Ok(Self::Interactive(first.map(str::to_owned))),
        }
    }
}

impl Source {
    fn read(self) -> anyhow::Result<String> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Stdin => read_stdin(),
        }
    }
}

/// The whole of stdin.
fn read_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().take(PROMPT_MAX_BYTES as u64 + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
    if bytes.len() > PROMPT_MAX_BYTES {
        bail!(
            "what came on stdin is longer than {PROMPT_MAX_BYTES} bytes: put it in a file and mention it with @file"
        );
    }
    let text = String::from_utf8(bytes).context("what came on stdin is not UTF-8 text")?;
    if text.trim().is_empty() {
        bail!("nothing came on stdin: pipe in a prompt");
    }
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_person_is_talked_to_only_where_one_types_and_reads() {
        let text = |text: &str| Ok(Mode::OneTurn(Source::Text(text.into())));
        let stdin = || Ok(Mode::OneTurn(Source::Stdin));
        let talk = |first: Option<&str>| Ok(Mode::Interactive(first.map(str::to_owned)));
        for (prompt, print, stdin_is_terminal, stdout_is_terminal, expected) in [
            (None, false, true, true, talk(None)),
            (Some("hi"), false, true, true, talk(Some("hi"))),
            (Some("hi"), true, true, true, text("hi")),
            (Some("hi"), false, false, true, text("hi")),
            (Some("hi"), false, true, false, text("hi")),
            (None, false, false, true, stdin()),
            (None, true, false, false, stdin()),
            (Some("-"), true, false, false, stdin()),
        ] {
            let arguments = ChatArguments { prompt: prompt.map(str::to_owned), print, workspace: None };
            assert_eq!(Mode::choose(&arguments, stdin_is_terminal, stdout_is_terminal), expected);
        }
    }

    #[test]
    fn nothing_to_say_is_a_misuse() {
        for (prompt, print, stdout) in [(None, true, true), (None, false, false), (Some(" "), true, true)] {
            let arguments = ChatArguments { prompt: prompt.map(str::to_owned), print, workspace: None };
            assert!(Mode::choose(&arguments, true, stdout).is_err(), "{arguments:?}");
        }
    }
}
