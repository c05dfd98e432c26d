//! Every wait of a test has an end. No test sleeps: it waits for an event, and this is how long at most.

use std::time::Duration;

/// Generous, because a machine may be busy; only a test that fails anyway waits this long.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Waits for `event`, or panics and says what never came.
pub async fn within<T>(event: impl Future<Output = T>, missed: impl FnOnce() -> String) -> T {
    match tokio::time::timeout(DEADLINE, event).await {
        Ok(value) => value,
        Err(_) => panic!("{} (waited {} s)", missed(), DEADLINE.as_secs()),
    }
}
