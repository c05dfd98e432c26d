//! `$/progress`: a turn in work, with its current tool, and a way to cancel it.

use crate::agent::Session;
use crate::agent::update::Update;
use crate::limits::LSP_CLIENT_ANSWER_MAX_MS;
use dashmap::DashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tower_lsp::Client;
use tower_lsp::ls_types::notification::Progress as ProgressNotification;
use tower_lsp::ls_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressEnd, WorkDoneProgressReport,
};

/// The turns in work, by session, the oldest first. A turn may begin before the editor has seen the end of the last.
#[derive(Default)]
pub(super) struct Progresses(DashMap<String, Vec<Arc<Progress>>>);

struct Progress {
    token: ProgressToken,
    session: Arc<Session>,
    turn_id: String,
    /// Held while the begin is sent, so that nothing comes before it.
    stage: Mutex<Stage>,
}

#[derive(PartialEq)]
enum Stage {
    /// The editor is asked whether it takes the token.
    Offered,
    Begun,
    Ended,
}

impl Progresses {
    /// Shows that a turn is in work, if the editor takes it.
    pub(super) fn begin(&self, client: &Client, session: &Arc<Session>, turn_id: &str) {
        let progress = Arc::new(Progress {
            token: ProgressToken::String(format!("airlock/{}/{turn_id}", session.id())),
            session: Arc::clone(session),
            turn_id: turn_id.to_owned(),
            stage: Mutex::new(Stage::Offered),
        });
        self.0.entry(session.id().to_owned()).or_default().push(Arc::clone(&progress));
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
    }

    /// Shows what a session's update means for its turn's progress.
    pub(super) async fn follow(&self, client: &Client, session_id: &str, update: &Update) {
        match update {
            Update::ToolCall(call) => {
                let current = self.0.get(session_id).and_then(|all| all.first().cloned());
                if let Some(progress) = current {
                    progress.report(client, call.title.clone()).await;
                }
            }
            Update::TurnEnd { turn_id, .. } => {
                if let Some(progress) = self.take(session_id, turn_id) {
                    progress.end(client).await;
                }
            }
            _ => {}
        }
    }

    fn take(&self, session_id: &str, turn_id: &str) -> Option<Arc<Progress>> {
        let mut all = self.0.get_mut(session_id)?;
        let index = all.iter().position(|progress| progress.turn_id == turn_id)?;
        let taken = all.remove(index);
        drop(all);
        self.0.remove_if(session_id, |_, all| all.is_empty());
        Some(taken)
    }

    /// The session whose progress has this token.
    pub(super) fn session_of(&self, token: &ProgressToken) -> Option<Arc<Session>> {
        let of_token = |all: &Vec<Arc<Progress>>| {
            all.iter().find(|progress| progress.token == *token).map(|progress| Arc::clone(&progress.session))
        };
        self.0.iter().find_map(|all| of_token(&all))
    }
}

impl Progress {
    async fn report(&self, client: &Client, message: String) {
        if *self.stage.lock().await == Stage::Begun {
            let (cancellable, message) = (Some(true), Some(message));
            let report = WorkDoneProgressReport { cancellable, message, percentage: None };
            self.send(client, WorkDoneProgress::Report(report)).await;
        }
    }

    async fn end(&self, client: &Client) {
        let begun = std::mem::replace(&mut *self.stage.lock().await, Stage::Ended) == Stage::Begun;
        if begun {
            self.send(client, WorkDoneProgress::End(WorkDoneProgressEnd { message: None })).await;
        }
    }

    async fn send(&self, client: &Client, value: WorkDoneProgress) {
        let params =
            ProgressParams { token: self.token.clone(), value: ProgressParamsValue::WorkDone(value) };
        client.send_notification::<ProgressNotification>(params).await;
    }
}
