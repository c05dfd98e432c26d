//! What the scripted Claude was sent, and the law of a conversation: it only grows.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// One `POST /v1/messages`.
#[derive(Clone, Debug)]
pub struct Received {
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The parsed body; null when it was no JSON.
    pub body: Value,
    /// When it was there in whole.
    pub at: Instant,
    /// The status that it was answered with.
    pub status: u16,
}

impl Received {
    /// Its messages.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Every string in the last user message, tool results and their ids too.
    pub fn last_user_text(&self) -> String {
        let of_user = |message: &&Value| message["role"] == "user";
        strings(self.messages().iter().rfind(of_user).unwrap_or(&Value::Null))
    }

    /// Every string in the first message, by which a test knows its session.
    pub fn first_user_text(&self) -> String {
        strings(self.messages().first().unwrap_or(&Value::Null))
    }
}

/// All strings in a value, one a line.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone() + "\n",
        Value::Array(items) => items.iter().map(strings).collect(),
        Value::Object(fields) => fields.values().map(strings).collect(),
        _ => String::new(),
    }
}

/// Panics unless these requests of one session append only: the same system prompt and tools, and each list of
/// messages the beginning of the next. Cache marks may move, and a string equals its one text block.
pub fn assert_append_only(requests: &[Received]) {
    for (number, pair) in requests.windows(2).enumerate() {
        let (before, after) = (&pair[0].body, &pair[1].body);
        let from_to = format!("from request {number} to {}", number + 1);
        for field in ["system", "tools"] {
            let (old, new) = (plain(&before[field]), plain(&after[field]));
            assert!(old == new, "`{field}` changed {from_to}:\n{old:#}\nbecame\n{new:#}");
        }
        if let Err(why) = extends(pair[0].messages(), pair[1].messages()) {
            panic!("{why}, {from_to}");
        }
    }
}

/// Whether a conversation begins with all of an earlier one; an error says where it does not.
pub fn extends(before: &[Value], after: &[Value]) -> Result<(), String> {
    if after.len() < before.len() {
        return Err(format!("messages went: there were {}, then {}", before.len(), after.len()));
    }
    for (index, (old, new)) in before.iter().zip(after).enumerate() {
        let (old, new) = (plain(old), plain(new));
        if old != new {
            return Err(format!("message {index} was rewritten:\n{old:#}\nbecame\n{new:#}"));
        }
    }
    Ok(())
}

/// A value without cache marks, and with content in its long form.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .filter(|(name, _)| *name != "cache_control")
                .map(|(name, value)| match value {
                    Value::String(text) if name == "content" => {
                        (name.clone(), json!([{"type": "text", "text": text}]))
                    }
                    value => (name.clone(), plain(value)),
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(body: Value) -> Received {
        Received { headers: BTreeMap::new(), body, at: Instant::now(), status: 200 }
    }

    #[test]
    fn a_conversation_that_grows_is_append_only_wherever_its_cache_marks_are() {
        let mark = json!({"type": "ephemeral"});
        let first = json!([{"type": "text", "text": "a", "cache_control": mark}]);
        assert_append_only(&[
            received(json!({"messages": [{"role": "user", "content": first}]})),
            received(
                json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}),
            ),
        ]);
    }

    #[test]
    #[should_panic = "message 0 was rewritten"]
    fn a_rewritten_message_is_seen() {
        assert_append_only(&[
            received(json!({"messages": [{"role": "user", "content": "a"}]})),
            received(json!({"messages": [{"role": "user", "content": "b"}]})),
        ]);
    }

    #[test]
    #[should_panic = "`tools` changed"]
    fn a_changed_tool_is_seen() {
        assert_append_only(&[
            received(json!({"tools": [{"name": "a"}], "messages": []})),
            received(json!({"tools": [{"name": "b"}], "messages": []})),
        ]);
    }

    #[test]
    fn a_session_is_known_by_any_string_of_its_last_user_message() {
        let result = json!([{"type": "tool_result", "tool_use_id": "toolu_7", "content": "done"}]);
        let request = received(json!({"messages": [
            {"role": "user", "content": "alpha"},
            {"role": "assistant", "content": "toolu"},
            {"role": "user", "content": result},
        ]}));
        assert!(request.last_user_text().contains("toolu_7"));
        assert!(!request.last_user_text().contains("alpha"));
        assert!(request.first_user_text().contains("alpha"));
    }
}
