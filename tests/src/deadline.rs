//! Every wait of a test has an end. No test sleeps: it waits for an event, and this is how long at most.

use std::sync::OnceLock;
use std::time::Duration;

/// Generous, because a machine may be busy; only a test that fails anyway waits this long.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The deadline on this machine: an emulated one is slower, and says so in `AIRLOCK_TEST_DEADLINE_S`.
pub fn deadline() -> Duration {
    static SECONDS: OnceLock<Option<u64>> = OnceLock::new();
    let told = || std::env::var("AIRLOCK_TEST_DEADLINE_S").ok()?.parse().ok();
    SECONDS.get_or_init(told).map_or(DEADLINE, Duration::from_secs)
}

/// Waits for `event`, or panics and says what never came.
pub async fn within<T>(event: impl Future<Output = T>, missed: impl FnOnce() -> String) -> T {
    match tokio::time::timeout(deadline(), event).await {
        Ok(value) => value,
        Err(_) => panic!("{} (waited {} s)", missed(), deadline().as_secs()),
    }
}
