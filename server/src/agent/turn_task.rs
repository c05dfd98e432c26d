//! What a prompt becomes: a slash command's answer, or a turn with the model.

use super::commands::built_in::{self, CommandContext, Outcome};
use super::commands::{Expansion, MentionedFile, SlashCommand, attach_mentions};
use super::driver::Driver;
use super::history::{Entry, Header};
use super::prompt::{ContextItem, Prompt, title};
use super::session::{Session, State, TurnOver};
use super::system_prompt::{INSTRUCTION_FILES, Instructions, system_prompt};
use super::update::{NoticeLevel, StopReason, Update};
use crate::limits::{INSTRUCTIONS_FILE_MAX_BYTES, TURN_LAST_SAVE_MAX_MS, TURN_TELL_CHANGES_MAX_MS};
use crate::nearest::nearest;
use crate::paths::WorkspacePath;
use crate::trust::{TrustState, TrustedWorkspace};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// A turn in a task of its own.
pub(super) struct TurnTask {
    pub(super) session: Arc<Session>,
    pub(super) turn_id: String,
    pub(super) cancel: CancellationToken,
    /// The view as it was before the first thing in the turn that may write.
    pub(super) checkpoint: Arc<OnceCell<()>>,
}

/// A prompt for the model, and the model for it when a command chose one.
pub(super) struct Ready {
    pub(super) prompt: Prompt,
    pub(super) model: Option<String>,
}

impl TurnTask {
    /// Runs the turn to its end.
    pub(super) async fn run(self, prompt: Prompt) -> TurnOver {
        tracing::debug!(session = self.session.id, turn = self.turn_id, "turn begins");
        let mut state = self.session.lock_state().await;
        state.shown = Arc::new(prompt.shown.clone());
        self.renew_plugins(&mut state).await;
        let ready = match SlashCommand::parse(&prompt.text) {
            None => Ok(Ready { prompt: self.with_mentions(prompt), model: None }),
            Some(command) => self.command(&mut state, prompt, &command).await,
        };
        match ready {
            // The API refuses an empty text, and would refuse every later request with it.
            Ok(Ready { prompt, .. }) if prompt.text.trim().is_empty() => {
                // A plugin's command may have changed something all the same.
                if self.checkpoint.initialized() {
                    self.tell_changes().await;
                }
                over(StopReason::Error, Some("the prompt is empty: say what to do".to_owned()))
            }
            Ok(Ready { prompt, model }) => {
                let over = self.ask_model(&mut state, prompt, model).await;
                self.tell_changes().await;
                over
            }
            Err(over) => over,
        }
    }

