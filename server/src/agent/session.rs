//! A session: one conversation with its history, and at most one turn in work.
//!
//! Architecture invariant: every prompt that is taken gives exactly one `TurnEnd`, also when the turn panics. The
//! turn owns the session's state while it runs; `prompt` and `cancel` only touch the slot below it and return at once.

use super::Agent;
use super::claim::Claim;
use super::commands::built_in;
use super::history::{Entry, History, Loaded};
use super::outbox::Outbox;
use super::permission::{Asker, PermissionRequest};
use super::prompt::Prompt;
use super::replay;
use super::turn_task::TurnTask;
use super::update::{CommandInfo, NoticeLevel, StopReason, Update};
use crate::paths::WorkspaceRoot;
use crate::review::{self, Displayed};
use crate::sandbox::{Plan, SandboxError, SandboxSlot, keeps_work, session_folder, state_is_ours};
use crate::view::SessionView;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

pub(super) use super::session_state::State;

/// One conversation.
pub struct Session {
    pub(super) id: String,
    /// Held until its sandbox is gone.
    claim: Mutex<Option<Claim>>,
    pub(super) agent: Arc<Agent>,
    pub(super) workspace: Option<WorkspaceRoot>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) view: Arc<SessionView>,
    pub(super) asker: Arc<dyn Asker>,
    slot: Mutex<Slot>,
    slot_freed: Notify,
    turns: AtomicU64,
    pub(super) state: Arc<tokio::sync::Mutex<State>>,
    facts: Mutex<Facts>,
}

/// What front ends ask for while a turn holds the state.
pub(super) struct Facts {
    /// The hunks that were told of last. `None`: they are told again.
    changes: Option<Vec<String>>,
    pub(super) displayed: Displayed,
    /// Looks for changes, to tell of them.
    pub(super) telling: Option<AbortHandle>,
    /// The user knows that the session takes more of the disk than it may.
    pub(super) is_over_disk_quota: bool,
    commands: Vec<CommandInfo>,
    model: String,
}

/// Who is at work.
enum Slot {
    Idle,
    Busy(CancellationToken),
    Closed,
}

/// Why a prompt was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Another turn is in work.
    #[error("a turn is in work in this session: wait for its end, or stop it")]
    Busy,
    /// The session is closed.
    #[error("the session is closed: open another one")]
    Closed,
}

