//! What the API refuses with 400, so that a client's mistake shows in a test and not at a user's desk.
//!
//! Invariant: pure; each check gives the first fault in the API's manner, `where: what`.

mod blocks;
mod conversation;
mod tools;

use super::models::Model;
use super::received::Received;
use serde_json::Value;
use std::collections::HashMap;

/// Every field that the API knows at the top of a request.
const FIELDS: [&str; 20] = [
    "cache_control",
    "container",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// The most cache marks in a request.
const CACHE_MARKS: usize = 4;

/// Checks a request whose key was accepted. `thinking` is what was sent out before, by signature.
pub(super) fn request(
    request: &Received,
    thinking: &HashMap<String, String>,
    after_pause: bool,
) -> Result<(), String> {
    if !request.headers.contains_key("anthropic-version") {
        return Err("anthropic-version: header is required".to_owned());
    }
    let kind = request.headers.get("content-type").map_or("", String::as_str);
    if !kind.starts_with("application/json") {
        return Err(format!("content-type: must be application/json, not {kind:?}"));
    }
    let body = &request.body;
    blocks::only_fields(body, "request", &FIELDS)?;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err("model: Field required".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Err("max_tokens: must be a number greater than 0".to_owned());
    }
    if !matches!(body["stream"], Value::Null | Value::Bool(_)) {
        return Err("stream: must be a boolean".to_owned());
    }
    system(&body["system"])?;
    tools::check(&body["tools"])?;
    conversation::check(&body["messages"], thinking, after_pause)?;
    match cache_marks(body) {
        0..=CACHE_MARKS => Ok(()),
        found => Err(format!(
            "A maximum of {CACHE_MARKS} blocks with cache_control may be provided. Found {found}."
        )),
    }
}

/// Checks what depends on the model. Tokens are guessed: four bytes of the body each.
pub(super) fn fits_model(body: &Value, model: &Model) -> Result<(), String> {
    let max_tokens = body["max_tokens"].as_u64().unwrap_or_default();
    if max_tokens > model.max_tokens {
        let (limit, id) = (model.max_tokens, &model.id);
        return Err(format!(
            "max_tokens: {max_tokens} > {limit}, which is the maximum allowed number of output tokens for {id}"
        ));
    }
    let thinking = &body["thinking"];
    let unsupported = |kind: &str| Err(format!("thinking: `{kind}` is not supported on {}", model.id));
    match thinking["type"].as_str() {
        None if thinking.is_null() => {}
        Some("adaptive") if model.adaptive => {}
        Some("between_tools") if model.adaptive => {}
        Some("disabled") => {}
        Some("enabled") if !model.adaptive => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            if budget < 1024 || budget >= max_tokens {
                return Err(
                    "thinking.budget_tokens: must be at least 1024 and less than max_tokens".to_owned()
                );
            }
        }
        Some(kind) => return unsupported(kind),
        None => return Err("thinking.type: Field required".to_owned()),
    }
    let tokens = body.to_string().len() as u64 / 4;
    if tokens > model.context {
        return Err(format!("prompt is too long: {tokens} tokens > {} maximum", model.context));
    }
    Ok(())
}

/// A string or a list of text blocks.
fn system(system: &Value) -> Result<(), String> {
    match system {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, block)| {
            let at = format!("system.{index}");
            match block["type"].as_str() {
                Some("text") => blocks::text(block, &at),
                _ => Err(format!("{at}.type: must be `text`")),
            }
        }),
        _ => Err("system: must be a string or a list of text blocks".to_owned()),
    }
}

/// Marks on blocks and tools, and the one at the top; a tool's input may use the word for itself.
fn cache_marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(cache_marks).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "cache_control" => usize::from(!value.is_null()),
                "input" | "input_schema" => 0,
                _ => cache_marks(value),
            })
            .sum(),
        _ => 0,
    }
}
