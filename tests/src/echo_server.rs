//! A web server on loopback that tells what it was asked: for plugins that send requests.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running server; it is gone when this is dropped.
///
/// `/echo…` answers with the request as JSON, `/to?URL` redirects there, `/to-bearer` to a host of that name, `/large`
/// answers with 9 MiB, `/packed` says that it is gzip.
pub struct EchoServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    server: JoinHandle<()>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method and path.
    pub what: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl EchoServer {
    /// Starts one on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener");
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let shared = Arc::clone(&asked);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&shared);
                let service = service_fn(move |request| {
                    let shared = Arc::clone(&shared);
                    async move { Ok::<_, Infallible>(answer(request, &shared).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, asked, server }
    }

    /// Its origin.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(request: Request<Incoming>, all: &Mutex<Vec<Asked>>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: BTreeMap<String, String> =
        parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let asked = Asked { what: format!("{} {}", parts.method, parts.uri), headers: headers.clone() };
    all.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    let full = |bytes: Vec<u8>| Full::new(Bytes::from(bytes));
    match parts.uri.path() {
        "/to" => {
            let place = parts.uri.query().unwrap_or_default();
            let redirect = Response::builder().status(302).header("location", place);
            redirect.body(full(Vec::new())).expect("a response")
        }
        "/to-bearer" => {
            let bearer = headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
            let place = format!("https://{}.example/", bearer.unwrap_or("nobody"));
            let redirect = Response::builder().status(302).header("location", place);
            redirect.body(full(Vec::new())).expect("a response")
        }
        "/packed" => {
            let packed = Response::builder().header("content-encoding", "gzip");
            packed.body(full(b"no gzip at all".to_vec())).expect("a response")
        }
        "/large" => Response::new(full(vec![b'x'; 9 << 20])),
        _ => {
            let body = String::from_utf8_lossy(&body);
            let echo = json!({"method": parts.method.as_str(), "headers": headers, "body": body});
            Response::new(full(echo.to_string().into_bytes()))
        }
    }
}
