//! The way of plugins to the network: granted origins only, secrets put in on the way out and never shown.
//!
//! Architecture invariant: the address that was checked is the address that is connected to. Names are resolved by the
//! client's own resolver, which drops what is not public, so there is no second look-up in which a name could mean
//! another machine. Each redirect is a request of its own, checked like the first.

use super::hidden::Hidden;
use super::http_target::Target;
use super::powers::Powers;
use crate::limits::{
    CONNECT_MAX_MS, PLUGIN_HEADERS_MAX, PLUGIN_REDIRECTS_MAX, PLUGIN_REQUEST_MAX_BYTES,
    PLUGIN_REQUEST_MAX_MS, PLUGIN_REQUESTS_PER_MINUTE_MAX, PLUGIN_RESPONSE_MAX_BYTES,
};
use crate::secret::Secret;
use futures::StreamExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A request of a plugin, unchecked.
pub struct Outgoing {
    /// Such as `GET`.
    pub method: String,
    /// Where to.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Vec<u8>,
}

/// The answer to it.
#[derive(Debug)]
pub struct Incoming {
    /// Such as 200.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// What came.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum HttpError {
    /// The grant of this name is missing.
    Denied(String),
    /// It is never done, whatever is granted.
    Refused(String),
    /// It is no request.
    Invalid(String),
    /// It is over a limit.
    TooLarge(String),
    /// It may work later.
    Unavailable(String),
}

/// The way to the network, which all plugins share.
#[derive(Default)]
pub struct HttpGate {
    public: OnceLock<Client>,
    local: OnceLock<Client>,
    /// When each plugin sent its latest requests.
    sent: Mutex<HashMap<String, VecDeque<Instant>>>,
}

/// Headers that only the client itself sets.
const OURS: [&str; 11] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
    // An answer that is packed, or comes in parts, may repeat a secret and nobody would find it.
    "accept-encoding",
    "range",
];
/// Headers that are for the origin they were meant for alone.
const OF_ORIGIN: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

/// Whether a plugin may not set a header.
pub(super) fn is_ours(name: &str) -> bool {
    OURS.contains(&name) || name.starts_with("proxy-")
}

impl HttpGate {
    /// Sends a request and brings the whole answer.
    pub async fn send(
        &self,
        plugin: &str,
        outgoing: Outgoing,
        powers: &Powers,
        secrets: &BTreeMap<String, Secret>,
    ) -> Result<Incoming, HttpError> {
        if outgoing.body.len() > PLUGIN_REQUEST_MAX_BYTES {
            return Err(HttpError::TooLarge(format!("a request may have {PLUGIN_REQUEST_MAX_BYTES} bytes")));
        }
        let deadline = Duration::from_millis(PLUGIN_REQUEST_MAX_MS);
        let followed = self.follow(plugin, outgoing, powers, secrets);
        let answered = tokio::time::timeout(deadline, followed).await.map_err(|_| {
            HttpError::Unavailable(format!(
                "there was no whole answer within {} s",
                PLUGIN_REQUEST_MAX_MS / 1000
            ))
        });
        let hidden = Hidden::of(powers, secrets);
        match answered.flatten() {
            Ok(incoming) => Ok(hidden.answer(incoming)),
            Err(why) => Err(hidden.error(why)),
        }
    }

    async fn follow(
        &self,
        plugin: &str,
        outgoing: Outgoing,
        powers: &Powers,
        secrets: &BTreeMap<String, Secret>,
    ) -> Result<Incoming, HttpError> {
        let mut method = Method::from_bytes(outgoing.method.to_ascii_uppercase().as_bytes())
            .map_err(|_| HttpError::Invalid(format!("{:?} is no method", outgoing.method)))?;
        let mut headers = headers_of(&outgoing.headers)?;
        let mut body = outgoing.body;
        let mut target = Target::check(&outgoing.url, &method, powers)?;
        let (hidden, mut has_secret) = (Hidden::of(powers, secrets), false);
        for _ in 0..=PLUGIN_REDIRECTS_MAX {
            self.count(plugin)?;
            let mut all = headers.clone();
            all.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            has_secret |= put_secrets(&mut all, &target, powers, secrets)?;
            let request = self
                .client(target.local)?
                .request(method.clone(), target.url.clone())
                .headers(all)
                .body(body.clone());
            let response = request.send().await.map_err(|error| unreachable(&target, &error))?;
            let Some(next) = redirect(&target, &response, &hidden)? else {
                if has_secret {
                    check_plain(&response)?;
                }
                return read(response).await;
            };
            if changes_method(response.status(), &method) {
                (method, body) = (Method::GET, Vec::new());
                headers.remove("content-type");
            }
            let next = Target::check(&next, &method, powers)?;
            if next.origin != target.origin {
                for name in OF_ORIGIN {
                    headers.remove(name);
                }
            }
            target = next;
        }
        Err(HttpError::Refused(format!("the answers redirected more than {PLUGIN_REDIRECTS_MAX} times")))
    }

    /// Counts a request of a plugin; too many in a minute are refused.
    fn count(&self, plugin: &str) -> Result<(), HttpError> {
        let now = Instant::now();
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = all.entry(plugin.to_owned()).or_default();
        while sent.front().is_some_and(|at| now.duration_since(*at) > Duration::from_secs(60)) {
            sent.pop_front();
        }
        if sent.len() >= PLUGIN_REQUESTS_PER_MINUTE_MAX {
            let why = format!(
                "a plugin may send {PLUGIN_REQUESTS_PER_MINUTE_MAX} requests in a minute: wait a little"
            );
            return Err(HttpError::Unavailable(why));
        }
        sent.push_back(now);
        Ok(())
    }

