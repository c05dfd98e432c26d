//! The HTTP client: requests out, a stream of events in. It tries nothing again; that is the turn's decision.

use super::failure::{Failure, RetryHeaders};
use super::message::{MessageDecoder, StreamEvent, TokenUsage};
use super::models::ModelInfo;
use super::wire::{API_VERSION, MessageRequest, WireModel};
use crate::conversation::Block;
use crate::limits::{CONNECT_MAX_MS, ERROR_BODY_MAX_BYTES, MODEL_INFO_MAX_MS};
use crate::problem::Problem;
use crate::secret::Secret;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::HeaderMap;
use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// A way to the Messages API.
pub struct Claude {
    /// Made at the first request: loading the certificates takes longer than `initialize` may.
    http: OnceLock<reqwest::Client>,
    base_url: Result<String, Problem>,
    key: Option<Secret>,
    silence_max: Duration,
}

impl Claude {
    /// A client for `base_url`, without a trailing slash. It connects to nothing yet; without a URL it never does.
    pub fn new(base_url: Result<String, Problem>, key: Option<Secret>, silence_max: Duration) -> Self {
        Self { http: OnceLock::new(), base_url, key, silence_max }
    }

    /// Asks for a message. The answer arrives through the stream. The request is written down at once, so the
    /// future borrows nothing.
    pub fn ask(
        self: &Arc<Self>,
        request: &MessageRequest<'_>,
    ) -> impl Future<Output = Result<MessageStream, Failure>> + Send + use<> {
        let (body, model) = (request.body().to_string(), request.model.to_owned());
        let claude = Arc::clone(self);
        async move { claude.send(body, &model).await }
    }

    async fn send(&self, body: String, model: &str) -> Result<MessageStream, Failure> {
        let sent = self
            .http()?
            .post(format!("{}/v1/messages", self.base_url()?))
            .headers(self.headers()?)
            .header("content-type", "application/json")
            .body(body)
            .send();
        let response = tokio::time::timeout(self.silence_max, sent)
            .await
            .map_err(|_| self.silence())?
            .map_err(|error| self.unreachable(&error))?;
        if !response.status().is_success() {
            return Err(self.refused(response, model).await);
        }
        if is_web_page(&response) {
            return Err(Failure::passing(format!(
                "{} answered with a web page: is there a login page or a proxy in between? Check ANTHROPIC_BASE_URL",
                self.place()
            )));
        }
        Ok(MessageStream {
            bytes: response.bytes_stream().boxed(),
            decoder: MessageDecoder::default(),
            ready: VecDeque::new(),
            silence_max: self.silence_max,
        })
    }

    /// Asks for a model's properties.
    pub async fn model_info(&self, model: &str) -> Result<ModelInfo, Failure> {
        let fetch = async {
            let base_url = self.base_url()?;
            let mut url = reqwest::Url::parse(&format!("{base_url}/v1/models"))
                .map_err(|error| Failure::lasting(format!("the base URL {base_url:?} is wrong: {error}")))?;
            if let Ok(mut segments) = url.path_segments_mut() {
                segments.push(model);
            }
            let request = self.http()?.get(url).headers(self.headers()?);
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            if !response.status().is_success() {
                return Err(self.refused(response, model).await);
            }
            let body = read_bounded(response, self.silence_max).await;
            let wire: WireModel = serde_json::from_slice(&body).map_err(|error| {
                Failure::passing(format!("the model's description cannot be read: {error}"))
            })?;
            Ok(ModelInfo::from(wire))
        };
        tokio::time::timeout(Duration::from_millis(MODEL_INFO_MAX_MS), fetch)
            .await
            .map_err(|_| self.silence())?
    }

    fn http(&self) -> Result<&reqwest::Client, Failure> {
        if let Some(client) = self.http.get() {
            return Ok(client);
        }
        // Fails when another thread installed it first, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_millis(CONNECT_MAX_MS))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("airlock/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::lasting(format!("cannot set up HTTPS: {error}")))?;
        Ok(self.http.get_or_init(|| client))
    }

    /// Where the API is. No other place is taken instead: it would get the key.
    fn base_url(&self) -> Result<&str, Failure> {
        self.base_url.as_deref().map_err(|problem| {
            Failure::lasting(format!("nothing is sent until this is corrected: {problem}"))
        })
    }

    /// The same, for people.
    fn place(&self) -> &str {
        self.base_url.as_deref().unwrap_or("the API")
    }

