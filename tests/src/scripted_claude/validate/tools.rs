//! The list of tools. One bad schema fails the whole request.

use super::blocks::{only_fields, string};
use serde_json::Value;

const FIELDS: [&str; 10] = [
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "input_examples",
    "input_schema",
    "name",
    "strict",
    "type",
];

pub(super) fn check(tools: &Value) -> Result<(), String> {
    let tools = match tools {
        Value::Null => return Ok(()),
        Value::Array(tools) => tools,
        _ => return Err("tools: must be a list".to_owned()),
    };
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools.{index}");
        only_fields(tool, &at, &FIELDS)?;
        let name = string(tool, "name", &at)?;
        if !is_name(name, 128) {
            return Err(format!("{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"));
        }
        if names.contains(&name) {
            return Err(format!("tools: Tool names must be unique ({name})"));
        }
        names.push(name);
        schema(&tool["input_schema"], &format!("{at}.input_schema"))?;
    }
    Ok(())
}

fn schema(schema: &Value, at: &str) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err(format!("{at}.type: Field required, and must be `object`"));
    }
    match ["oneOf", "anyOf", "allOf"].iter().find(|word| schema.get(word).is_some()) {
        Some(word) => Err(format!("{at}: input_schema does not support {word} at the top level")),
        None => Ok(()),
    }
}

/// `^[a-zA-Z0-9_-]{1,longest}$`
pub(super) fn is_name(name: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=longest).contains(&name.len()) && name.bytes().all(allowed)
}
