//! The HTTP side: a listener on loopback, a task a connection, and a table of three routes.

use super::answer;
use super::body::{Body, full};
use super::fault::ApiError;
use super::models;
use super::state::Shared;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Serves until it is aborted, and its connections with it.
pub(super) async fn run(listener: TcpListener, shared: Shared) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.expect("loopback accepts");
                stream.set_nodelay(true).expect("a TCP option");
                let shared = shared.clone();
                connections.spawn(async move {
                    let service = service_fn(move |request| route(request, shared.clone()));
                    // Fails when a script cuts the connection or a client leaves: both are wanted.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn route(request: Request<Incoming>, shared: Shared) -> Result<Response<Body>, Infallible> {
    let number = shared.with(|state| {
        state.hits += 1;
        state.hits
    });
    let request_id = format!("req_scripted_{number:04}");
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        // The client broke off; nobody reads this.
        return Ok(Response::new(full("")));
    };
    let body = body.to_bytes();
    let path = parts.uri.path();
    let answered = match (&parts.method, path.strip_prefix("/v1/models")) {
        (&Method::POST, None) if path == "/v1/messages" => {
            return Ok(answer::messages(&parts.headers, &body, &shared, &request_id).await);
        }
        (&Method::GET, Some(rest)) => {
            if let Some(gate) = shared.with(|state| state.models_held.clone()) {
                gate.pass().await;
            }
            shared.with(|state| {
                answer::check_key(&parts.headers, state.key.as_deref())?;
                match rest.trim_start_matches('/') {
                    "" => Ok(models::list(&state.models, parts.uri.query().unwrap_or_default())),
                    id => models::retrieve(&state.models, id),
                }
            })
        }
        _ => Err(ApiError::of_status(404)),
    };
    Ok(match answered {
        Ok(value) => json(200, &value, &request_id),
        Err(error) => json(error.status, &error.body(&request_id), &request_id),
    })
}

pub(super) fn json(status: u16, value: &Value, request_id: &str) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("request-id", request_id)
        .body(full(value.to_string()))
        .expect("a response of known headers")
}
