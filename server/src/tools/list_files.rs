//! `list_files`: the files there are.

use super::{Tool, ToolContext, ToolOutcome, field, without_sandbox};
use crate::claude::ToolSpec;
use futures::future::BoxFuture;
use serde_json::{Value, json};

pub(super) struct ListFiles;

impl Tool for ListFiles {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_files".to_owned(),
            description: "Lists the files of the workspace as a tree. Ignored files are left out.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Folder relative to the workspace; all of it if left out"},
                    "depth": {"type": "integer", "minimum": 1, "maximum": 32, "description": "How deep; 4 if left out"}
                },
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("List {}", Some(field(input, "path")).filter(|path| !path.is_empty()).unwrap_or("files"))
    }

    fn run(&self, _input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        without_sandbox(&context)
    }
}
