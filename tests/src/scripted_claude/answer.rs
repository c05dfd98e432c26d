//! `POST /v1/messages`: the request is checked as the API would, recorded, and answered from the script.

use super::body::{Body, Hangup, streamed};
use super::fault::ApiError;
use super::models;
use super::received::Received;
use super::render::Part;
use super::reply::Reply;
use super::server::json;
use super::state::{Shared, State};
use super::validate;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Response};
use serde_json::Value;
use std::time::Instant;

pub(super) async fn messages(headers: &HeaderMap, body: &[u8], shared: &Shared, id: &str) -> Response<Body> {
    let parsed: Result<Value, _> = serde_json::from_slice(body);
    let mut request = Received {
        headers: headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        body: parsed.as_ref().cloned().unwrap_or_default(),
        at: Instant::now(),
        status: 200,
    };
    let (stream, model) =
        (request.body["stream"] == true, request.body["model"].as_str().unwrap_or_default().to_owned());
    let decided = shared.with(|state| {
        let decided = check_key(headers, state.key.as_deref())
            .and_then(|()| {
                parsed.map_err(|error| ApiError::invalid_request(format!("invalid JSON: {error}")))
            })
            .and_then(|_| check(&request, state))
            .and_then(|()| reply_for(&request, state));
        request.status = match &decided {
            Ok(reply) => reply.error.as_ref().map_or(200, |error| error.status),
            Err(error) => error.status,
        };
        state.requests.push(request);
        decided
    });
    match decided {
        Err(error) => json(error.status, &error.body(id), id),
        Ok(reply) => respond(reply, stream, &model, shared, id).await,
    }
}

/// Any key will do, unless the test asked for a certain one. The API's documents name `x-api-key`; the official
/// SDK 2.8.0 sends the same key as a bearer token, so both are taken, as the API must take both.
pub(super) fn check_key(headers: &HeaderMap, wanted: Option<&str>) -> Result<(), ApiError> {
    let refuse = |message| Err(ApiError::new(401, "authentication_error", message));
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = || text("authorization")?.strip_prefix("Bearer ");
    match (text("x-api-key").or_else(bearer), wanted) {
        (None | Some(""), _) => refuse("x-api-key header is required"),
        (Some(key), Some(wanted)) if key != wanted => refuse("invalid x-api-key"),
        _ => Ok(()),
    }
}

/// What the API would refuse. A request of the wrong form is the client's mistake and noted as a problem; an
/// unknown model or a conversation too long can be the user's.
fn check(request: &Received, state: &mut State) -> Result<(), ApiError> {
    let checked = validate::request(request, &state.thinking, state.paused);
    if let Err(message) = checked {
        state.problems.push(format!("an invalid request was rejected: {message}"));
        return Err(ApiError::invalid_request(message));
    }
    let id = request.body["model"].as_str().unwrap_or_default();
    let checked = validate::fits_model(&request.body, models::find(&state.models, id)?);
    checked.map_err(ApiError::invalid_request)
}

fn reply_for(request: &Received, state: &mut State) -> Result<Reply, ApiError> {
    let Some(reply) = state.script.take(request) else {
        let message = format!("no reply is scripted for this request: {}", request.last_user_text().trim());
        state.problems.push(message.clone());
        return Err(ApiError::new(500, "api_error", message));
    };
    state.paused |= reply.stop_reason() == "pause_turn";
    for block in reply.content() {
        if let (Some(signature), Some(thinking)) = (block["signature"].as_str(), block["thinking"].as_str()) {
            state.thinking.insert(signature.to_owned(), thinking.to_owned());
        }
    }
    Ok(reply)
}

async fn respond(reply: Reply, stream: bool, model: &str, shared: &Shared, id: &str) -> Response<Body> {
    let mut hangup = Hangup::watch(shared);
    if let Some(gate) = &reply.held {
        gate.pass().await;
    }
    let message_id = id.replace("req_", "msg_");
    let mut response = if let Some(error) = &reply.error {
        let mut response = json(error.status, &error.body(id), id);
        if reply.delivery.endless {
            let body = Part::Bytes(error.body(id).to_string().into());
            *response.body_mut() = streamed(vec![body, Part::Silence], hangup);
        } else {
            hangup.disarm();
        }
        response
    } else if stream {
        Response::builder()
            .header("content-type", "text/event-stream; charset=utf-8")
            .header("cache-control", "no-cache")
            .header("request-id", id)
            .body(streamed(reply.parts(model, &message_id), hangup))
            .expect("a response of known headers")
    } else {
        hangup.disarm();
        json(200, &reply.message(model, &message_id), id)
    };
    for (name, value) in &reply.headers {
        let name: HeaderName = name.parse().expect("a header's name");
        let value = HeaderValue::from_str(value).expect("a header's value");
        response.headers_mut().insert(name, value);
    }
    response
}
