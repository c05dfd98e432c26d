//! `read_file`: a file, or a range of its lines.

use super::{Tool, ToolContext, ToolOutcome, field, without_sandbox};
use crate::claude::ToolSpec;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(super) struct ReadFile;

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: "Reads a file of the workspace, with line numbers. Images come as images."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Path relative to the workspace"},
                    "first_line": {"type": "integer", "minimum": 1, "description": "Where to begin; 1 if left out"},
                    "lines": {"type": "integer", "minimum": 1, "description": "How many lines; 2000 if left out"}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("Read {}", field(input, "path"))
    }

    fn run(&self, _input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        without_sandbox(&context)
    }
}
