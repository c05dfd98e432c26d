//! The Messages API's own forms: the one file that knows them. Unknown events and fields are ignored.

use crate::conversation::{Block, Message, ResultPart, Role};
use crate::neutral::tags_shown;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The version of the API that this file speaks.
pub const API_VERSION: &str = "2023-06-01";

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of its input.
    pub input_schema: Value,
}

/// One request for a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageRequest<'a> {
    /// The model.
    pub model: &'a str,
    /// The most tokens that the answer may have.
    pub max_tokens: u64,
    /// The system prompt.
    pub system: &'a str,
    /// The tools, in an order that never changes within a session.
    pub tools: &'a [ToolSpec],
    /// The conversation.
    pub messages: &'a [Message],
    /// Ask for thinking that is shown, where the model thinks when it wants to.
    pub adaptive_thinking: bool,
}

impl MessageRequest<'_> {
    /// The request's body.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "model": self.model,
            "max_tokens": self.max_tokens,
            "stream": true,
            // The API puts the cache's breakpoint at the last block, and moves it as the conversation grows.
            "cache_control": {"type": "ephemeral"},
            "system": [{"type": "text", "text": tags_shown(self.system)}],
            "messages": self.messages.iter().map(message).collect::<Vec<_>>(),
        });
        if !self.tools.is_empty() {
            body["tools"] = json!(self.tools);
        }
        if self.adaptive_thinking {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
        }
        body
    }
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    json!({"role": role, "content": message.content.iter().map(|each| block(each, message.role)).collect::<Vec<_>>()})
}

fn block(block: &Block, role: Role) -> Value {
    match block {
        // What comes from elsewhere, be it a file, a program or a web page. The model's own words go back unchanged.
        Block::Text { text } if role == Role::User => json!({"type": "text", "text": tags_shown(text)}),
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::Thinking { thinking, signature } => {
            json!({"type": "thinking", "thinking": thinking, "signature": signature})
        }
        Block::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
        Block::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            let content: Vec<_> = content.iter().filter(|part| !part.is_blank()).map(result_part).collect();
            json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error})
        }
        Block::Other(value) => value.clone(),
    }
}

fn result_part(part: &ResultPart) -> Value {
    match part {
        ResultPart::Text { text } => json!({"type": "text", "text": tags_shown(text)}),
        ResultPart::Image { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
    }
}

/// An event of the stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    MessageStart {
        message: MessageStart,
    },
    ContentBlockStart {
        index: usize,
        content_block: Value,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: MessageEnd,
        usage: Option<WireUsage>,
    },
    MessageStop,
    Error,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageStart {
    #[serde(default)]
    pub(super) usage: WireUsage,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the API's own names")]
pub(super) enum Delta {
    TextDelta {
        text: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    /// `citations_delta` and whatever comes later.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct MessageEnd {
    pub(super) stop_reason: Option<String>,
}

/// Token counts. In `message_delta` they are cumulative, and those that are left out have not changed.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
}

/// `GET /v1/models/{id}`.
#[derive(Debug, Deserialize)]
pub(super) struct WireModel {
    pub(super) max_input_tokens: Option<u64>,
    pub(super) max_tokens: Option<u64>,
    #[serde(default)]
    pub(super) capabilities: Value,
}
