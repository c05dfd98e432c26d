//! What the test's handle and the server share, and how the one waits for the other.

use super::gate::Gate;
use super::models::{self, Model};
use super::received::Received;
use super::script::Script;
use crate::deadline::within;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

pub(super) struct State {
    pub(super) script: Script,
    pub(super) requests: Vec<Received>,
    /// Requests that no test may cause by accident: unscripted or invalid ones.
    pub(super) problems: Vec<String>,
    /// HTTP requests of any kind.
    pub(super) hits: usize,
    /// Replies whose client went away before their end.
    pub(super) hangups: usize,
    pub(super) models: Vec<Model>,
    /// Everything under `/v1/models` waits here.
    pub(super) models_held: Option<Gate>,
    pub(super) key: Option<String>,
    /// Thinking that was sent out, by its signature: it must come back unchanged.
    pub(super) thinking: HashMap<String, String>,
    /// After a `pause_turn` a request may end with the assistant's message.
    pub(super) paused: bool,
}

/// The state behind its lock, with a signal at each change.
#[derive(Clone)]
pub(super) struct Shared {
    state: Arc<Mutex<State>>,
    changed: watch::Sender<()>,
}

impl Shared {
    pub(super) fn new() -> Self {
        let state = State {
            script: Script::default(),
            requests: Vec::new(),
            problems: Vec::new(),
            hits: 0,
            hangups: 0,
            models: models::known(),
            models_held: None,
            key: None,
            thinking: HashMap::new(),
            paused: false,
        };
        Self { state: Arc::new(Mutex::new(state)), changed: watch::Sender::new(()) }
    }

    /// Looks at the state or changes it, and wakes who waits.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let result = act(&mut self.lock());
        self.changed.send_replace(());
        result
    }

    /// Waits until `ready` gives something.
    pub(super) async fn wait<T>(&self, what: String, mut ready: impl FnMut(&State) -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        let event = async {
            loop {
                if let Some(value) = ready(&self.lock()) {
                    return value;
                }
                changes.changed().await.expect("the sender is in `self`");
            }
        };
        within(event, || {
            let state = self.lock();
            format!(
                "the scripted Claude waited for {what}; it has {} requests, {} hang-ups, problems: {:#?}, unused: {:#?}",
                state.requests.len(),
                state.hangups,
                state.problems,
                state.script.unused(),
            )
        })
        .await
    }

    /// A test that panicked elsewhere must still be able to look.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
