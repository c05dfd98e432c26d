//! `read_file`: a file, or a range of its lines.

use super::sandboxed::{failed, parse, path, sandbox, unexpected};
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use crate::conversation::ResultPart;
use crate::limits::{TOOL_IMAGE_MAX_BYTES, TOOL_READ_LINES};
use airlock_guest::{Answer, Call, LinkError, Read, Said, Text};
use base64::prelude::{BASE64_STANDARD, Engine};
use futures::future::BoxFuture;
use serde::Deserialize;
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
                    "lines": {
                        "type": "integer",
                        "minimum": 1,
                        "description": format!("How many lines; {TOOL_READ_LINES} if left out")
                    }
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

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    path: String,
    #[serde(default = "first")]
    first_line: u64,
    #[serde(default = "default_lines")]
    lines: u64,
}

fn first() -> u64 {
    1
}

fn default_lines() -> u64 {
    TOOL_READ_LINES
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { path: untrusted_path, first_line, lines } = parse(input)?;
    let path = path(&untrusted_path)?;
    let sandbox = sandbox(context).await?;
    let read = async {
        let mut stream =
            sandbox.link().call(&Call::Read(Read { path: path.clone(), first_line, lines })).await?;
        let mut image = Vec::new();
        loop {
            match stream.next().await? {
                Said::Data(piece) => image.extend(piece),
                Said::Answer(answer) => return Ok((answer, image)),
                Said::Stdout(_) | Said::Stderr(_) => {}
            }
        }
    };
    let (answer, image) = match context.cancel.run_until_cancelled(read).await {
        Some(result) => result.map_err(|error: LinkError| failed(&sandbox, &error))?,
        None => return Err(ToolOutcome::error("stopped by the user")),
    };
    match answer {
        Answer::Text(text) => Ok(ToolOutcome::text(numbered(&path, &text))),
        Answer::Binary { media_type: Some(media_type), .. } if image.len() <= TOOL_IMAGE_MAX_BYTES => {
            Ok(ToolOutcome {
                content: vec![ResultPart::Image { media_type, data: BASE64_STANDARD.encode(image) }],
                ..ToolOutcome::text("")
            })
        }
        Answer::Binary { bytes, .. } => Err(ToolOutcome::error(format!(
            "{path} is not text ({bytes} bytes): look at it with bash, such as `file` or `xxd`"
        ))),
        other => Err(unexpected(&other)),
    }
}

/// Lines with their numbers, and what is not shown.
fn numbered(path: &str, text: &Text) -> String {
    let Text { text, first_line, total_lines, cut } = text;
    if *total_lines == 0 {
        return format!("{path} is empty");
    }
    let mut numbered = String::with_capacity(text.len() * 11 / 10);
    let mut last = first_line.saturating_sub(1);
    for (line, number) in text.split_inclusive('\n').zip(*first_line..) {
        numbered.push_str(&format!("{number:>6}\t{line}"));
        last = number;
    }
    if !numbered.ends_with('\n') {
        numbered.push('\n');
    }
    if last < *total_lines {
        let why = if *cut { " because of their size" } else { "" };
        numbered
            .push_str(&format!("[{path} has {total_lines} lines; those after {last} are not shown{why}]\n"));
    }
    numbered
}
