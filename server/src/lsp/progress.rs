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

/// The turns in work, by session.
#[derive(Default)]
pub(super) struct Progresses(DashMap<String, Arc<Progress>>);

struct Progress {
    token: ProgressToken,
    session: Arc<Session>,
    turn_id: String,
    /// Held while something is sent, so that nothing comes before the begin or after the end.
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
        self.0.insert(session.id().to_owned(), Arc::clone(&progress));
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
        let (ended, message) = match update {
            Update::ToolCall(call) => (None, Some(call.title.clone())),
            Update::TurnEnd { turn_id, .. } => (Some(turn_id), None),
            _ => return,
        };
        let Some(progress) = self.0.get(session_id).map(|entry| Arc::clone(&entry)) else {
            return;
        };
        let mut stage = progress.stage.lock().await;
        match ended {
            Some(turn_id) if *turn_id == progress.turn_id => {
                self.0.remove_if(session_id, |_, current| current.turn_id == *turn_id);
                let begun = std::mem::replace(&mut *stage, Stage::Ended) == Stage::Begun;
                if begun {
                    progress.send(client, WorkDoneProgress::End(WorkDoneProgressEnd { message: None })).await;
                }
            }
            None if *stage == Stage::Begun => {
                let report = WorkDoneProgressReport { cancellable: Some(true), message, percentage: None };
                progress.send(client, WorkDoneProgress::Report(report)).await;
            }
            _ => {}
        }
    }

    /// The session whose progress has this token.
    pub(super) fn session_of(&self, token: &ProgressToken) -> Option<Arc<Session>> {
        self.0.iter().find(|entry| entry.token == *token).map(|entry| Arc::clone(&entry.session))
    }
}

impl Progress {
    async fn send(&self, client: &Client, value: WorkDoneProgress) {
        let params =
            ProgressParams { token: self.token.clone(), value: ProgressParamsValue::WorkDone(value) };
        client.send_notification::<ProgressNotification>(params).await;
    }
}
