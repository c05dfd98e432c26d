//! `http`: requests to granted origins.

use super::denied::Denied;
use super::{HostState, apart, error, passing, wit};
use crate::plugins::http::{HttpError, Outgoing};
use std::sync::Arc;
use wit::http::{Request, Response};
use wit::types::ToolError;

impl wit::http::Host for HostState {
    async fn send(&mut self, request: Request) -> wasmtime::Result<Result<Response, ToolError>> {
        let Request { method, url, headers, body } = request;
        let outgoing = Outgoing { method, url, headers, body };
        let (http, plugin) = (Arc::clone(&self.context.http), Arc::clone(&self.context.plugin));
        let (powers, secrets) = (self.context.powers.clone(), Arc::clone(&self.context.secrets));
        let (cancel, denied) = (self.context.cancel.clone(), self.denied.clone());
        let sent = apart(async move {
            let sent = http.send(&plugin, outgoing, &powers, &secrets);
            match cancel.run_until_cancelled(sent).await {
                Some(answer) => answer.map_err(|why| refused(&denied, why)),
                None => Err(error("cancelled", "the user stopped the turn")),
            }
        });
        Ok(sent.await.map(|answer| Response {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        }))
    }
}

/// Why there is no answer.
pub(super) fn refused(denied: &Denied, why: HttpError) -> ToolError {
    match why {
        HttpError::Denied(word) => denied.error(&word),
        HttpError::Refused(why) => error("denied", why),
        HttpError::Invalid(why) => error("invalid", why),
        HttpError::TooLarge(why) => error("too-large", why),
        HttpError::Unavailable(why) => passing("unavailable", why),
    }
}