    /// Where there is much to look at, the turn ends before that is done, and one that is stopped at once.
    pub(super) async fn tell_changes(&self) {
        let stopped = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(TURN_LAST_SAVE_MAX_MS)).await;
        };
        tokio::select! {
            () = self.session.tell_changes_soon() => {}
            () = stopped => {}
            () = tokio::time::sleep(Duration::from_millis(TURN_TELL_CHANGES_MAX_MS)) => {}
        }
    }

    async fn ask_model(&self, state: &mut State, prompt: Prompt, model: Option<String>) -> TurnOver {
        if let Some(why) = state.over_budget() {
            return over(StopReason::Error, Some(why));
        }
        let model = model.unwrap_or_else(|| state.model.clone());
        self.begin(state, &prompt.text).await;
        let today = jiff::Zoned::now().date();
        let untold = (state.told_date != Some(today)).then_some(today);
        state.told_date = Some(today);
        let message = prompt.into_message(untold, self.session.take_review_notes());
        let checkpoint = Arc::clone(&self.checkpoint);
        Driver::new(&self.session, state, &self.cancel, model, checkpoint).run(message).await
    }

    /// With the first prompt of a session: what stays the same for the whole of it.
    async fn begin(&self, state: &mut State, words: &str) {
        if state.header.is_some() {
            return self.renew_tools(state).await;
        }
        let header = Header {
            version: Header::VERSION,
            title: title(words),
            model: state.model.clone(),
            system: self.system_prompt(),
            tools: state.shelved.tools.specs().to_vec(),
        };
        state.header = Some(header.clone());
        // The prompt that follows is waited for, and lines are written in order.
        drop(state.write(Entry::Session(header)).await);
    }

    fn system_prompt(&self) -> String {
        let name = self.session.workspace.as_ref().map(|root| root.name());
        let instructions = match self.session.agent.trust_of(self.session.workspace.as_ref()) {
            Some(TrustState::Trusted(trusted)) => self.instructions(&trusted),
            // It may have changed since the session began, and what it says is left out from here on.
            Some(TrustState::Changed { files }) => {
                self.session.notice(NoticeLevel::Warning, super::changed_since_trusted(&files));
                None
            }
            _ => None,
        };
        system_prompt(name.as_deref(), instructions.as_slice())
    }

    /// The workspace's own instructions: of the files that may hold them, the first that is there.
    fn instructions(&self, trusted: &TrustedWorkspace) -> Option<Instructions> {
        INSTRUCTION_FILES.into_iter().find_map(|file| {
            match trusted.read_text(file, INSTRUCTIONS_FILE_MAX_BYTES) {
                Ok(text) => Some(Instructions { file: file.to_owned(), text: text? }),
                Err(problem) => {
                    self.session.notice(NoticeLevel::Warning, problem.to_string());
                    None
                }
            }
        })
    }

    /// A slash command: its answer ends the turn, or it stands for a prompt.
    async fn command(
        &self,
        state: &mut State,
        prompt: Prompt,
        command: &SlashCommand,
    ) -> Result<Ready, TurnOver> {
        if let Some(built_in) = built_in::find(&command.name) {
            return Err(self.run_built_in(state, built_in, &command.arguments).await);
        }
        let Some(custom) = state.custom.get(&command.name) else {
            return self.plugin_command(state, prompt, command).await;
        };
        match custom.expand(&command.arguments, &mut |path| self.mentioned(path)) {
            Ok(expansion) => {
                let model = custom.model().map(str::to_owned);
                let prompt = Prompt { text: self.told(expansion), ..prompt };
                self.session.outbox.push(Update::UserMessage { text: prompt.text.clone() });
                Ok(Ready { prompt, model })
            }
            Err(why) => Err(over(StopReason::Error, Some(why))),
        }
    }

    async fn run_built_in(
        &self,
        state: &mut State,
        command: &dyn built_in::BuiltIn,
        arguments: &str,
    ) -> TurnOver {
        let context = CommandContext { session: &self.session, state, cancel: &self.cancel };
        // Not dropped on a cancel: a command that is half done would leave conversation and history at odds. Those
        // that wait for somebody look at the cancel themselves.
        match command.run(context, arguments).await {
            Ok(Outcome::Done) => over(StopReason::EndTurn, None),
            Ok(Outcome::Quit) => TurnOver { quit: true, ..over(StopReason::EndTurn, None) },
            Err(_) if self.cancel.is_cancelled() => over(StopReason::Cancelled, None),
            Err(why) => over(StopReason::Error, Some(why)),
        }
    }

    pub(super) fn unknown_command(&self, state: &State, name: &str) -> TurnOver {
        let infos = built_in::all_infos(&state.custom, &state.shelved.shelf);
        let guess = nearest(name, infos.iter().map(|info| info.name.as_str()));
        let advice =
            guess.map_or("/help lists those there are".to_owned(), |guess| format!("did you mean /{guess}?"));
        over(StopReason::Error, Some(format!("there is no command /{name}: {advice}")))
    }

    /// Brings in the files that an ordinary prompt mentions with `@path`. An `@word` that is no file is only a word.
    fn with_mentions(&self, mut prompt: Prompt) -> Prompt {
        if let Ok(Expansion { files, .. }) = attach_mentions(&prompt.text, &mut |path| self.mentioned(path)) {
            let items = files.into_iter().map(|MentionedFile { path, content }| ContextItem {
                name: path.to_string(),
                text: content,
                ..ContextItem::default()
            });
            prompt.context.extend(items);
        }
        prompt
    }

    /// The text of an expanded command; its problems are shown.
    fn told(&self, expansion: Expansion) -> String {
        for problem in &expansion.problems {
            self.session.notice(NoticeLevel::Warning, problem.clone());
        }
        expansion.prompt()
    }

    fn mentioned(&self, path: &WorkspacePath) -> Result<String, String> {
        self.session.agent.mentioned_file(self.session.workspace.as_ref(), path)
    }
}

pub(super) fn over(stop_reason: StopReason, error: Option<String>) -> TurnOver {
    TurnOver { stop_reason, error, quit: false }
}
