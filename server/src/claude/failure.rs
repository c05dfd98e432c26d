//! What can go wrong between us and the API, said so that the user knows what to do.

use serde::Deserialize;
use std::time::Duration;

/// A request or a stream that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What happened, and what to do.
    pub message: String,
    /// Whether trying again may help.
    pub retry: Retry,
    /// The conversation does not fit: compacting it may help.
    pub too_long: bool,
    /// The API answered that there is no such model.
    pub unknown_model: bool,
}

/// Whether trying again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// No.
    Never,
    /// Yes, after our own backoff.
    Backoff,
    /// Yes, after the time that the server asked for.
    After(Duration),
}

/// The headers of a response that say when to try again.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetryHeaders<'a> {
    /// `x-should-retry`
    pub should_retry: Option<&'a str>,
    /// `retry-after-ms`
    pub after_ms: Option<&'a str>,
    /// `retry-after`, in seconds
    pub after: Option<&'a str>,
}

#[derive(Deserialize, Default)]
struct ErrorBody {
    #[serde(default)]
    error: ErrorDetail,
    request_id: Option<String>,
}

#[derive(Deserialize, Default)]
struct ErrorDetail {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Option<serde_json::Value>,
}

impl Failure {
    /// A failure that trying again may cure.
    pub fn passing(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry: Retry::Backoff, too_long: false, unknown_model: false }
    }

    /// A failure that stays.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry: Retry::Never, too_long: false, unknown_model: false }
    }

    /// An error response.
    pub fn from_response(status: u16, headers: RetryHeaders<'_>, body: &str, model: &str) -> Self {
        let parsed: ErrorBody = serde_json::from_str(body).unwrap_or_default();
        let spend_limit = parsed.error.details.as_ref().and_then(|details| details.get("error_code"))
            == Some(&serde_json::Value::from("enforced_spend_limit_reached"));
        let mut said = parsed.error.message;
        if said.is_empty() {
            said = body.trim().chars().take(200).collect();
        }
        let unknown_model = status == 404 && (said.contains(model) || parsed.error.kind == "not_found_error");
        let too_long = status == 413 || (status == 400 && said.contains("prompt is too long"));
        let mut message = match status {
            401 => "the API key was refused (401): check ANTHROPIC_API_KEY, or api_key in your config.toml"
                .to_owned(),
            403 => format!("the API key may not do this (403): {said}"),
            404 if unknown_model => {
                format!("the model {model:?} is not known to the API (404): choose another with /model NAME")
            }
            _ if too_long => {
                format!("the conversation is too long for the model ({status}): /compact or /clear")
            }
            429 if spend_limit => format!("your spend limit is reached (429): {said}"),
            429 => format!("the API asks to slow down (429): {said}"),
            529 => "the API is overloaded (529)".to_owned(),
            500..=599 => format!("the API has a problem ({status}): {said}"),
            _ => format!("the API refused the request ({status}): {said}"),
        };
        if let Some(id) = parsed.request_id {
            message.push_str(&format!(" [request {id}]"));
        }
        let by_status = matches!(status, 408 | 409 | 429 | 500..=599);
        let wanted = match headers.should_retry {
            Some("true") => true,
            Some("false") => false,
            _ => by_status,
        };
        let retry = if wanted && !spend_limit { headers.delay() } else { Retry::Never };
        Self { message, retry, too_long, unknown_model }
    }

    /// An `error` event in the middle of a stream.
    pub fn from_event(data: &str) -> Self {
        let parsed: ErrorBody = serde_json::from_str(data).unwrap_or_default();
        let lasting = matches!(
            parsed.error.kind.as_str(),
            "invalid_request_error"
                | "authentication_error"
                | "permission_error"
                | "not_found_error"
                | "request_too_large"
        );
        let message =
            format!("the API broke the answer off: {} ({})", parsed.error.message, parsed.error.kind);
        if lasting { Self::lasting(message) } else { Self::passing(message) }
    }
}

impl RetryHeaders<'_> {
    fn delay(&self) -> Retry {
        let milliseconds = self.after_ms.and_then(|text| text.trim().parse::<f64>().ok());
        let seconds = self.after.and_then(|text| text.trim().parse::<f64>().ok());
        match milliseconds.or(seconds.map(|seconds| seconds * 1000.0)) {
            Some(ms) if ms.is_finite() && ms >= 0.0 => Retry::After(Duration::from_secs_f64(ms / 1000.0)),
            _ => Retry::Backoff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, headers: RetryHeaders<'_>) -> Retry {
        Failure::from_response(status, headers, "{}", "m").retry
    }

    #[test]
    fn the_table_of_status_codes_decides_unless_the_server_says_otherwise() {
        for code in [400, 401, 403, 404, 413] {
            assert_eq!(status(code, RetryHeaders::default()), Retry::Never, "{code}");
        }
        for code in [408, 409, 429, 500, 503, 529] {
            assert_eq!(status(code, RetryHeaders::default()), Retry::Backoff, "{code}");
        }
        let no = RetryHeaders { should_retry: Some("false"), ..Default::default() };
        assert_eq!(status(529, no), Retry::Never);
        let yes = RetryHeaders { should_retry: Some("true"), ..Default::default() };
        assert_eq!(status(400, yes), Retry::Backoff);
    }

    #[test]
    fn milliseconds_beat_seconds_and_nonsense_is_backoff() {
        let both = RetryHeaders { after_ms: Some("250"), after: Some("9"), ..Default::default() };
        assert_eq!(status(429, both), Retry::After(Duration::from_millis(250)));
        for text in ["-1", "soon", "nan", "inf", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            let headers = RetryHeaders { after: Some(text), ..Default::default() };
            assert_eq!(status(429, headers), Retry::Backoff, "{text}");
        }
    }

    #[test]
    fn a_reached_spend_limit_is_final() {
        let body = r#"{"error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        let headers = RetryHeaders { after: Some("1"), should_retry: Some("true"), ..Default::default() };
        assert_eq!(Failure::from_response(429, headers, body, "m").retry, Retry::Never);
    }

    #[test]
    fn every_message_says_what_to_do() {
        let unknown = r#"{"error":{"type":"not_found_error","message":"model: nope"}}"#;
        let message = Failure::from_response(404, RetryHeaders::default(), unknown, "nope").message;
        assert!(message.contains("nope") && message.contains("/model"), "{message}");
        let message = Failure::from_response(401, RetryHeaders::default(), "not even JSON", "m").message;
        assert!(message.contains("ANTHROPIC_API_KEY"), "{message}");
    }
}
