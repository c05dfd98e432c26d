//! `search_files`: text that matches.

use super::{Tool, ToolContext, ToolOutcome, field, without_sandbox};
use crate::claude::ToolSpec;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(super) struct SearchFiles;

impl Tool for SearchFiles {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "search_files".to_owned(),
            description: "Searches the files of the workspace with a regular expression. Ignored and binary files are left out."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "minLength": 1, "description": "Regular expression"},
                    "path": {"type": "string", "description": "Folder or file relative to the workspace; all of it if left out"},
                    "glob": {"type": "string", "description": "Only files whose path matches, such as **/*.rs"},
                    "context_lines": {"type": "integer", "minimum": 0, "maximum": 20, "description": "Lines around each match"}
                },
                "required": ["pattern"],
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("Search {}", field(input, "pattern"))
    }

    fn run(&self, _input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        without_sandbox(&context)
    }
}
