//! The body of an LSP frame: is it a JSON-RPC message, and of which kind?
//!
//! What is none is answered as JSON-RPC says: `-32700` when it is no JSON, `-32600` when it is no request, with the
//! request's id when it can be known and `null` otherwise. A bad *response* gets no answer: two programs that answer each
//! other's bad responses never stop.
//!
//! Responses are read more kindly than tower-lsp does, which refuses an error with one field too many. The request of ours
//! that it belongs to would then wait for its deadline.

use serde_json::{Map, Value};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use crate::limits::LSP_REQUEST_ID_MAX_BYTES;

/// A JSON-RPC message from the client.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A request, or a notification if it has no id.
    Call(Request),
    /// The answer to a request of ours.
    Answer(Response),
}

/// Something that is no message.
#[derive(Clone, Debug, PartialEq)]
pub struct BadFrame {
    /// What is wrong with it.
    pub why: String,
    answered: Option<(Id, ErrorCode)>,
}

impl BadFrame {
    /// What the client is told, if anything.
    pub fn answer(&self) -> Option<Response> {
        let (id, code) = self.answered.clone()?;
        let error = Error { code, message: self.why.clone().into(), data: None };
        Some(Response::from_error(id, error))
    }

    /// It cannot be read at all.
    pub(super) fn unreadable(why: String) -> Self {
        Self { why, answered: Some((Id::Null, ErrorCode::ParseError)) }
    }

    /// It can be read, but is no request, and nobody knows its id.
    pub(super) fn invalid(why: String) -> Self {
        Self { why, answered: Some((Id::Null, ErrorCode::InvalidRequest)) }
    }

    fn unanswered(why: &str) -> Self {
        Self { why: why.to_owned(), answered: None }
    }
}

/// Reads a body.
pub(super) fn read(body: &[u8]) -> Result<Incoming, BadFrame> {
    match parse(body).map_err(|error| BadFrame::unreadable(format!("a message is no JSON: {error}")))? {
        Value::Object(fields) if fields.contains_key("method") => call(fields),
        Value::Object(fields) if fields.contains_key("result") || fields.contains_key("error") => {
            answer(fields)
        }
        Value::Object(fields) => {
            let why = "a message has neither method nor result nor error";
            Err(invalid_call(&fields, why))
        }
        Value::Array(_) => Err(BadFrame::invalid("LSP has no batches".to_owned())),
        _ => Err(BadFrame::invalid("a message is no JSON object".to_owned())),
    }
}

fn call(mut fields: Map<String, Value>) -> Result<Incoming, BadFrame> {
    if !is_version_2(&fields) {
        return Err(invalid_call(&fields, "a message's jsonrpc is not \"2.0\""));
    }
    let id = match fields.get("id") {
        None => None,
        Some(value) => match read_id(value) {
            Some(id) => Some(id),
            None => {
                return Err(invalid_call(&fields, "a request's id is no integer and no short string"));
            }
        },
    };
    let Some(Value::String(method)) = fields.remove("method") else {
        return Err(invalid_call(&fields, "a message's method is no string"));
    };
    let mut request = Request::build(method);
    if let Some(id) = id {
        request = request.id(id);
    }
    if let Some(params) = fields.remove("params") {
        request = request.params(params);
    }
    Ok(Incoming::Call(request.finish()))
}

fn answer(mut fields: Map<String, Value>) -> Result<Incoming, BadFrame> {
    if !is_version_2(&fields) {
        return Err(BadFrame::unanswered("a response's jsonrpc is not \"2.0\""));
    }
    let Some(id) = fields.get("id").and_then(read_id) else {
        return Err(BadFrame::unanswered("a response has no id that we could have given"));
    };
    let outcome = match fields.remove("error") {
        None | Some(Value::Null) => Ok(fields.remove("result").unwrap_or(Value::Null)),
        Some(error) => Err(read_error(error)),
    };
    Ok(Incoming::Answer(Response::from_parts(id, outcome)))
}

fn read_error(mut error: Value) -> Error {
    let code = error["code"].as_i64().map_or(ErrorCode::InternalError, ErrorCode::from);
    let message = match &error["message"] {
        Value::String(message) => message.clone(),
        _ => "the client gave no reason".to_owned(),
    };
    Error { code, message: message.into(), data: error.get_mut("data").map(Value::take) }
}

fn invalid_call(fields: &Map<String, Value>, why: &str) -> BadFrame {
    let id = fields.get("id").and_then(read_id).unwrap_or(Id::Null);
    BadFrame { why: why.to_owned(), answered: Some((id, ErrorCode::InvalidRequest)) }
}

/// LSP's ids are integers and strings; JSON-RPC's `null` is the id of what has none.
fn read_id(value: &Value) -> Option<Id> {
    match value {
        Value::Number(number) => number.as_i64().map(Id::Number),
        Value::String(text) if text.len() <= LSP_REQUEST_ID_MAX_BYTES => Some(Id::String(text.clone())),
        _ => None,
    }
}

fn is_version_2(fields: &Map<String, Value>) -> bool {
    fields.get("jsonrpc").is_some_and(|version| version == "2.0")
}

fn parse(body: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(body).or_else(|error| match mend_surrogates(body) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// JavaScript's strings may hold half a surrogate pair, and `JSON.stringify` writes it as an escape that Rust's strings
/// cannot hold. U+FFFD takes its place; it is as long in UTF-16, so positions stay right. `None` if there is no such half.
fn mend_surrogates(body: &[u8]) -> Option<Vec<u8>> {
    let mut mended = None;
    let mut at = 0;
    while at < body.len() {
        at += match (body[at], escaped_unit(body, at)) {
            (b'\\', Some(0xd800..0xdc00)) if matches!(escaped_unit(body, at + 6), Some(0xdc00..0xe000)) => 12,
            (b'\\', Some(0xd800..0xe000)) => {
                mended.get_or_insert_with(|| body.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    mended
}

/// The unit of a `\uXXXX` that stands here.
fn escaped_unit(body: &[u8], at: usize) -> Option<u16> {
    let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
