//! A tool's way to ask the user for something that only the user can give.

use futures::future::BoxFuture;
use std::sync::Arc;

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentQuestion {
    /// The question in one line.
    pub title: String,
    /// Everything that the answer binds to, whole.
    pub detail: String,
}

/// Asks, and brings the answer.
type Ask = dyn Fn(ConsentQuestion) -> BoxFuture<'static, bool> + Send + Sync;

/// A way to ask the user.
#[derive(Clone)]
pub struct Consent(Option<Arc<Ask>>);

impl Consent {
    /// Asks like this.
    pub fn new(ask: impl Fn(ConsentQuestion) -> BoxFuture<'static, bool> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(ask)))
    }

    /// Nobody is there to ask, which is a refusal.
    pub fn nobody() -> Self {
        Self(None)
    }

    /// Whether the user agrees.
    pub async fn ask(&self, question: ConsentQuestion) -> bool {
        match &self.0 {
            Some(ask) => ask(question).await,
            None => false,
        }
    }
}
