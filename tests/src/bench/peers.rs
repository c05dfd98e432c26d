//! Claude Code at the same work: one that runs its commands on the host, without a wall.
//!
//! It talks to the same scripted Claude. Its process is started before the clock is; what is measured is a turn.

use crate::components::installed;
use crate::editor::Home;
use crate::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Instant;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Where `cargo xtask bench` puts it.
const PROGRAM: &str = "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude";

/// Milliseconds of one round with one `true`, from a turn of so many, in a conversation of its own.
pub(super) async fn round_ms(rounds: usize) -> f64 {
    let claude = ScriptedClaude::start().await;
    let mut peer = ClaudeCode::start(&claude);
    let call = |round: usize| {
        let input = json!({"command": format!("true {round}"), "description": "Does nothing"});
        Reply::calls(&format!("toolu_{round}"), "Bash", input)
    };
    claude.push(call(0)).push("Warm.");
    peer.turn("warm up").await;
    // It begins with a message of a role that the API's documents do not know, and goes without when that is refused.
    claude.take_problems();
    claude.replies((1..=rounds).map(call)).push("Done.");
    let begun = Instant::now();
    peer.turn("go").await;
    let took = begun.elapsed().as_secs_f64() * 1000.0 / rounds as f64;
    let results = claude.requests().last().expect("a request").last_user_text();
    assert!(results.contains(&format!("toolu_{rounds}")), "it made no calls: {results}");
    claude.finish();
    took
}

/// A running one. It is gone when this is dropped.
struct ClaudeCode {
    _process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _home: Home,
}

impl ClaudeCode {
    fn start(claude: &ScriptedClaude) -> Self {
        let home = Home::new();
        let mut process = Command::new(installed(PROGRAM))
            .args(["--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"])
            .args(["--model", "claude-sonnet-5", "--tools", "Bash", "--allowedTools", "Bash"])
            .current_dir(home.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(home.variables())
            .env("ANTHROPIC_BASE_URL", claude.base_url())
            .env("ANTHROPIC_API_KEY", "test-key")
            // Nothing that the API's documents do not know, and nobody else is asked for anything.
            .env("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Claude Code starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self { _process: process, input, output, _home: home }
    }

    /// Prompts, and waits for the end of the turn.
    async fn turn(&mut self, text: &str) {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        let line = format!("{}\n", json!({"type": "user", "message": message}));
        self.input.write_all(line.as_bytes()).await.expect("Claude Code reads");
        loop {
            let line = self.output.next_line().await.expect("Claude Code writes").expect("it says more");
            let said: Value = serde_json::from_str(&line).expect("JSON");
            if said["type"] == "result" {
                assert_eq!(said["subtype"], "success", "{said}");
                return;
            }
        }
    }
}
