//! The messages that came from the server and were not read yet.

use super::framing;
use super::laws::Laws;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, ErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Filled by the reader's thread, emptied by the test.
pub(super) struct Inbox {
    contents: Mutex<Contents>,
    changed: watch::Sender<()>,
    /// For those who cannot await: the reader while it is paused, and `drop`.
    woken: Condvar,
}

#[derive(Default)]
pub(super) struct Contents {
    pub(super) unread: VecDeque<Value>,
    /// Laws that the server broke.
    pub(super) broken: Vec<String>,
    /// The server's output is at its end.
    pub(super) ended: bool,
    pub(super) paused: bool,
    /// The server was killed: its last frame may be torn.
    pub(super) killed: bool,
    /// Methods whose messages nobody reads.
    pub(super) ignored: Vec<String>,
    /// Requests of the server that are answered without the test, with these results.
    pub(super) answers: HashMap<String, Value>,
    pub(super) ignore_unread: bool,
    pub(super) laws: Laws,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { contents: Mutex::default(), changed: watch::Sender::new(()), woken: Condvar::new() }
    }

    /// The reader's thread: puts messages in until the output ends; `answer` sends what is answered by itself.
    pub(super) fn fill(&self, mut output: impl BufRead, answer: impl Fn(Value)) {
        loop {
            self.wait_while(|contents| contents.paused);
            let read = framing::read(&mut output);
            let ended = !matches!(read, Ok(Some(_)));
            self.with(|contents| match read {
                Ok(Some(message)) => contents.receive(message).into_iter().for_each(&answer),
                Ok(None) => contents.ended = true,
                Err(error) if contents.killed && error.kind() == ErrorKind::UnexpectedEof => {
                    contents.ended = true;
                }
                Err(error) => {
                    contents.broken.push(format!("the server's output is no frame: {error}"));
                    contents.ended = true;
                }
            });
            if ended {
                return;
            }
        }
    }

    /// Looks at the contents or changes them, and wakes who waits.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Contents) -> T) -> T {
        let result = act(&mut self.lock());
        self.changed.send_replace(());
        self.woken.notify_all();
        result
    }

    /// Waits until `ready` gives something.
    pub(super) async fn wait<T>(&self, mut ready: impl FnMut(&mut Contents) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        loop {
            if let Some(value) = ready(&mut self.lock()) {
                return value;
            }
            changes.changed().await.expect("the sender is in `self`");
        }
    }

    /// Waits for the end of the output without a runtime, but not for long.
    pub(super) fn wait_for_end(&self, longest: Duration) {
        drop(self.woken.wait_timeout_while(self.lock(), longest, |contents| !contents.ended));
    }

    fn wait_while(&self, condition: impl Fn(&Contents) -> bool) {
        drop(self.woken.wait_while(self.lock(), |contents| condition(contents)));
    }

    /// A test that panicked elsewhere must still be able to look.
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    /// Takes a message in; gives the answer, if it is one that is answered by itself.
    fn receive(&mut self, message: Value) -> Option<Value> {
        if let Err(broken) = self.laws.check(&message) {
            self.broken.push(broken);
        }
        let method = message["method"].as_str().unwrap_or_default();
        if let (Some(result), Some(id)) = (self.answers.get(method), message.get("id")) {
            return Some(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
        if !self.ignored.iter().any(|ignored| ignored == method) {
            self.unread.push_back(message);
        }
        None
    }

    /// Takes the oldest message that fits.
    pub(super) fn take(&mut self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let index = self.unread.iter().position(fits)?;
        self.unread.remove(index)
    }

    /// What is wrong with the server's messages now that the test is over.
    pub(super) fn verdict(&self) -> Result<(), String> {
        if !self.broken.is_empty() {
            return Err(format!("the server broke the protocol: {:#?}", self.broken));
        }
        if !self.unread.is_empty() && !self.ignore_unread {
            return Err(format!("messages were left unread:\n{}", self.show()));
        }
        Ok(())
    }

    /// The unread messages, one a line, for people.
    pub(super) fn show(&self) -> String {
        self.unread.iter().map(|message| format!("  {message}\n")).collect()
    }
}
