//! A plugin that tries everything: each tool makes one move, and answers with what came of it.

mod faults;
mod reaches;

wit_bindgen::generate!({ path: "../../../wit/v0.1", world: "plugin-with-commands" });

use airlock::plugin::types::{Content, ToolError};
use exports::airlock::plugin::{commands, tools};
use serde_json::{Value, json};

struct Probe;

type Answer = Result<Value, ToolError>;

/// Each tool's name, and what a call does. One that is not here but begins with `echo` echoes.
const TOOLS: [(&str, fn(&Value) -> Answer); 34] = [
    ("echo", reaches::echo),
    ("config", reaches::config),
    ("progress", reaches::progress),
    ("log", reaches::log),
    ("read", reaches::read),
    ("glob", reaches::glob),
    ("grep", reaches::grep),
    ("propose", reaches::propose),
    ("editor", reaches::editor),
    ("exec", reaches::exec),
    ("http", reaches::http),
    ("kv_set", reaches::kv_set),
    ("kv_get", reaches::kv_get),
    ("kv_delete", reaches::kv_delete),
    ("kv_list", reaches::kv_list),
    ("everything", reaches::everything),
    ("files", reaches::files),
    ("sockets", reaches::sockets),
    ("until_cancelled", faults::until_cancelled),
    ("sleep", faults::sleep),
    ("endless", faults::endless),
    ("endless_calls", faults::endless_calls),
    ("memory_bomb", faults::memory_bomb),
    ("recursion", faults::recursion),
    ("panic", faults::panic),
    ("exit", faults::exit),
    ("flood", faults::flood),
    ("long_answer", faults::long_answer),
    ("garbage", faults::garbage),
    ("error", faults::error),
    ("string_of_1_gb", faults::string_of_1_gb),
    ("many_strings", faults::many_strings),
    ("random", faults::random),
    ("many_handles", faults::many_handles),
];

impl tools::Guest for Probe {
    fn list_tools() -> Vec<tools::Tool> {
        let names = TOOLS.iter().map(|(name, _)| *name);
        names
            .map(|name| tools::Tool {
                name: name.to_owned(),
                description: format!("Tries {name}"),
                input_schema: json!({"type": "object"}).to_string(),
                effects: vec!["read".to_owned()],
            })
            .collect()
    }

    fn call_tool(name: String, args: String) -> Result<Vec<Content>, ToolError> {
        let args: Value = serde_json::from_str(&args).map_err(|error| wrong(&error.to_string()))?;
        if name == "garbage" {
            return Ok(vec![Content::Json("{not json".to_owned())]);
        }
        let tool = TOOLS.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool);
        let tool = tool.or_else(|| name.starts_with("echo").then_some(reaches::echo as _));
        let answer = tool.ok_or_else(|| wrong(&format!("there is no tool {name}")))?(&args)?;
        Ok(vec![match answer {
            Value::String(text) => Content::Text(text),
            other => Content::Json(other.to_string()),
        }])
    }
}

impl commands::Guest for Probe {
    fn list_commands() -> Vec<commands::Command> {
        vec![commands::Command {
            name: "probe".to_owned(),
            description: "Asks for a probe".to_owned(),
            hint: "[of what]".to_owned(),
        }]
    }

    fn expand(name: String, arguments: String) -> Result<String, ToolError> {
        match arguments.as_str() {
            "panic" => panic!("{name} panics"),
            "propose" | "propose silently" => {
                airlock::plugin::workspace::propose_edit("of-command.txt", b"new\n")?;
                let words = if arguments == "propose" { "Look at it." } else { "" };
                Ok(words.to_owned())
            }
            _ => Ok(format!("Take a probe of {arguments}.")),
        }
    }
}

/// An error of the plugin's own.
fn wrong(message: &str) -> ToolError {
    ToolError { code: "wrong".to_owned(), message: message.to_owned(), retryable: false }
}

/// A text field of the arguments; empty when it is not there.
fn text<'a>(args: &'a Value, name: &str) -> &'a str {
    args[name].as_str().unwrap_or_default()
}

export!(Probe);