    fn client(&self, local: bool) -> Result<&Client, HttpError> {
        let slot = if local { &self.local } else { &self.public };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        // Fails when another thread installed it first, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(Duration::from_millis(CONNECT_MAX_MS))
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would resolve the name itself, and nobody could check what to.
            .no_proxy()
            .referer(false)
            .user_agent(concat!("airlock/", env!("CARGO_PKG_VERSION")));
        if !local {
            builder = builder.dns_resolver(Arc::new(PublicOnly));
        }
        let client = builder
            .build()
            .map_err(|error| HttpError::Unavailable(format!("HTTPS cannot be set up: {error}")))?;
        Ok(slot.get_or_init(|| client))
    }
}

/// Resolves names, and knows only machines out on the internet.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Vec<_> =
                found.iter().copied().filter(|address| super::origin::is_public(address.ip())).collect();
            if public.is_empty() {
                let why = format!(
                    "{} is an address of this machine or its network, which plugins do not reach",
                    name.as_str()
                );
                return Err(why.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn headers_of(pairs: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    if pairs.len() > PLUGIN_HEADERS_MAX {
        return Err(HttpError::TooLarge(format!("a request may have {PLUGIN_HEADERS_MAX} headers")));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let known = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| HttpError::Invalid(format!("{name:?} is no name of a header")))?;
        if is_ours(known.as_str()) {
            return Err(HttpError::Refused(format!(
                "the header {known} is not a plugin's to set: leave it out"
            )));
        }
        let value = HeaderValue::from_str(value)
            .map_err(|_| HttpError::Invalid(format!("the value of the header {known} cannot be sent")))?;
        headers.append(known, value);
    }
    Ok(headers)
}

/// Puts the secrets of an origin into a request to it, in the place of what the plugin may have put there. Gives whether
/// there are any.
fn put_secrets(
    headers: &mut HeaderMap,
    target: &Target,
    powers: &Powers,
    secrets: &BTreeMap<String, Secret>,
) -> Result<bool, HttpError> {
    let mut some = false;
    for (name, place) in powers.secrets.iter().filter(|(_, place)| place.origin == target.origin) {
        let wrong = |what: &str| HttpError::Invalid(format!("the secret {name} {what}"));
        // Without a value the request goes without it: many servers answer some requests to anybody.
        let Some(secret) = secrets.get(name) else { continue };
        let mut value = HeaderValue::from_str(&format!("{}{}", place.prefix, secret.expose()))
            .map_err(|_| wrong("cannot stand in a header: correct it in your config.toml"))?;
        value.set_sensitive(true);
        let header =
            HeaderName::from_bytes(place.header.as_bytes()).map_err(|_| wrong("has no header to go into"))?;
        headers.insert(header, value);
        some = true;
    }
    Ok(some)
}

/// Where an answer sends us on to.
fn redirect(target: &Target, response: &Response, hidden: &Hidden<'_>) -> Result<Option<String>, HttpError> {
    let moved = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else {
        return Ok(None);
    };
    if hidden.is_in(location.as_bytes()) {
        return Err(HttpError::Refused(
            "the answer redirects to an address with a secret in it, which would get around".to_owned(),
        ));
    }
    let next = location.to_str().ok().and_then(|location| target.url.join(location).ok());
    match next {
        Some(next) => Ok(Some(next.into())),
        None => Err(HttpError::Refused("the answer redirects to what is no address".to_owned())),
    }
}

fn changes_method(status: StatusCode, method: &Method) -> bool {
    let keeps = matches!(status.as_u16(), 307 | 308) || method == Method::GET || method == Method::HEAD;
    !keeps
}

async fn read(response: Response) -> Result<Incoming, HttpError> {
    let status = response.status().as_u16();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| {
            HttpError::Unavailable(format!("the answer broke off: {}", error.without_url()))
        })?;
        if body.len() + piece.len() > PLUGIN_RESPONSE_MAX_BYTES {
            return Err(HttpError::TooLarge(format!(
                "the answer has more than {PLUGIN_RESPONSE_MAX_BYTES} bytes"
            )));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Incoming { status, headers, body })
}

/// A packed answer may repeat a secret and nobody would find it.
fn check_plain(response: &Response) -> Result<(), HttpError> {
    let packed = |value: &&HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
    match response.headers().get_all(CONTENT_ENCODING).iter().find(packed) {
        None => Ok(()),
        Some(_) => Err(HttpError::Refused(
            "the answer to a request with a secret is packed, though it was asked for as it is: the plugin does not \
             get it"
                .to_owned(),
        )),
    }
}

/// What kept a request from its answer, without the address' query, which may hold what nobody should see in a log.
fn unreachable(target: &Target, error: &reqwest::Error) -> HttpError {
    let mut why = String::new();
    let mut source: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = source {
        why = error.to_string();
        source = error.source();
    }
    let private = why.contains("which plugins do not reach");
    let text = format!("{} cannot be reached: {why}", target.origin);
    if private { HttpError::Refused(text) } else { HttpError::Unavailable(text) }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
