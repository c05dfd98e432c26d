//! A plugin as the host calls it.
#![cfg(target_family = "wasm")]

use crate::bindings::commands_world::exports::airlock::plugin::commands as commands_export;
use crate::bindings::tools_world::airlock::plugin::types::{self, ToolError};
use crate::bindings::tools_world::exports::airlock::plugin::tools as tools_export;
use crate::error::{Error, Kind};
use crate::plugin::{Content, Plugin};

impl<P: Plugin> tools_export::Guest for P {
    fn list_tools() -> Vec<tools_export::Tool> {
        let tool = |tool: &crate::plugin::ToolEntry| tools_export::Tool {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: (tool.schema)(),
            effects: tool.effects.iter().map(|&effect| effect.to_owned()).collect(),
        };
        P::TOOLS.iter().map(tool).collect()
    }

    fn call_tool(name: String, args: String) -> Result<Vec<types::Content>, ToolError> {
        let Some(tool) = P::TOOLS.iter().find(|tool| tool.name == name) else {
            return Err(no_such("tool", &name).into());
        };
        match (tool.call)(&args)? {
            Content::Text(text) => Ok(vec![types::Content::Text(text)]),
            Content::Json(json) => Ok(vec![types::Content::Json(json)]),
        }
    }
}

impl<P: Plugin> commands_export::Guest for P {
    fn list_commands() -> Vec<commands_export::Command> {
        let command = |command: &crate::plugin::CommandEntry| commands_export::Command {
            name: command.name.to_owned(),
            description: command.description.to_owned(),
            hint: command.hint.to_owned(),
        };
        P::COMMANDS.iter().map(command).collect()
    }

    fn expand(name: String, arguments: String) -> Result<String, ToolError> {
        let Some(command) = P::COMMANDS.iter().find(|command| command.name == name) else {
            return Err(no_such("command", &name).into());
        };
        Ok((command.expand)(&arguments)?)
    }
}

fn no_such(what: &str, name: &str) -> Error {
    Error::new(Kind::NotFound, format!("the plugin has no {what} {name}"))
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        Self {
            code: error.kind().code().to_owned(),
            retryable: error.is_retryable(),
            message: error.message().to_owned(),
        }
    }
}
