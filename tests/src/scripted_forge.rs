//! A stand-in for GitHub and Gitea over real HTTP on loopback: their API for pull requests, and the repositories
//! themselves, served by git's own `http-backend` behind a password.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running forge; it is gone when this is dropped.
pub struct ScriptedForge {
    address: SocketAddr,
    state: Arc<State>,
    server: JoinHandle<()>,
}

struct State {
    /// The folder with its bare repositories, as `OWNER/NAME.git`.
    repositories: PathBuf,
    /// The whole header that a push must have.
    push_authorization: String,
    answer: Mutex<(u16, Value)>,
    asked: Mutex<Vec<Asked>>,
}

/// A request to its API.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method and path.
    pub what: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// What was sent.
    pub body: Value,
}

impl Drop for ScriptedForge {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl ScriptedForge {
    /// Serves the repositories below a folder to whoever has this name and password, in base64.
    pub async fn start(repositories: impl Into<PathBuf>, name_and_password_base64: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener");
        let made = json!({"number": 7, "html_url": format!("http://{address}/someone/project/pulls/7")});
        let state = Arc::new(State {
            repositories: repositories.into(),
            push_authorization: format!("Basic {name_and_password_base64}"),
            answer: Mutex::new((201, made)),
            asked: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let service = service_fn(move |request| route(request, Arc::clone(&shared)));
                    // Fails when the client leaves, which it may.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, state, server }
    }

    /// Its origin.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What its API answers from now on.
    pub fn answer(&self, status: u16, body: Value) {
        *self.state.answer.lock().expect("no panic under the lock") = (status, body);
    }

    /// What its API was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().expect("no panic under the lock").clone()
    }
}

async fn route(request: Request<Incoming>, state: Arc<State>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(Response::new(Full::default()));
    };
    let body = body.to_bytes();
    if parts.uri.path().contains(".git/") {
        return Ok(repository(&parts, &body, &state).await);
    }
    let header = |name: &hyper::header::HeaderName, value: &hyper::header::HeaderValue| {
        (name.as_str().to_owned(), value.to_str().unwrap_or_default().to_owned())
    };
    let asked = Asked {
        what: format!("{} {}", parts.method, parts.uri),
        headers: parts.headers.iter().map(|(name, value)| header(name, value)).collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    state.asked.lock().expect("no panic under the lock").push(asked);
    let (status, answer) = state.answer.lock().expect("no panic under the lock").clone();
    let response = Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    Ok(response.body(Full::from(answer.to_string())).expect("a response of known headers"))
}

/// Git's own server, as a CGI program.
async fn repository(parts: &Parts, body: &[u8], state: &State) -> Response<Full<Bytes>> {
    let text = |name: hyper::header::HeaderName| {
        parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    if text(AUTHORIZATION) != state.push_authorization {
        let refused = Response::builder().status(401).header(WWW_AUTHENTICATE, "Basic realm=\"forge\"");
        return refused.body(Full::default()).expect("a response of known headers");
    }
    let mut child = tokio::process::Command::new("git")
        .arg("http-backend")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_PROJECT_ROOT", &state.repositories)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "someone")
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("PATH_INFO", parts.uri.path())
        .env("QUERY_STRING", parts.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", text(CONTENT_TYPE))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", text(hyper::header::CONTENT_ENCODING))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git is installed");
    let mut stdin = child.stdin.take().expect("a piped stdin");
    let body = body.to_vec();
    // It may answer before it has read all.
    tokio::spawn(async move { stdin.write_all(&body).await });
    let output = child.wait_with_output().await.expect("git ends").stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").expect("headers, then a body");
    let mut response = Response::builder();
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let (name, value) = line.split_once(": ").expect("a header");
        response = match name {
            "Status" => response.status(value.split(' ').next().unwrap_or_default()),
            name => response.header(name, value),
        };
    }
    response.body(Full::from(output[end + 4..].to_vec())).expect("what git answers")
}
