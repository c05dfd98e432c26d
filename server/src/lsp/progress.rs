//! `$/progress`: a turn in work, with its current tool, and a way to cancel it.

use crate::agent::update::{NoticeLevel, SandboxState, ToolCallStatus, Update};
use crate::agent::{Refused, Session};
use crate::limits::LSP_CLIENT_ANSWER_MAX_MS;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::Progress as ProgressNotification;
use tower_lsp::ls_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressEnd, WorkDoneProgressReport,
};

/// The turns whose end was not told yet, by session and in their order: a quick user begins the next one before that.
#[derive(Default)]
pub(super) struct Progresses {
    in_work: Mutex<HashMap<String, VecDeque<Arc<Progress>>>>,
    /// Sessions whose sandbox is on its way.
    starting: Mutex<HashSet<String>>,
}

struct Progress {
    token: ProgressToken,
    session: Arc<Session>,
    /// Held while something is sent, so that nothing comes before the begin or after the end.
    stage: tokio::sync::Mutex<Stage>,
    /// The tool that runs, for people.
    tool: Mutex<Option<String>>,
}

#[derive(PartialEq)]
enum Stage {
    /// The editor is asked whether it takes the token.
    Offered,
    Begun,
    Ended,
}

impl Progresses {
    /// Begins a turn and shows that it is in work, if the editor takes it.
    pub(super) fn begin(
        &self,
        client: &Client,
        session: &Arc<Session>,
        turn: impl FnOnce() -> Result<String, Refused>,
    ) -> Result<String, Refused> {
        let (turn_id, progress) = {
            // Locked until it is noted: the turn may be over before this function is, and its end must find it.
            let mut in_work = self.in_work();
            let turn_id = turn()?;
            let progress = Arc::new(Progress {
                token: ProgressToken::String(format!("airlock/{}/{turn_id}", session.id())),
                session: Arc::clone(session),
                stage: tokio::sync::Mutex::new(Stage::Offered),
                tool: Mutex::default(),
            });
            in_work.entry(session.id().to_owned()).or_default().push_back(Arc::clone(&progress));
            (turn_id, progress)
        };
        let client = client.clone();
        tokio::spawn(async move {
            let offered = client.create_work_done_progress(progress.token.clone());
            let deadline = Duration::from_millis(LSP_CLIENT_ANSWER_MAX_MS);
            if !matches!(tokio::time::timeout(deadline, offered).await, Ok(Ok(()))) {
                return;
            }
            let mut stage = progress.stage.lock().await;
            if *stage == Stage::Offered {
                *stage = Stage::Begun;
                let begin = WorkDoneProgressBegin {
                    title: "Airlock".to_owned(),
                    cancellable: Some(true),
                    message: Some("thinking".to_owned()),
                    percentage: None,
                };
                progress.send(&client, WorkDoneProgress::Begin(begin)).await;
            }
        });
        Ok(turn_id)
    }

    /// Shows what a session's update means for its turn's progress.
    pub(super) async fn follow(&self, client: &Client, session_id: &str, update: &Update) {
        if let Update::Sandbox { state, .. } = update {
            let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            match state {
                SandboxState::Starting => starting.insert(session_id.to_owned()),
                _ => starting.remove(session_id),
            };
        }
        let ends = matches!(update, Update::TurnEnd { .. });
        let Some(progress) = self.of_session(session_id, ends) else {
            return;
        };
        let value = if ends {
            WorkDoneProgress::End(WorkDoneProgressEnd { message: None })
        } else if let Some(message) = progress.message(update, self.is_starting(session_id)) {
            let (cancellable, message) = (Some(true), Some(message));
            WorkDoneProgress::Report(WorkDoneProgressReport { cancellable, message, percentage: None })
        } else {
            return;
        };
        let mut stage = progress.stage.lock().await;
        let begun = *stage == Stage::Begun;
        if ends {
            *stage = Stage::Ended;
        }
        if begun {
            progress.send(client, value).await;
        }
    }

    /// The turn whose updates are being told; `ends`: it is the last time.
    fn of_session(&self, session_id: &str, ends: bool) -> Option<Arc<Progress>> {
        let mut in_work = self.in_work();
        let turns = in_work.get_mut(session_id)?;
        if !ends {
            return turns.front().cloned();
        }
        let ended = turns.pop_front();
        if turns.is_empty() {
            in_work.remove(session_id);
        }
        ended
    }

    /// Nothing more comes of a session.
    pub(super) fn forget(&self, session_id: &str) {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner).remove(session_id);
    }

    /// The session whose progress has this token.
    pub(super) fn session_of(&self, token: &ProgressToken) -> Option<Arc<Session>> {
        let in_work = self.in_work();
        let mut all = in_work.values().flatten();
        all.find(|progress| progress.token == *token).map(|progress| Arc::clone(&progress.session))
    }

    fn in_work(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Arc<Progress>>>> {
        self.in_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_starting(&self, session_id: &str) -> bool {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner).contains(session_id)
    }
}

impl Progress {
    /// What is to be shown after an update, if that changes anything: a tool that runs, or waits for the sandbox to do
    /// so; else what takes long.
    fn message(&self, update: &Update, is_starting: bool) -> Option<String> {
        const STARTING: &str = "the sandbox is starting";
        let mut tool = self.tool.lock().unwrap_or_else(PoisonError::into_inner);
        match update {
            Update::ToolCall(call) => {
                *tool = Some(call.title.clone());
                Some(if is_starting { format!("{} ({STARTING})", call.title) } else { call.title.clone() })
            }
            Update::ToolCallUpdate(progress) if progress.status != ToolCallStatus::InProgress => {
                *tool = None;
                None
            }
            Update::Sandbox { .. } => {
                let title = tool.as_ref()?;
                Some(if is_starting { format!("{title} ({STARTING})") } else { title.clone() })
            }
            Update::Notice { level: NoticeLevel::Info, text } => text.lines().next().map(str::to_owned),
            _ => None,
        }
    }

    async fn send(&self, client: &Client, value: WorkDoneProgress) {
        let params =
            ProgressParams { token: self.token.clone(), value: ProgressParamsValue::WorkDone(value) };
        client.send_notification::<ProgressNotification>(params).await;
    }
}
