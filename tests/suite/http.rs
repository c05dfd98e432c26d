//! A plain HTTP client for the tests of the scripted Claude: it shows what is on the wire, and repairs nothing.

use airlock_tests::scripted_claude::ScriptedClaude;
use futures::StreamExt;
use serde_json::{Value, json};

/// A client of one scripted Claude.
pub(crate) struct Http {
    client: reqwest::Client,
    base: String,
}

impl Http {
    pub(crate) fn of(claude: &ScriptedClaude) -> Self {
        // Another test of this process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            client: reqwest::Client::builder().no_proxy().build().expect("a client"),
            base: claude.base_url(),
        }
    }

    /// Posts a message with all headers that the API asks for.
    pub(crate) async fn post(&self, body: &Value) -> reqwest::Result<reqwest::Response> {
        self.post_with(body, &[("x-api-key", "key"), ("anthropic-version", "2023-06-01")]).await
    }

    /// Posts a message with these headers only.
    pub(crate) async fn post_with(
        &self,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<reqwest::Response> {
        let mut request = self
            .client
            .post(format!("{}/v1/messages", self.base))
            .header("content-type", "application/json")
            .body(body.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await
    }

    /// Posts, and expects a refusal: its status and the error in its body.
    pub(crate) async fn refused(&self, body: &Value) -> (u16, Value) {
        error_of(self.post(body).await.expect("an answer")).await
    }
}

/// Status and `error` of a refusal.
pub(crate) async fn error_of(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body: Value = serde_json::from_str(&response.text().await.expect("a body")).expect("JSON");
    assert_eq!(body["type"], "error", "{body}");
    assert!(body["request_id"].is_string(), "{body}");
    (status, body["error"].clone())
}

/// A conversation of one question, streamed.
pub(crate) fn question(text: &str) -> Value {
    conversation(json!([{"role": "user", "content": text}]))
}

/// A conversation of these messages, streamed.
pub(crate) fn conversation(messages: Value) -> Value {
    json!({"model": "claude-sonnet-5", "max_tokens": 100, "stream": true, "messages": messages})
}

/// A response's chunks as they come, and whether the body ended well.
pub(crate) async fn read(response: reqwest::Response) -> (Vec<Vec<u8>>, bool) {
    let mut stream = response.bytes_stream();
    let mut chunks = Vec::new();
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => chunks.push(chunk.to_vec()),
            Err(_) => return (chunks, false),
        }
    }
    (chunks, true)
}
