//! A conversation's messages, as the core and the history know them. The Messages API's own form is in
//! [`crate::claude::wire`].

use crate::limits::BYTES_PER_TOKEN;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the tools that answer on the user's side.
    User,
    /// The model.
    Assistant,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<Block>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's thinking. It goes back unchanged, with its signature.
    Thinking {
        /// The text; may be empty.
        thinking: String,
        /// The API's seal.
        signature: String,
    },
    /// Thinking that the API keeps to itself.
    RedactedThinking {
        /// Opaque.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// The API's id of the call.
        id: String,
        /// The tool.
        name: String,
        /// What the tool is given: always an object.
        input: Value,
    },
    /// A tool's answer.
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// The answer.
        content: Vec<ResultPart>,
        /// Whether it is an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// A kind of block that this version does not know; kept as it came.
    #[serde(untagged)]
    Other(Value),
}

/// One part of a tool's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// Base64.
        data: String,
    },
}

impl Message {
    /// A user's message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![Block::text(text)] }
    }

    /// A model's message.
    pub fn assistant(content: Vec<Block>) -> Self {
        Self { role: Role::Assistant, content }
    }

    /// All text of the message.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The ids of the tool calls that the message makes.
    pub fn tool_use_ids(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str()),
            _ => None,
        })
    }

    /// How many tokens the message is, roughly: used only until the API tells the true number.
    pub fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(|block| block.weight_bytes() as u64 / BYTES_PER_TOKEN + 4).sum()
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether the API would refuse the block for saying nothing.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Text { text } if text.trim().is_empty())
    }

    /// Whether it is the model's thinking.
    pub fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }

    fn weight_bytes(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Self::RedactedThinking { data } => data.len(),
            Self::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
            Self::ToolResult { content, .. } => content.iter().map(ResultPart::weight_bytes).sum(),
            Self::Other(value) => value.to_string().len(),
        }
    }
}

impl ResultPart {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Whether the API would refuse the part for saying nothing.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Text { text } if text.trim().is_empty())
    }

    fn weight_bytes(&self) -> usize {
        // An image costs about as many tokens whatever its size in bytes.
        const IMAGE_BYTES: usize = 4800;
        match self {
            Self::Text { text } => text.len(),
            Self::Image { .. } => IMAGE_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn every_kind_of_block_survives_the_history_unknown_ones_too() {
        let lines = [
            json!({"type": "text", "text": "hi"}),
            json!({"type": "thinking", "thinking": "", "signature": "s"}),
            json!({"type": "redacted_thinking", "data": "d"}),
            json!({"type": "tool_use", "id": "1", "name": "bash", "input": {"z": 1, "a": 2}}),
            json!({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}], "is_error": true}),
            json!({"type": "hologram", "depth": 3}),
        ];
        for line in lines {
            let block: Block = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(serde_json::to_string(&block).unwrap(), line.to_string());
        }
    }
}
