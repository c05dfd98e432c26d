//! Asks the editor's user.

use super::protocol::Permission;
use super::server::Shared;
use super::translate;
use crate::agent::permission::{Asker, PermissionRequest};
use futures::future::BoxFuture;
use std::sync::{Arc, Weak};
use tower_lsp::Client;
use tower_lsp::jsonrpc::{self, Id};
use tower_lsp::ls_types::notification::Cancel;
use tower_lsp::ls_types::request::{Request, ShowMessageRequest};
use tower_lsp::ls_types::{
    CancelParams, MessageActionItem, MessageType, NumberOrString, ShowMessageRequestParams,
};
use tower_service::Service;

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
                return answer::<Permission>(&shared.client, params).await?.option_id;
            }
            let message = format!("{}\n\n{}", request.title, request.detail);
            let actions = request.options.iter().map(|option| MessageActionItem {
                title: option.label.clone(),
                properties: Default::default(),
            });
            let actions = Some(actions.collect());
            let params = ShowMessageRequestParams { typ: MessageType::WARNING, message, actions };
            let title = answer::<ShowMessageRequest>(&shared.client, params).await??.title;
            request.options.into_iter().find(|option| option.label == title).map(|option| option.id)
        })
    }
}

/// The editor's answer. The request is withdrawn when nobody waits for it any more, so that its dialog can go away.
async fn answer<R: Request>(client: &Client, params: R::Params) -> Option<R::Result> {
    let id = client.next_request_id();
    let params = serde_json::to_value(params).ok()?;
    let request = jsonrpc::Request::build(R::METHOD).id(id.clone()).params(params).finish();
    let mut withdrawal = Withdrawal { client: client.clone(), id: Some(id) };
    let response = client.clone().call(request).await;
    withdrawal.id = None;
    let (_, result) = response.ok()??.into_parts();
    serde_json::from_value(result.ok()?).ok()
}

/// Tells the editor on drop that a request needs no answer; nothing when it was answered.
struct Withdrawal {
    client: Client,
    id: Option<Id>,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let id = match self.id.take() {
            Some(Id::Number(id)) => NumberOrString::Number(id as i32),
            Some(Id::String(id)) => NumberOrString::String(id.to_string()),
            Some(Id::Null) | None => return,
        };
        // Without a runtime the process is at its end, and the editor knows.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let client = self.client.clone();
            runtime.spawn(async move { client.send_notification::<Cancel>(CancelParams { id }).await });
        }
    }
}
