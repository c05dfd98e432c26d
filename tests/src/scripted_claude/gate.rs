//! A point in a reply where the stream waits until the test lets it go on.

use crate::deadline::within;
use std::sync::Arc;
use tokio::sync::watch;

/// Shared between the test and the reply; clones are the same gate. Once open it stays open.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Ends>);

#[derive(Debug)]
struct Ends {
    open: watch::Sender<bool>,
    reached: watch::Sender<bool>,
}

impl Gate {
    /// A closed gate.
    #[allow(clippy::new_without_default, reason = "a gate is never a default of anything")]
    pub fn new() -> Self {
        Self(Arc::new(Ends { open: watch::Sender::new(false), reached: watch::Sender::new(false) }))
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until the stream stands before the gate: everything before it has been given to the connection.
    pub async fn reached(&self) {
        within(is_true(&self.0.reached), || "no reply reached the gate".to_owned()).await;
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
