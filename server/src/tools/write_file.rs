//! `write_file`: a whole file, written anew.

use super::sandboxed::{ask, parse, path, unexpected};
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use airlock_guest::{Answer, Call};
use futures::future::BoxFuture;
use serde::Deserialize;
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

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    path: String,
    content: String,
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { path: untrusted_path, content } = parse(input)?;
    let path = path(&untrusted_path)?;
    match ask(context, &Call::Write { path: path.clone() }, Some(content.as_bytes())).await? {
        Answer::Done { note } => Ok(ToolOutcome::text(format!("{path}: {note}"))),
        other => Err(unexpected(&other)),
    }
}
