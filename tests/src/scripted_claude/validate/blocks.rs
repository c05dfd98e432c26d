//! The form of one content block.

use serde_json::Value;
use std::collections::HashMap;

/// Checks a block of a message.
pub(super) fn check(
    block: &Value,
    role: &str,
    at: &str,
    thinking: &HashMap<String, String>,
) -> Result<(), String> {
    let kind = block["type"].as_str().ok_or_else(|| format!("{at}.type: Field required"))?;
    match (kind, role) {
        ("text", _) => text(block, at),
        ("image" | "document", "user") => {
            only_fields(block, at, &["type", "source", "title", "context", "citations", "cache_control"])?;
            object(block, "source", at)
        }
        ("tool_result", "user") => tool_result(block, at, thinking),
        ("tool_use", "assistant") => tool_use(block, at),
        ("thinking", "assistant") => thought(block, at, thinking),
        ("redacted_thinking", "assistant") => {
            only_fields(block, at, &["type", "data"])?;
            string(block, "data", at).map(drop)
        }
        ("image" | "document" | "tool_result" | "tool_use" | "thinking" | "redacted_thinking", _) => {
            Err(format!("{at}: `{kind}` blocks are not permitted in {role} messages"))
        }
        _ => Err(format!("{at}: Input tag '{kind}' does not match any of the expected tags")),
    }
}

/// A text block; the API takes none without a visible character.
pub(super) fn text(block: &Value, at: &str) -> Result<(), String> {
    only_fields(block, at, &["type", "text", "citations", "cache_control"])?;
    match block["text"].as_str() {
        None => Err(format!("{at}.text: Field required")),
        Some("") => Err(format!("{at}.text: text content blocks must be non-empty")),
        Some(text) if text.trim().is_empty() => {
            Err(format!("{at}.text: text content blocks must contain non-whitespace text"))
        }
        Some(_) => Ok(()),
    }
}

fn tool_use(block: &Value, at: &str) -> Result<(), String> {
    only_fields(block, at, &["type", "id", "name", "input", "caller", "cache_control"])?;
    let id = string(block, "id", at)?;
    if !super::tools::is_name(id, usize::MAX) {
        return Err(format!("{at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    string(block, "name", at)?;
    object(block, "input", at)
}

fn tool_result(block: &Value, at: &str, thinking: &HashMap<String, String>) -> Result<(), String> {
    only_fields(block, at, &["type", "tool_use_id", "content", "is_error", "cache_control"])?;
    string(block, "tool_use_id", at)?;
    if !matches!(block["is_error"], Value::Null | Value::Bool(_)) {
        return Err(format!("{at}.is_error: must be a boolean"));
    }
    match &block["content"] {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            let at = format!("{at}.content.{index}");
            match item["type"].as_str() {
                Some("text" | "image" | "document") => check(item, "user", &at, thinking),
                _ => Err(format!("{at}.type: not permitted in a tool result")),
            }
        }),
        _ => Err(format!("{at}.content: must be a string or a list of blocks")),
    }
}

/// Thinking comes back with its signature and as it was sent. A signature from elsewhere is believed.
fn thought(block: &Value, at: &str, sent: &HashMap<String, String>) -> Result<(), String> {
    only_fields(block, at, &["type", "thinking", "signature"])?;
    let signature = string(block, "signature", at)?;
    let text = block["thinking"].as_str().ok_or_else(|| format!("{at}.thinking: Field required"))?;
    match sent.get(signature) {
        Some(original) if original != text => {
            Err(format!("{at}: `thinking` blocks cannot be modified: they must remain as they were"))
        }
        _ => Ok(()),
    }
}

/// The API takes no field that it does not know.
pub(super) fn only_fields(value: &Value, at: &str, known: &[&str]) -> Result<(), String> {
    let fields = value.as_object().ok_or_else(|| format!("{at}: must be an object"))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{at}.{name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// A string that is not empty.
pub(super) fn string<'a>(value: &'a Value, field: &str, at: &str) -> Result<&'a str, String> {
    match value[field].as_str() {
        None | Some("") => Err(format!("{at}.{field}: Field required")),
        Some(text) => Ok(text),
    }
}

fn object(value: &Value, field: &str, at: &str) -> Result<(), String> {
    match value[field] {
        Value::Object(_) => Ok(()),
        _ => Err(format!("{at}.{field}: Input should be a valid dictionary")),
    }
}
