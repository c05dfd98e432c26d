//! `search_files`: text that matches.

use super::sandboxed::{ask, parse, path, unexpected};
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use crate::limits::{TOOL_SEARCH_CONTEXT_LINES_MAX, TOOL_SEARCH_MATCHES_MAX};
use airlock_guest::{Answer, Call, Search};
use futures::future::BoxFuture;
use serde::Deserialize;
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
                    "context_lines": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": TOOL_SEARCH_CONTEXT_LINES_MAX,
                        "description": "Lines around each match"
                    }
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

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: String,
    glob: Option<String>,
    #[serde(default)]
    context_lines: usize,
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { pattern, path: untrusted_path, glob, context_lines } = parse(input)?;
    let path = path(&untrusted_path)?;
    let search = Search { pattern, path, glob, context_lines, matches_max: TOOL_SEARCH_MATCHES_MAX };
    match ask(context, &Call::Search(search), None).await? {
        Answer::Lines { text, .. } if text.is_empty() => Ok(ToolOutcome::text("nothing matches")),
        Answer::Lines { text, cut: false } => Ok(ToolOutcome::text(text)),
        Answer::Lines { text, cut: true } => {
            Ok(ToolOutcome::text(format!("{text}[there is more: narrow the pattern, the path or the glob]")))
        }
        other => Err(unexpected(&other)),
    }
}