impl Session {
    pub(super) fn new(agent: Arc<Agent>, parts: Parts, plan: Result<Plan, SandboxError>) -> Arc<Self> {
        let Parts { id, claim, workspace, asker, outbox, state } = parts;
        let told = Arc::clone(&outbox);
        let tell = move |news| told.push(Update::from(news));
        let has_sandbox = plan.is_ok() && state_is_ours(&agent.environment);
        let slot = SandboxSlot::new(agent.environment.clone(), plan, tell);
        let view = match workspace.as_ref().filter(|_| has_sandbox) {
            Some(workspace) => {
                let told = Arc::clone(&outbox);
                let tell = move |text| told.push(Update::Notice { level: NoticeLevel::Warning, text });
                let folder = session_folder(&agent.environment, &id);
                SessionView::new(slot, workspace, Arc::clone(&agent.desk) as _, &agent.watches, &folder, tell)
            }
            None => SessionView::none(slot),
        };
        if let Some(root) = workspace.clone() {
            let (environment, told) = (agent.environment.clone(), Arc::clone(&outbox));
            tokio::task::spawn_blocking(move || {
                for text in review::clear_up_after_kills(&environment, &root) {
                    told.push(Update::Notice { level: NoticeLevel::Warning, text });
                }
            });
        }
        view.warm_up();
        state.shelved.shelf.warm_up();
        Arc::new(Self {
            id,
            claim: Mutex::new(claim),
            agent,
            workspace,
            outbox,
            view,
            asker,
            slot: Mutex::new(Slot::Idle),
            slot_freed: Notify::new(),
            turns: AtomicU64::new(0),
            facts: Mutex::new(Facts {
                changes: Some(Vec::new()),
                displayed: Displayed::default(),
                telling: None,
                is_over_disk_quota: false,
                commands: built_in::all_infos(&state.custom, &state.shelved.shelf),
                model: state.model.clone(),
            }),
            state: Arc::new(tokio::sync::Mutex::new(state)),
        })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The workspace it is about.
    pub fn workspace(&self) -> Option<&WorkspaceRoot> {
        self.workspace.as_ref()
    }

    /// What happens in it. One reader only.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The slash commands there are.
    pub fn commands(&self) -> Vec<CommandInfo> {
        self.facts().commands.clone()
    }

    /// The model that answers.
    pub fn model(&self) -> String {
        self.facts().model.clone()
    }

    /// Whether it takes no more prompts.
    pub fn is_closed(&self) -> bool {
        matches!(*self.slot(), Slot::Closed)
    }

    /// Begins a turn and gives its id at once. What comes of it arrives through the outbox.
    pub fn prompt(self: &Arc<Self>, prompt: Prompt) -> Result<String, Refused> {
        let cancel = CancellationToken::new();
        {
            let mut slot = self.slot();
            match *slot {
                Slot::Busy(_) => return Err(Refused::Busy),
                Slot::Closed => return Err(Refused::Closed),
                Slot::Idle => *slot = Slot::Busy(cancel.clone()),
            }
        }
        self.stop_telling();
        let turn_id = format!("turn-{}", self.turns.fetch_add(1, Ordering::Relaxed) + 1);
        let (session, id) = (Arc::clone(self), turn_id.clone());
        tokio::spawn(async move { session.see_through(id, prompt, cancel).await });
        Ok(turn_id)
    }

    /// Stops the turn in work, if there is one.
    pub fn cancel(&self) {
        if let Slot::Busy(cancel) = &*self.slot() {
            cancel.cancel();
        }
    }

    /// Nobody waits any more for what is looked for.
    fn stop_telling(&self) {
        self.facts().telling.take().inspect(AbortHandle::abort);
    }

    /// Stops what is in work and takes no more. The history is whole when it returns.
    pub async fn close(&self) {
        loop {
            let freed = self.slot_freed.notified();
            {
                let mut slot = self.slot();
                match &*slot {
                    Slot::Busy(cancel) => cancel.cancel(),
                    Slot::Idle => *slot = Slot::Closed,
                    Slot::Closed => break,
                }
                if matches!(*slot, Slot::Closed) {
                    break;
                }
            }
            freed.await;
        }
        self.stop_telling();
        // Held until the history is closed: who closes a session that is being closed waits for that, too.
        let mut state = self.state.lock().await;
        let mut history = state.history.take();
        if state.header.is_some()
            && let Some(said) = history.take()
        {
            said.close().await;
        }
        self.view.stop().await;
        match history {
            // What the agent changed is found by the history's name, also when nothing is said in it.
            Some(history) if keeps_work(&self.agent.environment, history.id()) => history.close().await,
            // It stays behind as an empty file when this fails, and is not listed.
            Some(history) => drop(history.discard().await),
            None => {}
        }
        drop(state);
        self.claim.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.agent.forget(self);
        self.outbox.close();
    }

    /// Runs a turn in a task of its own and says how it ended, whatever happens to that task.
    async fn see_through(self: Arc<Self>, turn_id: String, prompt: Prompt, cancel: CancellationToken) {
        let task = TurnTask {
            session: Arc::clone(&self),
            turn_id: turn_id.clone(),
            cancel,
            checkpoint: Arc::default(),
        };
        let end = tokio::spawn(task.run(prompt)).await.unwrap_or_else(|error| TurnOver {
            stop_reason: StopReason::Error,
            error: Some(format!("Airlock itself failed in this turn, which is a bug: {error}")),
            quit: false,
        });
        {
            // Both at once: who sees the end may send the next prompt, and nothing of that one may come before the end.
            let mut slot = self.slot();
            self.outbox.push(Update::TurnEnd { turn_id, stop_reason: end.stop_reason, error: end.error });
            *slot = if end.quit { Slot::Closed } else { Slot::Idle };
        }
        self.slot_freed.notify_waiters();
        if end.quit {
            self.close().await;
        }
    }

    /// Tells front ends the model of a history before it is taken over.
    pub(super) fn preview(&self, loaded: &Loaded) {
        if let Some(model) = loaded.last_model() {
            model.clone_into(&mut self.facts().model);
        }
    }

    /// Goes on with a history: shows what was said, and appends to it from now on.
    pub(super) async fn resume_in(&self, state: &mut State, history: History, mut loaded: Loaded) {
        let transcript = std::mem::take(&mut loaded.transcript);
        let (lost_lines, to_append) = (loaded.lost_lines, loaded.to_append.take());
        state.resume(loaded);
        let model = state.model.clone();
        self.set_model(state, &model);
        state.history = Some(history);
        state.is_behind = false;
        if let Some(message) = to_append {
            // What follows is waited for, and lines are written in order.
            drop(state.write(Entry::Message(message)).await);
        }
        for message in &transcript {
            self.outbox.room().await;
            for update in replay::updates(message, &state.shelved.tools) {
                self.outbox.push(update);
            }
        }
        if lost_lines > 0 {
            let text = format!("{lost_lines} lines of the history could not be read and are left out");
            self.notice(NoticeLevel::Warning, text);
        }
        let size = self.agent.known_context_size(&state.model);
        self.outbox.push(Update::Usage(state.ledger.report(size)));
    }

    /// Tells the user something.
    pub(super) fn notice(&self, level: NoticeLevel, text: impl Into<String>) {
        self.outbox.push(Update::Notice { level, text: text.into() });
    }

    /// Says something in answer to a slash command.
    pub(super) fn say(&self, text: impl Into<String>) {
        self.outbox.push(Update::AgentMessageChunk { text: text.into() });
    }

    /// Asks the user; no answer in time is `None`.
    pub(super) async fn ask(&self, request: PermissionRequest, wait_max_s: u64) -> Option<String> {
        let known: Vec<String> = request.options.iter().map(|option| option.id.clone()).collect();
        let answer =
            tokio::time::timeout(Duration::from_secs(wait_max_s), self.asker.ask(&self.id, request)).await;
        answer.ok().flatten().filter(|id| known.contains(id))
    }

    pub(super) fn set_commands(&self, commands: Vec<CommandInfo>) {
        self.facts().commands.clone_from(&commands);
        self.outbox.push(Update::Commands { commands });
    }

    pub(super) fn set_model(&self, state: &mut State, model: &str) {
        let before = std::mem::replace(&mut self.facts().model, model.to_owned());
        model.clone_into(&mut state.model);
        if before != model {
            self.outbox.push(Update::Model { model: model.to_owned() });
        }
    }

    /// The same by the user's word, which the conversation keeps.
    pub(super) async fn choose_model(&self, state: &mut State, model: &str) {
        self.set_model(state, model);
        if state.header.is_some() {
            drop(state.write(Entry::Model { model: model.to_owned() }).await);
        }
    }

    /// Whether these are other hunks than those told of last, which they then are.
    pub(super) fn is_news(&self, hunks: Vec<String>) -> bool {
        let mut facts = self.facts();
        let is_news = facts.changes.as_ref() != Some(&hunks);
        facts.changes = Some(hunks);
        is_news
    }

    /// Something was done about the changes, so their number is told again.
    pub(super) fn forget_told(&self) {
        self.facts().changes = None;
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn lock_state(&self) -> OwnedMutexGuard<State> {
        Arc::clone(&self.state).lock_owned().await
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session is made of.
pub(super) struct Parts {
    pub(super) id: String,
    pub(super) claim: Option<Claim>,
    pub(super) workspace: Option<WorkspaceRoot>,
    pub(super) asker: Arc<dyn Asker>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) state: State,
}

/// How a turn ended.
pub(super) struct TurnOver {
    pub(super) stop_reason: StopReason,
    pub(super) error: Option<String>,
    /// The session ends with it.
    pub(super) quit: bool,
}
