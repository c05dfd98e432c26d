//! What the sandbox costs: a command, a model's round with one, a start, a flood of output.
//!
//! Each number stands against something that was measured in the same run, for machines are not equally fast.

use super::comparison::RATIO_MAX;
use super::{Measure, peers};
use crate::editor::{Editor, EditorOptions};
use crate::sandbox_desk::SandboxDesk;
use crate::scripted_claude::{Reply, ScriptedClaude};
use podman_api::opts::{ExecCreateOpts, ExecStartOpts};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The goal of a command, 2 ms, is that of a machine on which libpod's exec takes 88 ms.
const COMMAND_MAX: f64 = 0.0227;
/// Against an agent that runs its commands on the host.
const ROUND_MAX: f64 = 0.25;
const ROUND: &str = "a round of the model with one `bash true`";
const COMMANDS: usize = 200;
const EXECS: usize = 20;
const ROUNDS: usize = 10;
const SESSIONS: usize = 7;
const STARTS: usize = 7;

pub(super) async fn all(binary: &Path) -> Vec<Measure> {
    vec![commands().await, rounds(binary).await, starts().await, flood(binary).await]
}

/// `bash true` through the tool layer, and libpod's own exec of `true` in the same container.
async fn commands() -> Measure {
    let desk = SandboxDesk::new();
    for _ in 0..20 {
        desk.bash("true").await;
    }
    let mut ours = Vec::new();
    for _ in 0..COMMANDS {
        let begun = Instant::now();
        desk.bash("true").await;
        ours.push(milliseconds(begun));
    }
    let podman = podman_api::Podman::unix(desk.socket());
    let container = podman.containers().get(desk.container().await);
    let mut execs = Vec::new();
    for _ in 0..EXECS {
        let begun = Instant::now();
        let create = ExecCreateOpts::builder().command(["/usr/bin/true"]).attach_stdout(true).build();
        let exec = container.create_exec(&create).await.expect("an exec");
        let start = ExecStartOpts::builder().build();
        if let Some(output) = exec.start(&start).await.expect("it starts") {
            let _: Vec<_> = futures::StreamExt::collect(output).await;
        }
        execs.push(milliseconds(begun));
    }
    desk.end().await;
    Measure::new("`bash true` through the tool layer", "ms", COMMAND_MAX, ours)
        .against("libpod's exec of `true`", execs)
}

/// The peer's turns come between ours.
async fn rounds(binary: &Path) -> Measure {
    let mut theirs = Vec::new();
    let ours = sessions(binary, async || theirs.push(peers::round_ms(ROUNDS).await)).await;
    Measure::new(ROUND, "ms", ROUND_MAX, ours.rounds).against("Claude Code, on the host", theirs)
}

/// Both as a client sees them, to compare two binaries.
pub(super) async fn through_the_server(binary: &Path) -> [Measure; 2] {
    let ours = sessions(binary, async || ()).await;
    [
        Measure::new("session start to the end of a turn with `bash true`", "ms", RATIO_MAX, ours.starts),
        Measure::new(ROUND, "ms", RATIO_MAX, ours.rounds),
    ]
}

/// Milliseconds, a sample per session.
struct Sessions {
    /// From the request for the session to the end of its first turn.
    starts: Vec<f64>,
    rounds: Vec<f64>,
}

/// One round of the model with one `bash true`, from the whole turn of a few. Each in a session of its own: a long
/// conversation would measure how long the stand-in takes to check it.
async fn sessions(binary: &Path, mut before_each: impl AsyncFnMut()) -> Sessions {
    let claude = ScriptedClaude::start().await;
    let options = EditorOptions::new(&claude).with_sandbox().program(binary, &["lsp"]);
    let editor = Editor::ready(options).await;
    editor.ignore("$/progress");
    let mut samples = Sessions { starts: Vec::new(), rounds: Vec::new() };
    for sample in 0..SESSIONS {
        before_each().await;
        let call = |round| {
            let (id, command) = (format!("toolu_{sample}_{round}"), format!("true {round}"));
            Reply::calls(&id, "bash", json!({"command": command}))
        };
        claude.push(call(0)).push("Warm.");
        let begun = Instant::now();
        let session = editor.new_session().await;
        editor.turn(&session, "warm up").await;
        samples.starts.push(milliseconds(begun));
        claude.replies((1..=ROUNDS).map(call)).push("Done.");
        let begun = Instant::now();
        editor.turn(&session, "go").await;
        samples.rounds.push(milliseconds(begun) / ROUNDS as f64);
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    }
    editor.shutdown().await;
    claude.finish();
    samples
}

/// From a new session to its first command's output, against `podman run` with the same root and runtime.
async fn starts() -> Measure {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let first = SandboxDesk::new();
    first.bash("true").await;
    let (root, runtime) = (first.root(), first.runtime().await);
    for _ in 0..STARTS {
        let begun = Instant::now();
        let desk = SandboxDesk::new();
        desk.bash("echo up").await;
        ours.push(milliseconds(begun));
        desk.end().await;
        let begun = Instant::now();
        podman_run(&root, &runtime);
        theirs.push(milliseconds(begun));
    }
    first.end().await;
    Measure::new("session start to the first output", "ms", 1.3, ours).against("`podman run`", theirs)
}

fn podman_run(root: &Path, runtime: &str) {
    let root = format!("{}:O", root.display());
    let arguments =
        ["--cgroup-manager", "cgroupfs", "--runtime", runtime, "run", "--rm", "--network", "none"];
    let limits = ["--ulimit", "nofile=16384:16384", "--ulimit", "nproc=512:512", "-v", "/usr:/usr:ro"];
    let status = Command::new("podman")
        .args(arguments)
        .args(limits)
        .args(["--rootfs", &root, "/usr/bin/echo", "up"])
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("podman").success());
}

/// How much the server's memory grows while a command says a gibibyte.
pub(super) async fn flood(binary: &Path) -> Measure {
    let claude = ScriptedClaude::start().await;
    let options = EditorOptions::new(&claude).with_sandbox().program(binary, &["lsp"]);
    let editor = Editor::ready(options).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    let bash = |id: &str, command: &str| Reply::calls(id, "bash", json!({"command": command}));
    claude.push(bash("toolu_1", "seq 100000")).push("Warm.");
    editor.turn(&session, "warm up").await;
    let before = peak_mib(&editor);
    claude.push(bash("toolu_2", "head -c 1073741824 /dev/zero | tr '\\0' x")).push("Done.");
    editor.turn(&session, "flood").await;
    let grown = peak_mib(&editor) - before;
    editor.shutdown().await;
    claude.finish();
    Measure::new("memory for 1 GiB of a command's output", "MiB", 8.0, vec![grown])
}

fn peak_mib(editor: &Editor) -> f64 {
    let pid = editor.pid().expect("airlock runs");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM is there");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}
