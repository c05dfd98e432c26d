//! `http`: requests to granted origins.

use super::denied::Denied;
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
            Err(why) => Err(refused(&self.denied, why)),
        })
    }
}

/// Why there is no answer.
pub(super) fn refused(denied: &Denied, why: HttpError) -> ToolError {
    match why {
        HttpError::Denied(word) => denied.error(&word),
        HttpError::Refused(why) => super::error("denied", why),
        HttpError::Invalid(why) => super::error("invalid", why),
        HttpError::TooLarge(why) => super::error("too-large", why),
        HttpError::Unavailable(why) => super::passing("unavailable", why),
    }
}
