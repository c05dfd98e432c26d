//! `write_file`: a whole file, written anew.

use super::{Tool, ToolContext, ToolOutcome, field, without_sandbox};
use crate::claude::ToolSpec;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(super) struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description: "Writes a whole file of the workspace, and makes the folders above it. What was there is replaced."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Path relative to the workspace"},
                    "content": {"type": "string", "description": "The whole new content"}
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn title(&self, input: &Value) -> String {
        format!("Write {}", field(input, "path"))
    }

    fn run(&self, _input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        without_sandbox(&context)
    }
}
