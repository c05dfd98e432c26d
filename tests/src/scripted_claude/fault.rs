//! Errors in the API's own shape.

use serde_json::{Value, json};

/// A status with the body that belongs to it.
#[derive(Clone, Debug)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) details: Option<Box<Value>>,
}

impl ApiError {
    pub(super) fn new(status: u16, kind: &str, message: impl Into<String>) -> Self {
        Self { status, kind: kind.to_owned(), message: message.into(), details: None }
    }

    /// What the API says with this status.
    pub(super) fn of_status(status: u16) -> Self {
        let (kind, message) = match status {
            401 => ("authentication_error", "invalid x-api-key"),
            402 => ("billing_error", "Your credit balance is too low"),
            403 => ("permission_error", "Your API key may not use this resource"),
            404 => ("not_found_error", "Not found"),
            413 => ("request_too_large", "Request exceeds the maximum size"),
            429 => ("rate_limit_error", "This request would exceed your rate limit"),
            504 => ("timeout_error", "Timed out"),
            529 => ("overloaded_error", "Overloaded"),
            400..500 => ("invalid_request_error", "Invalid request"),
            _ => ("api_error", "Internal server error"),
        };
        Self::new(status, kind, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    /// The body of the response, and the data of an `error` event.
    pub(super) fn body(&self, request_id: &str) -> Value {
        let mut body = json!({
            "type": "error",
            "error": {"type": self.kind, "message": self.message},
            "request_id": request_id,
        });
        if let Some(details) = &self.details {
            body["error"]["details"] = (**details).clone();
        }
        body
    }
}
