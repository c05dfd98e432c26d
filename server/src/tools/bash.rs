//! `bash`: a command in the sandbox.

use super::{Tool, ToolContext, ToolOutcome, field, without_sandbox};
use crate::claude::ToolSpec;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(super) struct Bash;

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash".to_owned(),
            description: "Runs a command with bash in the sandbox, in the workspace. Directory and environment are kept between \
                 calls. There is no network. Long output is cut in the middle."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "minLength": 1, "description": "The command"},
                    "timeout_s": {"type": "integer", "minimum": 1, "maximum": 3600, "description": "Seconds until it is ended; 120 if left out"},
                    "background": {"type": "boolean", "description": "Leave it running and return at once"}
                },
                "required": ["command"],
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn title(&self, input: &Value) -> String {
        format!("$ {}", field(input, "command"))
    }

    fn run(&self, _input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        without_sandbox(&context)
    }
}
