//! A point in a reply where the stream waits until the test lets it go on.

use crate::deadline::within;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::sync::watch;

/// Shared between the test and the reply; clones are the same gate. Once open it stays open.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    open: watch::Sender<bool>,
    reached: watch::Sender<bool>,
    left: OnceLock<Instant>,
}

impl Gate {
    /// A closed gate.
    #[allow(clippy::new_without_default, reason = "a gate is never a default of anything")]
    pub fn new() -> Self {
        let (open, reached) = (watch::Sender::new(false), watch::Sender::new(false));
        Self(Arc::new(Ends { open, reached, left: OnceLock::new() }))
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until the stream stands before the gate: everything before it has been given to the connection.
    pub async fn reached(&self) {
        within(is_true(&self.0.reached), || "no reply reached the gate".to_owned()).await;
    }

    /// When the bytes behind the gate were given to the connection.
    pub fn left_at(&self) -> Option<Instant> {
        self.0.left.get().copied()
    }

    /// The stream's side: the bytes behind the gate are given to the connection now.
    pub(super) fn leave(&self) {
        let _ = self.0.left.set(Instant::now());
    }

    /// The stream's side: says that it is here, and waits.
    pub(super) async fn pass(&self) {
        self.0.reached.send_replace(true);
        is_true(&self.0.open).await;
    }
}

async fn is_true(flag: &watch::Sender<bool>) {
    flag.subscribe().wait_for(|set| *set).await.expect("the sender lives as long as the gate");
}
