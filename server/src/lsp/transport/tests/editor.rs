//! An editor at the other end of the pipe, and a server with methods that a test can hold and release.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::{
    ConfigurationItem, InitializeParams, InitializeResult, InitializedParams, MessageType,
};
use tower_lsp::{Client, LanguageServer, LspService};

use super::super::calls::answered;
use super::super::frames::{Frame, FrameReader};
use super::super::message::Incoming;
use super::super::serve::{Ended, serve};

/// What the server did, for the test to see.
#[derive(Clone, Default)]
pub(super) struct Record {
    pub(super) appended: Arc<Mutex<Vec<u64>>>,
    pub(super) sent: Arc<Mutex<u64>>,
    gates: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
}

impl Record {
    pub(super) fn gate(&self, name: &str) -> Arc<Notify> {
        self.gates.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }
}

struct TestServer {
    client: Client,
    record: Record,
}

enum Note {}

impl Notification for Note {
    type Params = Value;
    const METHOD: &'static str = "test/note";
}

impl LanguageServer for TestServer {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        for _ in 0..3 {
            self.client.log_message(MessageType::INFO, "early").await;
        }
        match params.initialization_options {
            Some(Value::String(word)) if word == "panic" => panic!("initialize"),
            Some(Value::String(word)) if word == "notes" => {
                let client = self.client.clone();
                tokio::spawn(async move {
                    for number in 0..1000 {
                        client.send_notification::<Note>(json!(number)).await;
                        tokio::task::yield_now().await;
                    }
                });
                tokio::task::yield_now().await;
            }
            _ => {}
        }
        Ok(InitializeResult::default())
    }

    async fn initialized(&self, _: InitializedParams) {
        panic!("in a notification");
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

impl TestServer {
    async fn echo(&self, params: Value) -> Result<Value> {
        Ok(params)
    }

    async fn panic(&self, later: bool) -> Result<()> {
        if later {
            tokio::task::yield_now().await;
        }
        panic!("on purpose");
    }

    /// Waits to be released.
    async fn wait(&self, gate: String) -> Result<String> {
        self.record.gate(&gate).notified().await;
        Ok(gate)
    }

    /// The same as a notification.
    async fn hold(&self, gate: String) {
        self.record.gate(&gate).notified().await;
    }

    async fn release(&self, gate: String) {
        self.record.gate(&gate).notify_one();
    }

    /// Takes note, then waits a moment.
    async fn append(&self, number: u64) {
        self.record.appended.lock().unwrap().push(number);
        if number.is_multiple_of(3) {
            tokio::task::yield_now().await;
        }
    }

    /// Lets something follow the response.
    async fn follow(&self, word: String) -> Result<()> {
        let (client, answered) = (self.client.clone(), answered());
        tokio::spawn(async move {
            answered.cancelled().await;
            client.send_notification::<Note>(json!(word)).await;
        });
        // Time for what follows to come too early.
        tokio::task::yield_now().await;
        Ok(())
    }

    /// Asks the client something and tells what it said.
    async fn ask(&self, section: String) -> Result<Value> {
        let item = ConfigurationItem { scope_uri: None, section: Some(section) };
        let mut answers = self.client.configuration(vec![item]).await?;
        Ok(answers.remove(0))
    }

    /// Sends so many notes and then tells how many.
    async fn notes(&self, count: u64) -> Result<u64> {
        for number in 0..count {
            self.client.send_notification::<Note>(json!(number)).await;
            *self.record.sent.lock().unwrap() += 1;
        }
        Ok(count)
    }
}

/// The editor's end.
pub(super) struct Editor {
    pub(super) record: Record,
    input: Option<DuplexStream>,
    output: Option<DuplexStream>,
    frames: FrameReader,
    early: VecDeque<Value>,
    served: JoinHandle<Ended>,
}

/// A pipe that holds this much.
const PIPE_BYTES: usize = 1 << 16;

impl Editor {
    pub(super) fn start() -> Self {
        Self::with_pipes(PIPE_BYTES, PIPE_BYTES)
    }

    pub(super) fn with_pipes(input_bytes: usize, output_bytes: usize) -> Self {
        let record = Record::default();
        let (service, socket) = LspService::build(|client| TestServer { client, record: record.clone() })
            .custom_method("test/echo", TestServer::echo)
            .custom_method("test/panic", TestServer::panic)
            .custom_method("test/wait", TestServer::wait)
            .custom_method("test/hold", TestServer::hold)
            .custom_method("test/release", TestServer::release)
            .custom_method("test/append", TestServer::append)
            .custom_method("test/ask", TestServer::ask)
            .custom_method("test/follow", TestServer::follow)
            .custom_method("test/notes", TestServer::notes)
            .finish();
        let (input, server_input) = tokio::io::duplex(input_bytes);
        let (server_output, output) = tokio::io::duplex(output_bytes);
        let served = tokio::spawn(serve(server_input, server_output, service, socket));
        Self {
            record,
            input: Some(input),
            output: Some(output),
            frames: FrameReader::new(),
            early: VecDeque::new(),
            served,
        }
    }

    /// An editor that has initialized its server.
    pub(super) async fn ready() -> Self {
        Self::start().initialize().await
    }

    pub(super) async fn initialize(mut self) -> Self {
        self.send(&request("init", "initialize", json!({"capabilities": {}}))).await;
        assert!(self.answer("init").await["result"].is_object());
        self.early.clear();
        self
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.send_raw(&framed(message)).await;
    }

    pub(super) async fn send_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// The next message, whatever it is.
    pub(super) async fn next(&mut self) -> Value {
        if let Some(message) = self.early.pop_front() {
            return message;
        }
        self.read().await.expect("the server closed its output")
    }

    /// The answer to a request. What else comes waits.
    pub(super) async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(at) = self.early.iter().position(is_answer) {
            return self.early.remove(at).unwrap();
        }
        loop {
            let message = self.read().await.expect("the server closed its output");
            if is_answer(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// Hands over the writing end, so that somebody else can write while this one reads.
    pub(super) fn take_input(&mut self) -> DuplexStream {
        self.input.take().unwrap()
    }

    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    pub(super) fn close_output(&mut self) {
        self.output = None;
    }

    /// Everything that was still to come, and how it ended.
    pub(super) async fn end(mut self) -> (Vec<Value>, Ended) {
        let mut rest = Vec::from(std::mem::take(&mut self.early));
        if self.output.is_some() {
            while let Some(message) = self.read().await {
                rest.push(message);
            }
        }
        (rest, self.end_unread().await)
    }

    /// How it ended, with nothing more read.
    pub(super) async fn end_unread(self) -> Ended {
        let ended = tokio::time::timeout(Duration::from_secs(60), self.served).await;
        ended.expect("the server goes on").unwrap()
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            match self.frames.next() {
                Some(Frame::Message(Incoming::Call(call))) => {
                    return Some(serde_json::to_value(call).unwrap());
                }
                Some(Frame::Message(Incoming::Answer(answer))) => {
                    return Some(serde_json::to_value(answer).unwrap());
                }
                // What the decoder would not take from a client: the answers to nobody.
                Some(Frame::Bad(bad)) => return Some(json!({"unreadable": bad.why})),
                None => {}
            }
            let mut chunk = [0; 4096];
            let read = self.output.as_mut().unwrap().read(&mut chunk);
            // Time stands still in these tests, so this fires only when nothing else can happen.
            let length = tokio::time::timeout(Duration::from_secs(60), read).await;
            match length.expect("the server has nothing to say").unwrap() {
                0 => return None,
                length => self.frames.feed(&chunk[..length]),
            }
        }
    }
}

pub(super) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(super) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// Lets everything run that can.
pub(super) async fn settle() {
    for _ in 0..5_000 {
        tokio::task::yield_now().await;
    }
}
