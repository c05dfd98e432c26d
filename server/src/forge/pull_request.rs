//! A pull request: first exactly what would be asked for, then exactly that.

use super::Place;
use crate::config::ForgeKind;
use crate::limits::{CONNECT_MAX_MS, ERROR_BODY_MAX_BYTES, FORGE_ANSWER_MAX_MS};
use crate::neutral::neutral_line;
use futures::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;

/// What to ask for.
pub struct PullRequest {
    /// Of which repository.
    pub place: Place,
    /// The branch that it is for.
    pub base: String,
    /// The branch that it is made of.
    pub head: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub body: String,
}

/// A pull request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its number.
    pub number: u64,
    /// Where to look at it; empty when the forge did not say.
    pub url: String,
}

impl PullRequest {
    /// Everything that will be sent, but for the token.
    pub fn shown(&self) -> String {
        let Self { place, base, head, title, body } = self;
        format!(
            "POST {}\nrepository: {}/{}\nbase: {base}\nhead: {head}\ntitle: {title}\nbody:\n{body}",
            place.endpoint(),
            place.owner,
            place.name
        )
    }

    /// Makes it.
    pub async fn open(&self) -> Result<Opened, String> {
        let time_max = Duration::from_millis(FORGE_ANSWER_MAX_MS);
        match tokio::time::timeout(time_max, self.send()).await {
            Ok(opened) => opened,
            Err(_) => {
                Err(format!("{} does not answer: see there whether the pull request was made", self.api()))
            }
        }
    }

    async fn send(&self) -> Result<Opened, String> {
        let mut authorization = HeaderValue::from_str(&self.place.authorization())
            .map_err(|_| "the token has characters that no token has: check your config.toml".to_owned())?;
        authorization.set_sensitive(true);
        let accept = match self.place.forge.kind {
            ForgeKind::Github => "application/vnd.github+json",
            ForgeKind::Gitea => "application/json",
        };
        let Self { base, head, title, body, .. } = self;
        let body = json!({"title": title, "head": head, "base": base, "body": body});
        let request = client(self.api())?
            .post(self.place.endpoint())
            .header(AUTHORIZATION, authorization)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let answer: Value = serde_json::from_slice(&read(response).await).unwrap_or_default();
        match (status, answer["number"].as_u64()) {
            (200 | 201, Some(number)) => {
                let url = answer["html_url"].as_str().filter(|url| url.starts_with("http"));
                Ok(Opened { number, url: self.safe(url.unwrap_or_default()) })
            }
            _ => Err(self.refused(status, &answer)),
        }
    }

    fn api(&self) -> &str {
        &self.place.forge.api
    }

    fn refused(&self, status: u16, answer: &Value) -> String {
        let errors = answer["errors"].as_array().into_iter().flatten();
        let words = errors.filter_map(|error| error["message"].as_str()).chain(answer["message"].as_str());
        let words: Vec<&str> = words.collect();
        let said =
            if words.is_empty() { String::new() } else { format!(" ({})", self.safe(&words.join("; "))) };
        let remedy = match status {
            401 => "give a valid token in your config.toml",
            403 => "give the token the right to write pull requests",
            404 => "see whether the repository exists and the token may see it",
            409 | 422 => "see whether there is one already, and whether both branches exist there",
            _ => "try again later",
        };
        format!("{} answered {status}{said}: {remedy}", self.api())
    }

    fn unreachable(&self, error: &reqwest::Error) -> String {
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        self.safe(&format!("cannot reach {}: {cause}", self.api()))
    }

    /// A text of the other side, in one line and without the token, should it be sent back.
    fn safe(&self, untrusted_text: &str) -> String {
        neutral_line(&untrusted_text.replace(self.place.forge.token.expose(), "[secret]"))
    }
}

fn client(api: &str) -> Result<reqwest::Client, String> {
    // Fails when another thread installed it first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(Duration::from_millis(CONNECT_MAX_MS))
        .https_only(!api.starts_with("http://"))
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("airlock/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("cannot set up HTTPS: {error}"))
}

/// As much of an answer as is worth reading.
async fn read(response: reqwest::Response) -> Vec<u8> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        let room = ERROR_BODY_MAX_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == ERROR_BODY_MAX_BYTES {
            break;
        }
    }
    body
}
