//! Requests to granted origins. Needs the origin, paths and methods in `plugin.toml`, and the user's grant.
//!
//! A secret that `plugin.toml` names for the origin is added by the host; a plugin never sees it.

use crate::error::{Error, Kind, Result};
use crate::host;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Such as 200.
    pub status: u16,
    /// As they came.
    pub headers: Vec<(String, String)>,
    /// As it came.
    pub body: Vec<u8>,
}

/// Gets what stands there.
pub fn get(url: impl Into<String>) -> Result<Response> {
    Request::new("GET", url).send()
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self { method: method.into(), url: url.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// With a header more.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With this body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// With this body as JSON.
    pub fn json(self, body: &impl Serialize) -> Result<Self> {
        let json = serde_json::to_vec(body)?;
        Ok(self.header("content-type", "application/json").body(json))
    }

    /// Sends it and waits for the whole answer.
    pub fn send(self) -> Result<Response> {
        host::http_send(self)
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The address.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Response {
    /// The value of a header, whatever case its name is in.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
        self.headers.iter().find(named).map(|(_, value)| value.as_str())
    }

    /// The same when the status is 200 to 299; else an error that tells it.
    pub fn success(self) -> Result<Self> {
        let kind = match self.status {
            200..=299 => return Ok(self),
            401 | 403 => Kind::Denied,
            404 | 410 => Kind::NotFound,
            429 | 500..=599 => Kind::Unavailable,
            _ => Kind::Failed,
        };
        let error = Error::new(kind.clone(), format!("the server answered {}", self.status));
        Err(if kind == Kind::Unavailable { error.retryable() } else { error })
    }

    /// The body as text.
    pub fn text(&self) -> Result<&str> {
        Ok(std::str::from_utf8(&self.body)?)
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::failed(format!("the answer does not fit: {error}")))
    }
}
