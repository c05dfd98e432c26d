//! The list of messages: who speaks when, and that each tool call has its result.
//!
//! The API joins messages of the same role that follow each other; the rules hold for what comes out.

use super::blocks;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Messages of one role, joined.
struct Speech {
    role: String,
    /// Index of the first message, for error messages.
    first: usize,
    blocks: Vec<Value>,
}

pub(super) fn check(
    messages: &Value,
    thinking: &HashMap<String, String>,
    after_pause: bool,
) -> Result<(), String> {
    let messages = messages.as_array().ok_or("messages: Field required")?;
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    let speeches = join(messages, thinking)?;
    if speeches[0].role != "user" {
        return Err("messages: first message must use the \"user\" role".to_owned());
    }
    let last = &speeches[speeches.len() - 1];
    if last.role == "assistant" && !after_pause {
        return Err("messages: this model does not support assistant message prefill; \
                    the conversation must end with a user message"
            .to_owned());
    }
    let mut ids = HashSet::new();
    let mut before: Option<&Speech> = None;
    for speech in &speeches {
        for id in calls(speech) {
            if !ids.insert(id) {
                return Err(format!("messages.{}: `tool_use` ids must be unique ({id})", speech.first));
            }
        }
        let last = speech.blocks.last().map_or(&Value::Null, |block| &block["type"]);
        if speech.role == "assistant" && !after_pause && (last == "thinking" || last == "redacted_thinking") {
            return Err(format!(
                "messages.{}: The final block in an assistant message cannot be `thinking`.",
                speech.first
            ));
        }
        results_answer_calls(before, speech)?;
        before = Some(speech);
    }
    match calls(last).next() {
        Some(id) => Err(unanswered(last, id)),
        None => Ok(()),
    }
}

/// Checks each message by itself and joins neighbours of one role.
fn join(messages: &[Value], thinking: &HashMap<String, String>) -> Result<Vec<Speech>, String> {
    let mut speeches: Vec<Speech> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages.{index}");
        blocks::only_fields(message, &at, &["role", "content"])?;
        let role = match message["role"].as_str() {
            Some(role @ ("user" | "assistant")) => role,
            _ => return Err(format!("{at}.role: Input should be 'user' or 'assistant'")),
        };
        let content = match &message["content"] {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            _ => return Err(format!("{at}.content: Field required")),
        };
        if content.is_empty() {
            return Err(format!("{at}: all messages must have non-empty content"));
        }
        for (number, block) in content.iter().enumerate() {
            blocks::check(block, role, &format!("{at}.content.{number}"), thinking)?;
        }
        match speeches.last_mut() {
            Some(speech) if speech.role == role => speech.blocks.extend(content),
            _ => speeches.push(Speech { role: role.to_owned(), first: index, blocks: content }),
        }
    }
    Ok(speeches)
}

/// The results stand at the beginning, and they are exactly those of the calls before.
fn results_answer_calls(before: Option<&Speech>, speech: &Speech) -> Result<(), String> {
    if speech.role != "user" {
        return Ok(());
    }
    let is_result = |block: &Value| block["type"] == "tool_result";
    let leading = speech.blocks.iter().take_while(|block| is_result(block)).count();
    let mut open: Vec<&str> = before.into_iter().flat_map(calls).collect();
    for (number, block) in speech.blocks.iter().enumerate().filter(|(_, block)| is_result(block)) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let at = format!("messages.{}.content.{number}", speech.first);
        match open.iter().position(|call| *call == id) {
            None => {
                return Err(format!(
                    "{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                     Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                ));
            }
            Some(_) if number >= leading => {
                return Err(format!("{at}: `tool_result` blocks must come first in the user message"));
            }
            Some(index) => drop(open.remove(index)),
        }
    }
    match (before, open.first()) {
        (Some(before), Some(id)) => Err(unanswered(before, id)),
        _ => Ok(()),
    }
}

fn calls(speech: &Speech) -> impl Iterator<Item = &str> {
    let of_call = |block: &'_ &Value| block["type"] == "tool_use";
    speech.blocks.iter().filter(of_call).filter_map(|block| block["id"].as_str())
}

fn unanswered(speech: &Speech, id: &str) -> String {
    format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}",
        speech.first
    )
}
