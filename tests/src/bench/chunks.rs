//! From the moment a chunk leaves the API to the moment its update was read from Airlock's stdout.
//!
//! One clock: the scripted Claude notes when it gives the bytes behind a gate to its connection, and a thread that
//! does nothing else notes when a whole frame is there. What lies between are two trips through the kernel and
//! everything that Airlock does.

use super::Measure;
use crate::editor::EditorOptions;
use crate::scripted_claude::{Gate, Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::Instant;

const CHUNKS: usize = 500;
const WARM_UP: usize = 50;

/// A frame's body, and when it was there.
type Heard = (Instant, Vec<u8>);

pub(super) async fn latency(binary: &Path) -> Measure {
    let claude = ScriptedClaude::start().await;
    let gates: Vec<Gate> = (0..WARM_UP + CHUNKS).map(|_| Gate::new()).collect();
    let reply = gates.iter().fold(Reply::says("begin"), |reply, gate| reply.gate(gate).more("token "));
    claude.push(reply);
    let options = EditorOptions::new(&claude).program(binary, &["lsp"]);
    let measured = tokio::task::spawn_blocking(move || measure(&options, &gates)).await;
    let samples = measured.expect("the measuring thread does not panic");
    Measure::new("chunk from the API to stdout", "ms", 1.0, samples)
}

fn measure(options: &EditorOptions, gates: &[Gate]) -> Vec<f64> {
    let mut command = options.command().into_std();
    let mut server = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("airlock starts");
    let mut input = server.stdin.take().expect("a pipe");
    let heard = listen(server.stdout.take().expect("a pipe"));
    send(&mut input, &json!({"id": 1, "method": "initialize", "params": {"capabilities": knowing()}}));
    wait(&heard, |message| message["id"] == 1);
    send(&mut input, &json!({"method": "initialized", "params": {}}));
    send(&mut input, &json!({"id": 2, "method": "airlock/session/new", "params": {}}));
    let session = wait(&heard, |message| message["id"] == 2).1["result"]["sessionId"].clone();
    let prompt = json!({"sessionId": session, "text": "go"});
    send(&mut input, &json!({"id": 3, "method": "airlock/session/prompt", "params": prompt}));
    let is_chunk = |message: &Value| message["params"]["update"]["kind"] == "agent_message_chunk";
    let mut seq = wait(&heard, is_chunk).1["params"]["seq"].as_u64().expect("a number");
    let mut samples = Vec::with_capacity(gates.len());
    for gate in gates {
        gate.open();
        let (read_at, message) = wait(&heard, is_chunk);
        // A chunk taken for another one would look fast: each must be the one behind its gate, alone and later.
        seq += 1;
        assert_eq!(message["params"]["seq"], seq);
        assert_eq!(message["params"]["update"]["text"], "token ");
        let left_at = gate.left_at().expect("what was read has left");
        let took = read_at.checked_duration_since(left_at).expect("a chunk is read after it has left");
        samples.push(took.as_secs_f64() * 1000.0);
    }
    drop(input);
    let _ = server.wait();
    samples.split_off(WARM_UP)
}

fn knowing() -> Value {
    json!({"experimental": {"airlock": {"permission": true}}})
}

fn send(input: &mut ChildStdin, message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = json!("2.0");
    let body = message.to_string();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("airlock reads");
    input.flush().expect("airlock reads");
}

/// A thread that reads frames, and nothing else.
fn listen(output: ChildStdout) -> mpsc::Receiver<Heard> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        while let Some(body) = read_frame(&mut output) {
            if sender.send((Instant::now(), body)).is_err() {
                return;
            }
        }
    });
    receiver
}

fn read_frame(output: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    Some(body)
}

fn wait(heard: &mpsc::Receiver<Heard>, fits: impl Fn(&Value) -> bool) -> (Instant, Value) {
    loop {
        let (at, body) = heard.recv().expect("airlock says more");
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        if fits(&message) {
            return (at, message);
        }
    }
}
