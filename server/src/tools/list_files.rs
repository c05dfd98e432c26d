//! `list_files`: the files there are.

use super::sandboxed::{ask, parse, path, unexpected};
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use crate::limits::{TOOL_LIST_DEPTH, TOOL_LIST_DEPTH_MAX, TOOL_LIST_ENTRIES_MAX};
use airlock_guest::{Answer, Call, List};
use futures::future::BoxFuture;
use serde::Deserialize;
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
                    "depth": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": TOOL_LIST_DEPTH_MAX,
                        "description": format!("How deep; {TOOL_LIST_DEPTH} if left out")
                    }
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

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    path: String,
    #[serde(default = "default_depth")]
    depth: usize,
}

fn default_depth() -> usize {
    TOOL_LIST_DEPTH
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { path: untrusted_path, depth } = parse(input)?;
    let list = List { path: path(&untrusted_path)?, depth, entries_max: TOOL_LIST_ENTRIES_MAX };
    match ask(context, &Call::List(list), None).await? {
        Answer::Lines { text, .. } if text.is_empty() => Ok(ToolOutcome::text("there are no files")),
        Answer::Lines { text, cut: false } => Ok(ToolOutcome::text(text)),
        Answer::Lines { text, cut: true } => Ok(ToolOutcome::text(format!(
            "{text}[only the first {TOOL_LIST_ENTRIES_MAX} are listed: name a folder for more]"
        ))),
        other => Err(unexpected(&other)),
    }
}
