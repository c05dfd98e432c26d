//! A reply as one message, for clients that do not stream, and what it holds.

use super::reply::{Reply, Step};
use serde_json::{Map, Value, json};

impl Reply {
    /// The message that the stream's events add up to.
    pub(super) fn message(&self, model: &str, id: &str) -> Value {
        json!({
            "model": model, "id": id, "type": "message", "role": "assistant", "content": self.content(),
            "stop_reason": self.stop_reason(), "stop_sequence": null, "stop_details": null,
            "usage": self.usage.of_message(),
        })
    }

    /// Its blocks: the assistant message that a client sends back.
    pub fn content(&self) -> Vec<Value> {
        let mut blocks: Vec<Value> = Vec::new();
        let mut json_text = String::new();
        for step in &self.steps {
            match step {
                Step::Text(pieces) => blocks.push(json!({"type": "text", "text": pieces.concat()})),
                Step::Thinking { text, signature } => {
                    blocks.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
                }
                Step::RedactedThinking(data) => {
                    blocks.push(json!({"type": "redacted_thinking", "data": data}));
                }
                Step::ToolUse { id, name, json } => {
                    json_text = json.concat();
                    let input = parse_input(&json_text);
                    blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                }
                Step::More(piece) => {
                    let block = blocks.last_mut().expect("a block to add to");
                    match block["type"].as_str() {
                        Some("tool_use") => {
                            json_text.push_str(piece);
                            block["input"] = parse_input(&json_text);
                        }
                        Some("thinking") => append(block, "thinking", piece),
                        _ => append(block, "text", piece),
                    }
                }
                _ => {}
            }
        }
        blocks
    }
}

fn append(block: &mut Value, field: &str, piece: &str) {
    let text = block[field].as_str().unwrap_or_default().to_owned() + piece;
    block[field] = text.into();
}

/// The input so far; an unfinished one is empty, as it is for a client.
fn parse_input(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::Object(Map::new()))
}
