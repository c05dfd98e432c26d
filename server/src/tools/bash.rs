//! `bash`: a command in the sandbox.

use super::sandboxed::{failed, parse, sandbox, unexpected};
use super::utf8_stream::Utf8Stream;
use super::{Tool, ToolContext, ToolOutcome, field};
use crate::claude::ToolSpec;
use crate::limits::{TOOL_COMMAND_MAX_S, TOOL_COMMAND_S};
use airlock_guest::{Answer, Call, Exec, Exited, HEAD_MAX_BYTES, Job, LinkError, Said};
use futures::future::BoxFuture;
use serde::Deserialize;
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
                    "timeout_s": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": TOOL_COMMAND_MAX_S,
                        "description": format!("Seconds until it is ended; {TOOL_COMMAND_S} if left out")
                    },
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

    fn run(&self, input: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move { run(input, &context).await.unwrap_or_else(|error| error) })
    }
}

#[derive(Deserialize)]
struct Input {
    command: String,
    #[serde(default = "default_timeout")]
    timeout_s: u64,
    #[serde(default)]
    background: bool,
}

fn default_timeout() -> u64 {
    TOOL_COMMAND_S
}

async fn run(input: Value, context: &ToolContext) -> Result<ToolOutcome, ToolOutcome> {
    let Input { command, timeout_s, background } = parse(input)?;
    let sandbox = sandbox(context).await?;
    let fresh = if sandbox.take_replacement_note() { FRESH } else { "" };
    let notes = format!("{fresh}{}", context.view.take_notes().await);
    let exec = Exec { command, timeout_ms: timeout_s * 1000, background };
    let failed = |error: LinkError| failed(&sandbox, &error);
    let mut stream = sandbox.link().call(&Call::Exec(exec)).await.map_err(failed)?;
    let mut output = Output::default();
    let mut stopped = false;
    loop {
        let said = tokio::select! {
            biased;
            () = context.cancel.cancelled(), if !stopped => {
                stopped = true;
                stream.cancel().await.map_err(LinkError::Broken).map_err(failed)?;
                continue;
            }
            said = stream.next() => said.map_err(failed)?,
        };
        match said {
            Said::Stdout(bytes) => context.progress.show(output.stdout.take(&bytes)).await,
            Said::Stderr(bytes) => context.progress.show(output.stderr.take(&bytes)).await,
            Said::Answer(Answer::Exited(exited)) => {
                sandbox.set_home_bytes(exited.home_bytes);
                return Ok(output.outcome(&exited, timeout_s, &notes));
            }
            Said::Answer(Answer::Started(job)) => return Ok(started(&job, &notes)),
            Said::Answer(other) => return Err(unexpected(&other)),
            Said::Data(_) => {}
        }
    }
}

/// Stands before the first result of a sandbox that took the place of one that died.
const FRESH: &str = "[the sandbox was started afresh: the shell is at /workspace with its first environment, /tmp is empty, nothing \
                     runs in the background; files of the workspace are as they were left]\n";

fn started(job: &Job, notes: &str) -> ToolOutcome {
    let (pid, log) = (job.pid, job.log.as_deref().unwrap_or_default());
    ToolOutcome::text(format!("{notes}started in the background as process {pid}; its output goes to {log}"))
}

/// What a command said.
#[derive(Default)]
struct Output {
    stdout: Collected,
    stderr: Collected,
}

#[derive(Default)]
struct Collected {
    text: String,
    decoder: Utf8Stream,
}

impl Collected {
    /// Keeps the next piece, and gives its text.
    fn take(&mut self, bytes: &[u8]) -> String {
        let text = self.decoder.take(bytes);
        self.text.push_str(&text);
        text
    }

    /// The whole, with a mark where something was left out: after the head, whose length is known.
    fn whole(self, left_out: u64) -> String {
        let mut text = self.text + &self.decoder.finish();
        if left_out > 0 {
            let at = text.floor_char_boundary(HEAD_MAX_BYTES.min(text.len()));
            text.insert_str(at, &format!("\n[… {left_out} bytes left out …]\n"));
        }
        text
    }
}

impl Output {
    fn outcome(self, exited: &Exited, timeout_s: u64, notes: &str) -> ToolOutcome {
        let stdout = self.stdout.whole(exited.stdout_left_out);
        let stderr = self.stderr.whole(exited.stderr_left_out);
        let mut text = format!("{notes}{stdout}");
        if !stderr.is_empty() {
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("{newline}[stderr]\n{stderr}"));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!(
            "[{}, {:.1} s]",
            ended(exited, timeout_s),
            exited.duration_ms as f64 / 1000.0
        ));
        for job in &exited.left_running {
            text.push_str(&format!(
                "\n[still running: process {}: {}]",
                job.pid,
                job.command.replace('\n', " ")
            ));
        }
        ToolOutcome {
            is_error: exited.code != Some(0),
            exit_code: exited.code,
            shown: true,
            ..ToolOutcome::text(text)
        }
    }
}

fn ended(exited: &Exited, timeout_s: u64) -> String {
    match (exited.timed_out, exited.code, exited.signal) {
        (true, ..) => format!("ended after {timeout_s} s because its time was up"),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("ended by signal {signal}"),
        (_, None, None) => "ended".to_owned(),
    }
}
