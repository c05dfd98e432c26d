//! An editor, as far as Airlock can tell: it starts the real binary and talks LSP to it over its real pipes.
//!
//! Dropping it fails the test when a message was left unread or a law of the protocol was broken. All methods of
//! [`Wire`] are the editor's too.
//!
//! ```no_run
//! # use airlock_tests::editor::{Editor, EditorOptions, agent_text};
//! # use airlock_tests::scripted_claude::ScriptedClaude;
//! # async fn example() {
//! let claude = ScriptedClaude::start().await;
//! claude.push("Hello!");
//! let editor = Editor::ready(EditorOptions::new(&claude)).await;
//! let session = editor.new_session().await;
//! let updates = editor.turn(&session, "Hi").await;
//! assert_eq!(agent_text(&updates), "Hello!");
//! editor.shutdown().await;
//! # }
//! ```

mod framing;
mod home;
mod inbox;
mod laws;
mod options;
mod sessions;
mod wire;

pub use home::Home;
pub use options::EditorOptions;
pub use sessions::{agent_text, kinds};
pub use wire::{Pending, ServerRequest, Wire};

use crate::deadline::within;
use serde_json::{Value, json};
use std::io::{PipeReader, Read};
use std::ops::Deref;
use std::process::ExitStatus;
use std::sync::PoisonError;
use tokio::process::Child;
use tokio::sync::oneshot;
use wire::Log;

/// A running Airlock with its client.
pub struct Editor {
    server: Child,
    wire: Wire,
    /// Done when the server has closed its stderr.
    log_kept: Option<oneshot::Receiver<()>>,
    options: EditorOptions,
}

impl Drop for Editor {
    /// The server is killed here, so that the wire, dropped next, hears its last word and can judge.
    fn drop(&mut self) {
        self.wire.will_be_killed();
        // It fails only when the process is gone already.
        let _ = self.server.start_kill();
    }
}

impl Deref for Editor {
    type Target = Wire;

    fn deref(&self) -> &Wire {
        &self.wire
    }
}

impl Editor {
    /// Starts the server, and sends it nothing yet.
    pub fn start(options: EditorOptions) -> Self {
        let mut command = options.command();
        // Pipes of our own, not tokio's: the wire reads and writes them from threads.
        let (input, our_input) = std::io::pipe().expect("a pipe");
        let (our_output, output) = std::io::pipe().expect("a pipe");
        let (our_errors, errors) = std::io::pipe().expect("a pipe");
        command.stdin(input).stdout(output).stderr(errors);
        let server = command.spawn().expect("airlock starts");
        // It holds the server's ends of the pipes, which must close when the server does.
        drop(command);
        let log = Log::default();
        let log_kept = Some(keep_log(our_errors, log.clone()));
        let wire = Wire::with_log(our_output, our_input, log);
        for method in ["window/workDoneProgress/create", "client/registerCapability"] {
            wire.answer(method, Value::Null);
        }
        Self { server, wire, log_kept, options }
    }

    /// Starts the server and initializes it.
    pub async fn ready(options: EditorOptions) -> Self {
        let editor = Self::start(options);
        editor.initialize().await;
        editor
    }

    /// `initialize` and `initialized`; gives the server's answer.
    pub async fn initialize(&self) -> Value {
        let answer = self.expect("initialize", self.options.initialize()).await;
        self.notify("initialized", json!({}));
        answer
    }

    /// Where the server's user lives.
    pub fn home(&self) -> &Home {
        &self.options.home
    }

    /// The server's process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.server.id()
    }

    /// `shutdown` and `exit`: the server must end well, with every message read.
    pub async fn shutdown(mut self) {
        self.expect("shutdown", Value::Null).await;
        self.notify("exit", Value::Null);
        let status = self.exit_status().await;
        assert!(status.success(), "airlock ended with {status}\n{}", self.report());
    }

    /// Kills the server as `kill -9` does, and gives what it had said and nobody had read.
    pub async fn kill9(mut self) -> Vec<Value> {
        self.wire.will_be_killed();
        self.server.start_kill().expect("airlock still runs");
        self.exit_status().await;
        self.wire.last_words().await
    }

    /// Waits until the server ends by itself though its output is not read. Its last frame may be torn then.
    pub async fn exited_unread(&mut self) -> ExitStatus {
        self.wire.will_be_killed();
        self.exited().await
    }

    /// Waits until the server ends by itself, and has said all.
    pub async fn exit_status(&mut self) -> ExitStatus {
        let status = self.exited().await;
        self.wire.output_ended().await;
        if let Some(log_kept) = self.log_kept.take() {
            let _ = within(log_kept, || "airlock left its stderr open".to_owned()).await;
        }
        status
    }
}

impl Editor {
    async fn exited(&mut self) -> ExitStatus {
        let wire = &self.wire;
        let ended = within(self.server.wait(), || format!("airlock did not end\n{}", wire.report()));
        ended.await.expect("our own child")
    }
}

/// Keeps what the server writes to stderr, until it closes it.
fn keep_log(mut errors: PipeReader, log: Log) -> oneshot::Receiver<()> {
    let (done, log_kept) = oneshot::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = errors.read(&mut buffer) {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.extend_from_slice(&buffer[..length]);
        }
        // Nobody waits for it any more when the editor is gone.
        let _ = done.send(());
    });
    log_kept
}