    fn headers(&self) -> Result<HeaderMap, Failure> {
        let Some(key) = &self.key else {
            return Err(Failure::lasting(
                "there is no API key: set ANTHROPIC_API_KEY, or api_key in your config.toml, and start again",
            ));
        };
        let mut value = reqwest::header::HeaderValue::from_str(key.expose()).map_err(|_| {
            Failure::lasting("the API key has characters that no key has: check ANTHROPIC_API_KEY")
        })?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", value);
        headers.insert("anthropic-version", reqwest::header::HeaderValue::from_static(API_VERSION));
        Ok(headers)
    }

    async fn refused(&self, response: reqwest::Response, model: &str) -> Failure {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if response.status().is_redirection() {
            // Whoever is there would get the key.
            let to: String = header("location").unwrap_or("nowhere").chars().take(200).collect();
            return Failure::lasting(format!(
                "{} sends us on to {to:?} ({status}), and nothing is sent there: check ANTHROPIC_BASE_URL",
                self.place()
            ));
        }
        let body = read_bounded(response, self.silence_max).await;
        let retry = RetryHeaders {
            should_retry: header("x-should-retry"),
            after_ms: header("retry-after-ms"),
            after: header("retry-after"),
        };
        Failure::from_response(status, retry, &String::from_utf8_lossy(&body), model)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Failure::passing(format!("cannot reach {}: {cause}", self.place()))
    }

    fn silence(&self) -> Failure {
        Failure::passing(format!("{} does not answer", self.place()))
    }
}

/// What networks that want a login answer to everything.
fn is_web_page(response: &reqwest::Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

/// As much of a body as is worth reading and comes in time. What cannot be read is left out: the status says enough.
async fn read_bounded(response: reqwest::Response, wait_max: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    let deadline = Instant::now() + wait_max;
    while let Ok(Some(Ok(chunk))) = tokio::time::timeout_at(deadline, chunks.next()).await {
        let room = ERROR_BODY_MAX_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == ERROR_BODY_MAX_BYTES {
            break;
        }
    }
    body
}

/// A message on its way. Dropping it ends the request.
pub struct MessageStream {
    bytes: BoxStream<'static, reqwest::Result<Bytes>>,
    decoder: MessageDecoder,
    ready: VecDeque<StreamEvent>,
    silence_max: Duration,
}

impl MessageStream {
    /// The next event. The last one is `Finished` or `Failed`. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> StreamEvent {
        let mut deadline = Instant::now() + self.silence_max;
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event;
            }
            let failure = match tokio::time::timeout_at(deadline, self.bytes.next()).await {
                Ok(Some(Ok(bytes))) => {
                    let lines = self.decoder.lines();
                    self.ready.extend(self.decoder.feed(&bytes));
                    // Bytes that never become a line are no sign of life.
                    if self.decoder.lines() > lines {
                        deadline = Instant::now() + self.silence_max;
                    }
                    continue;
                }
                Ok(Some(Err(error))) => {
                    Failure::passing(format!("the connection broke in the middle of the answer: {error}"))
                }
                Ok(None) => Failure::passing("the connection ended in the middle of the answer"),
                Err(_) => Failure::passing(format!(
                    "no sign of life from the API for {} s",
                    self.silence_max.as_secs_f32()
                )),
            };
            return StreamEvent::Failed(failure);
        }
    }

    /// What can be kept of a message that did not become whole, and what it used so far.
    pub fn salvage(self) -> (Vec<Block>, TokenUsage) {
        // The end may have arrived with the pieces before it, and nobody has looked at it yet.
        let whole = self.ready.into_iter().find_map(|event| match event {
            StreamEvent::Finished(message) => Some((message.content, message.usage)),
            _ => None,
        });
        let (mut blocks, usage) = whole.unwrap_or_else(|| {
            let usage = self.decoder.usage();
            (self.decoder.salvage(), usage)
        });
        blocks.retain(|block| !matches!(block, Block::ToolUse { .. }));
        (blocks, usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = concat!(
        "event: content_block_start\n",
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        "\n\nevent: content_block_delta\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"seen"}}"#,
        "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: content_block_start\n",
        r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"bash"}}"#,
        "\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );

    /// A cancel between the first piece and the end, which had arrived together, once lost what was shown.
    #[tokio::test]
    async fn what_was_shown_is_salvaged_also_when_the_end_has_arrived_unseen() {
        let mut stream = MessageStream {
            bytes: futures::stream::iter([Ok(Bytes::from_static(WHOLE.as_bytes()))]).boxed(),
            decoder: MessageDecoder::default(),
            ready: VecDeque::new(),
            silence_max: Duration::from_secs(1),
        };
        assert_eq!(stream.next().await, StreamEvent::Text("seen".to_owned()));
        assert_eq!(stream.salvage().0, [Block::text("seen")]);
    }
}
