//! `edit_file`: exact replacements in a file.

use super::sandboxed::{ask, parse, path, unexpected};
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use airlock_guest::{Answer, Call, Edit, Replacement};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) struct EditFile;

impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit_file".to_owned(),
            description: "Replaces exact text in a file of the workspace. Each old text must occur exactly once. Several edits \
                 are made all or none."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "Path relative to the workspace"},
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {
                                "old": {"type": "string", "minLength": 1, "description": "Text that is there now, exactly"},
                                "new": {"type": "string", "description": "Text to stand there instead"}
                            },
                            "required": ["old", "new"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["path", "edits"],
                "additionalProperties": false
            }),
        }
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn title(&self, input: &Value) -> String {
        format!("Edit {}", field(input, "path"))
    }

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    path: String,
    edits: Vec<Replacement>,
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { path: untrusted_path, edits } = parse(input)?;
    let path = path(&untrusted_path)?;
    match ask(context, &Call::Edit(Edit { path: path.clone(), edits }), None).await? {
        Answer::Done { note } => Ok(ToolOutcome::text(format!("{path}: {note}"))),
        other => Err(unexpected(&other)),
    }
}
