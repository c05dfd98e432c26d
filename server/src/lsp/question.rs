//! A request to the client that is taken back when nobody waits for its answer any more: a dialog whose turn is over
//! should not stay on the screen.

use serde_json::json;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{ErrorCode, Id, Request as Message};
use tower_lsp::ls_types::notification::Cancel;
use tower_lsp::ls_types::request::Request;
use tower_lsp::ls_types::{CancelParams, NumberOrString};
use tower_service::Service;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The client knows no such request.
    Unknown,
    /// It failed, or answered with something that is no answer.
    Failed,
}

/// Asks the client. Dropped before the answer is there, the request is cancelled.
pub(super) async fn ask<R: Request>(client: &Client, params: R::Params) -> Result<R::Result, NoAnswer> {
    let id = client.next_request_id();
    let request = Message::build(R::METHOD).id(id.clone()).params(json!(params)).finish();
    let mut withdrawal = Withdrawal { client, id: Some(id) };
    let answer = client.clone().call(request).await;
    withdrawal.id = None;
    let (_, result) = answer.ok().flatten().ok_or(NoAnswer::Failed)?.into_parts();
    let result = result.map_err(|error| match error.code {
        ErrorCode::MethodNotFound => NoAnswer::Unknown,
        _ => NoAnswer::Failed,
    })?;
    serde_json::from_value(result).map_err(|_| NoAnswer::Failed)
}

struct Withdrawal<'c> {
    client: &'c Client,
    /// `None`: it was answered.
    id: Option<Id>,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let id = match self.id.take() {
            Some(Id::Number(number)) => NumberOrString::Number(number as i32),
            Some(Id::String(text)) => NumberOrString::String(text),
            _ => return,
        };
        let client = self.client.clone();
        tokio::spawn(async move { client.send_notification::<Cancel>(CancelParams { id }).await });
    }
}
