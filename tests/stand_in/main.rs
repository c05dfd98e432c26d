//! A Claude to try Airlock with by hand, where there is no real one: it does what the prompt says.
//!
//! | a prompt that begins with | makes it |
//! |---|---|
//! | `run: COMMAND` | call `bash` |
//! | `write: PATH TEXT` | call `write_file` |
//! | anything else | say it back |
//!
//! ```text
//! $ cargo run -p airlock-tests --bin stand-in
//! ANTHROPIC_BASE_URL=http://127.0.0.1:40521 ANTHROPIC_API_KEY=any
//! ```
#![allow(clippy::print_stdout, reason = "it tells where it listens")]

use airlock_tests::scripted_claude::{Received, Reply, ScriptedClaude};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let claude = ScriptedClaude::start().await;
    let mut calls = 0;
    claude.otherwise(move |request| {
        calls += 1;
        Some(reply(request, &format!("toolu_{calls}")))
    });
    println!("ANTHROPIC_BASE_URL={} ANTHROPIC_API_KEY=any", claude.base_url());
    tokio::signal::ctrl_c().await
}

fn reply(request: &Received, id: &str) -> Reply {
    let last = request.messages().last().map(|message| message["content"].clone()).unwrap_or_default();
    let blocks = last.as_array().cloned().unwrap_or_default();
    if blocks.iter().any(|block| block["type"] == "tool_result") {
        return Reply::says("That is what came of it.");
    }
    let text = blocks.last().and_then(|block| block["text"].as_str()).unwrap_or_default().to_owned();
    match text.split_once(": ") {
        Some(("run", command)) => call("Running it.", id, "bash", json!({"command": command})),
        Some(("write", rest)) => {
            let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
            call("Writing it.", id, "write_file", json!({"path": path, "content": format!("{content}\n")}))
        }
        _ => Reply::says(&format!("You said: {text}")),
    }
}

fn call(said: &str, id: &str, tool: &str, input: Value) -> Reply {
    Reply::new().text(said).tool_use(id, tool, input)
}
