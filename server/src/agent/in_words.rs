//! What a tool is given, as people read it: every value whole, and none of JSON's marks.

use serde_json::Value;
use std::fmt::Write as _;

/// Each field in a line of its own; a value of several lines stands beneath its name.
pub(super) fn in_words(input: &Value) -> String {
    let mut words = String::new();
    write(input, 0, &mut words);
    words.trim_end().to_owned()
}

fn write(value: &Value, depth: usize, words: &mut String) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| named(name, value, depth, words)),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                named(&(index + 1).to_string(), value, depth, words);
            }
        }
        other => words.push_str(&text(other)),
    }
}

fn named(name: &str, value: &Value, depth: usize, words: &mut String) {
    let indent = "  ".repeat(depth);
    let text = match value {
        Value::Object(_) | Value::Array(_) => {
            let _ = writeln!(words, "{indent}{name}:");
            return write(value, depth + 1, words);
        }
        other => text(other),
    };
    // Writing to a string cannot fail.
    let _ = if text.contains('\n') {
        let inner: String = text.lines().map(|line| format!("{indent}  {line}\n")).collect();
        write!(words, "{indent}{name}:\n{inner}")
    } else {
        writeln!(words, "{indent}{name}: {text}")
    };
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;
    use serde_json::json;

    #[test]
    fn every_value_is_there_whole_and_without_marks() {
        let input = json!({
            "path": "a.rs",
            "edits": [{"old": "x", "new": "y\n  \"z\""}],
            "timeout_s": 3,
            "background": true,
        });
        let words = "path: a.rs\nedits:\n  1:\n    old: x\n    new:\n      y\n        \"z\"\ntimeout_s: 3\nbackground: true";
        assert_eq!(in_words(&input), words);
        assert_eq!(in_words(&json!("bare")), "bare");
        assert_eq!(in_words(&json!({})), "");
    }
}
