//! Asks the editor's user.

use super::protocol::Permission;
use super::question::{self, NoAnswer};
use super::server::Shared;
use super::translate;
use crate::agent::permission::{Asker, PermissionRequest};
use futures::future::BoxFuture;
use std::sync::{Arc, Weak};
use tower_lsp::ls_types::request::ShowMessageRequest;
use tower_lsp::ls_types::{MessageActionItem, MessageType, ShowMessageRequestParams};

const CANNOT_ASK: &str = "Airlock: this editor cannot ask you anything, so the answer to this was no";

/// The editor's way to ask: its own dialog where it has one, a message with buttons where not.
pub(super) struct EditorAsker {
    /// The sessions that hold this are held by it.
    shared: Weak<Shared>,
}

impl EditorAsker {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::downgrade(shared) }
    }
}

impl Asker for EditorAsker {
    fn ask(&self, session_id: &str, request: PermissionRequest) -> BoxFuture<'static, Option<String>> {
        let (shared, session_id) = (self.shared.clone(), session_id.to_owned());
        Box::pin(async move {
            let shared = shared.upgrade()?;
            // The user should see what led to the question before the question.
            if let Some(session) = shared.agent.session(&session_id) {
                session.outbox().delivered().await;
            }
            if shared.traits().answers_permission() {
                let params = translate::permission(&session_id, request);
                return question::ask::<Permission>(&shared.client, params).await.ok()?.option_id;
            }
            let message = format!("{}\n\n{}", request.title, request.detail);
            let actions = request.options.iter().map(|option| MessageActionItem {
                title: option.label.clone(),
                properties: Default::default(),
            });
            let params = ShowMessageRequestParams {
                typ: MessageType::WARNING,
                message,
                actions: Some(actions.collect()),
            };
            let title = match question::ask::<ShowMessageRequest>(&shared.client, params).await {
                Ok(answer) => answer?.title,
                Err(NoAnswer::Unknown) => {
                    let text = format!("{CANNOT_ASK}: {}", request.title);
                    shared.client.show_message(MessageType::WARNING, text).await;
                    return None;
                }
                Err(NoAnswer::Failed) => return None,
            };
            request.options.into_iter().find(|option| option.label == title).map(|option| option.id)
        })
    }
}
