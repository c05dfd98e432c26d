//! A case of `airlock plugin test`: a call, the world that it happens in, and what must come of it.

use super::expectation::Expectation;
use crate::plugins::Rehearsal;
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows.
    pub(super) name: String,
    /// The tool that is called…
    tool: Option<String>,
    /// …or the command that is expanded.
    command: Option<String>,
    /// An object for a tool; for a command what is typed after it.
    #[serde(default)]
    arguments: Value,
    /// The world around the call.
    #[serde(default)]
    pub(super) host: Rehearsal,
    /// What must come of it.
    pub(super) expect: Expectation,
}

/// What is called.
#[derive(Debug, PartialEq)]
pub(super) enum Call<'c> {
    Tool { name: &'c str, arguments: Value },
    Command { name: &'c str, arguments: &'c str },
}

/// The cases of a file: a list of them, or one alone.
pub(super) fn parse(file: &Path, text: &str) -> anyhow::Result<Vec<Case>> {
    let wrong = || format!("{} holds no cases", file.display());
    let value: Value = serde_json::from_str(text).with_context(wrong)?;
    let values = if let Value::Array(values) = value { values } else { vec![value] };
    let mut cases = Vec::new();
    for (number, value) in (1..).zip(values) {
        let named =
            value["name"].as_str().map_or_else(|| format!("case {number}"), |name| format!("{name:?}"));
        let case: Case =
            serde_json::from_value(value).with_context(|| format!("{}: {named}", file.display()))?;
        case.call().with_context(|| format!("{}: {named}", file.display()))?;
        cases.push(case);
    }
    Ok(cases)
}

impl Case {
    /// What it calls.
    pub(super) fn call(&self) -> anyhow::Result<Call<'_>> {
        match (&self.tool, &self.command, &self.arguments) {
            (Some(name), None, Value::Null) => {
                Ok(Call::Tool { name, arguments: Value::Object(Default::default()) })
            }
            (Some(name), None, arguments @ Value::Object(_)) => {
                Ok(Call::Tool { name, arguments: arguments.clone() })
            }
            (None, Some(name), Value::Null) => Ok(Call::Command { name, arguments: "" }),
            (None, Some(name), Value::String(arguments)) => Ok(Call::Command { name, arguments }),
            (Some(_), None, _) => bail!("the arguments of a tool are an object"),
            (None, Some(_), _) => bail!("the arguments of a command are a string"),
            _ => bail!("give it one of \"tool\" and \"command\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<usize, String> {
        parse(Path::new("a.json"), text).map(|cases| cases.len()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_file_holds_one_case_or_many() {
        let case = r#"{"name": "n", "tool": "t", "arguments": {"a": 1}, "expect": {"json": 1}}"#;
        assert_eq!(parsed(case), Ok(1));
        assert_eq!(parsed(&format!("[{case}, {case}]")), Ok(2));
    }

    #[test]
    fn what_is_mistyped_is_said_with_its_place() {
        for (text, words) in [
            ("nonsense", "a.json holds no cases"),
            (r#"{"name": "n", "tool": "t", "expekt": {}}"#, "\"n\": unknown field `expekt`"),
            (r#"[{"tool": "t", "expect": {"json": 1}}]"#, "case 1: missing field `name`"),
            (r#"{"name": "n", "expect": {"json": 1}}"#, "one of \"tool\" and \"command\""),
            (r#"{"name": "n", "tool": "t", "arguments": "x", "expect": {"json": 1}}"#, "are an object"),
            (r#"{"name": "n", "tool": "t", "expect": {}}"#, "expects nothing"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
