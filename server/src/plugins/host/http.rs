//! `http`: requests to granted origins.

use super::{HostState, wit};
use crate::plugins::http::{HttpError, Outgoing};
use wit::http::{Request, Response};
use wit::types::ToolError;

impl wit::http::Host for HostState {
    async fn send(&mut self, request: Request) -> wasmtime::Result<Result<Response, ToolError>> {
        let Request { method, url, headers, body } = request;
        let outgoing = Outgoing { method, url, headers, body };
        let context = &self.context;
        let sent = context.http.send(&context.plugin, outgoing, &context.powers, &context.secrets);
        let answer = match context.cancel.run_until_cancelled(sent).await {
            Some(answer) => answer,
            None => return Ok(Err(super::error("cancelled", "the user stopped the turn"))),
        };
        Ok(match answer {
            Ok(answer) => Ok(Response { status: answer.status, headers: answer.headers, body: answer.body }),
            Err(HttpError::Denied(word)) => Err(self.denied.error(&word)),
            Err(HttpError::Refused(why)) => Err(super::error("denied", why)),
            Err(HttpError::Invalid(why)) => Err(super::error("invalid", why)),
            Err(HttpError::TooLarge(why)) => Err(super::error("too-large", why)),
            Err(HttpError::Unavailable(why)) => Err(super::passing("unavailable", why)),
        })
    }
}
