//! JSON-RPC over a pair of pipes: requests, notifications, and the law that every message is read.
//!
//! Threads read and write, not tasks: so `drop` can wait until the server's last word is in, and then judge.

use super::framing;
use super::inbox::{Contents, Inbox};
use crate::deadline::deadline;
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long `drop` waits for the end of the output of a server that is dead or has lost its input.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The client's end. Dropping it fails the test when a message was left unread.
pub struct Wire {
    inbox: Arc<Inbox>,
    outbox: Outbox,
    next_id: AtomicI64,
    log: Log,
}

/// What the server wrote to its stderr.
pub(super) type Log = Arc<Mutex<Vec<u8>>>;

/// Bytes for the server; `None` closes its input.
type Outbox = mpsc::Sender<Option<Vec<u8>>>;

/// A request whose response was not read yet.
#[must_use]
pub struct Pending {
    id: i64,
    what: String,
}

impl Pending {
    /// Its id, for `$/cancelRequest`.
    pub fn id(&self) -> i64 {
        self.id
    }
}

impl Wire {
    /// A client of the server that reads `input` and writes `output`.
    pub fn new(output: impl Read + Send + 'static, input: impl Write + Send + 'static) -> Self {
        Self::with_log(output, input, Log::default())
    }

    pub(super) fn with_log(
        output: impl Read + Send + 'static,
        mut input: impl Write + Send + 'static,
        log: Log,
    ) -> Self {
        let inbox = Arc::new(Inbox::new());
        let (outbox, outgoing) = mpsc::channel::<Option<Vec<u8>>>();
        std::thread::spawn(move || {
            for bytes in outgoing.iter().map_while(|bytes| bytes) {
                // A server that is gone shows in what does not come back.
                if input.write_all(&bytes).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        let (filled, answers) = (Arc::clone(&inbox), outbox.clone());
        std::thread::spawn(move || {
            filled.fill(BufReader::new(output), |answer| {
                let _ = answers.send(Some(framing::encode(&answer)));
            });
        });
        Self { inbox, outbox, next_id: AtomicI64::new(1), log }
    }

    /// Sends a request and waits for its response: the result, or the error.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.response(self.start_request(method, params)).await
    }

    /// Sends a request; its response must be read later.
    pub fn start_request(&self, method: &str, params: Value) -> Pending {
        if let ("airlock/session/load", Some(session)) = (method, params["sessionId"].as_str()) {
            self.inbox.with(|contents| contents.laws.load(session));
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        Pending { id, what: format!("the response to {method}") }
    }

    /// Waits for the response to a request.
    pub async fn response(&self, request: Pending) -> Result<Value, Value> {
        let of_request = |message: &Value| message["id"] == request.id && message.get("method").is_none();
        let mut message = self.next(&request.what, of_request).await;
        match message.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(message["result"].take()),
        }
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Writes bytes as they are, frame or not.
    pub fn send_raw(&self, bytes: impl Into<Vec<u8>>) {
        // It fails only when the writer is gone with the server, which shows in what does not come back.
        let _ = self.outbox.send(Some(bytes.into()));
    }

    /// Closes the server's input.
    pub fn close_stdin(&self) {
        let _ = self.outbox.send(None);
    }

    /// The parameters of the oldest unread notification of this method; waits for one.
    pub async fn next_notification(&self, method: &str) -> Value {
        let fits = |message: &Value| message["method"] == method && message.get("id").is_none();
        self.next(&format!("a notification {method}"), fits).await["params"].take()
    }

    /// The oldest unread request of this method; waits for one.
    pub async fn next_server_request(&self, method: &str) -> ServerRequest {
        let fits = |message: &Value| message["method"] == method && message.get("id").is_some();
        let mut message = self.next(&format!("a request {method}"), fits).await;
        ServerRequest {
            id: message["id"].take(),
            params: message["params"].take(),
            outbox: self.outbox.clone(),
        }
    }

    /// The oldest unread message that fits; waits for one, and panics with all that is known when none comes.
    pub async fn next(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let taken = self.inbox.wait(|contents| match contents.take(&fits) {
            Some(message) => Some(Ok(message)),
            None if !contents.broken.is_empty() => Some(Err("the server broke the protocol")),
            None if contents.ended => Some(Err("the server's output ended")),
            None => None,
        });
        let missed = match tokio::time::timeout(deadline(), taken).await {
            Ok(Ok(message)) => return message,
            Ok(Err(why)) => why,
            Err(_) => "the deadline passed",
        };
        panic!("{missed} before {what} came\n{}", self.report());
    }

    /// Waits until an unread message fits, however long that takes.
    pub async fn arrived(&self, fits: impl Fn(&Value) -> bool) {
        self.inbox.wait(|contents| contents.unread.iter().any(&fits).then_some(())).await;
    }

    /// Answers requests of this method with this result, without the test.
    pub fn answer(&self, method: &str, result: Value) {
        self.inbox.with(|contents| contents.answers.insert(method.to_owned(), result));
    }

    /// Leaves requests of this method to the test again.
    pub fn answer_by_hand(&self, method: &str) {
        self.inbox.with(|contents| contents.answers.remove(method));
    }

    /// Messages of this method need not be read, those that are there and those to come.
    pub fn ignore(&self, method: &str) {
        self.inbox.with(|contents| {
            contents.ignored.push(method.to_owned());
            contents.unread.retain(|message| message["method"] != method);
        });
    }

    /// No message needs to be read from now on.
    pub fn ignore_unread(&self) {
        self.inbox.with(|contents| contents.ignore_unread = true);
    }

    /// Takes every unread message that fits, without waiting for one.
    pub fn take_all(&self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.inbox.with(|contents| {
            let (taken, left) = contents.unread.drain(..).partition(|message| fits(message));
            contents.unread = left;
            Vec::from(taken)
        })
    }

    /// What was received and not read so far.
    pub fn unread(&self) -> Vec<Value> {
        self.inbox.with(|contents| contents.unread.iter().cloned().collect())
    }

    /// Reads nothing more from the server, so that its pipe fills up; a frame in work is still finished.
    pub fn pause_reading(&self) {
        self.inbox.with(|contents| contents.paused = true);
    }

    /// Reads again.
    pub fn resume_reading(&self) {
        self.inbox.with(|contents| contents.paused = false);
    }

    /// The server is about to be killed.
    pub(super) fn will_be_killed(&self) {
        self.inbox.with(|contents| contents.killed = true);
    }

    /// Waits until the server's output has ended, and takes what was left unread.
    pub(super) async fn last_words(&self) -> Vec<Value> {
        self.resume_reading();
        self.output_ended().await;
        self.inbox.with(|contents| contents.unread.drain(..).collect())
    }

    /// Waits until the server's output has ended.
    pub(super) async fn output_ended(&self) {
        let ended = self.inbox.wait(|contents| contents.ended.then_some(()));
        if tokio::time::timeout(deadline(), ended).await.is_err() {
            panic!("the server's output never ended\n{}", self.report());
        }
    }

    /// Unread messages and stderr, for a test that fails.
    pub fn report(&self) -> String {
        let (unread, broken) = self.inbox.with(|contents| (contents.show(), contents.broken.clone()));
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = String::from_utf8_lossy(&log);
        format!("broken laws: {broken:#?}\nunread messages:\n{unread}stderr of the server:\n{stderr}")
    }

    fn send(&self, message: &Value) {
        self.send_raw(framing::encode(message));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.close_stdin();
        if std::thread::panicking() {
            return;
        }
        self.resume_reading();
        self.inbox.wait_for_end(LAST_WORDS);
        if let Err(verdict) = self.inbox.with(|contents: &mut Contents| contents.verdict()) {
            panic!("{verdict}\n{}", self.report());
        }
    }
}

/// A request of the server, to be answered by the test. Dropped, it stays without answer.
pub struct ServerRequest {
    id: Value,
    /// Its parameters.
    pub params: Value,
    outbox: Outbox,
}

impl ServerRequest {
    /// Its id, which `$/cancelRequest` names when the server no longer wants the answer.
    pub fn id(&self) -> &Value {
        &self.id
    }

    /// Answers it.
    pub fn respond(self, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "result": result}));
    }

    /// Answers it with an error.
    pub fn refuse(self, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "error": error}));
    }

    fn send(&self, message: &Value) {
        let _ = self.outbox.send(Some(framing::encode(message)));
    }
}
