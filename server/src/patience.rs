//! Work that may take long: who waits for it longer than a moment is told what for, and again from time to time.

use crate::limits::{PATIENCE_AGAIN_MS, PATIENCE_MS};
use std::time::Duration;

/// Does it, and tells meanwhile. Work that is quick is never told of.
pub async fn patiently<T, Told: Future<Output = ()>>(
    work: impl Future<Output = T>,
    mut tell: impl FnMut() -> Told,
) -> T {
    tokio::pin!(work);
    let mut moment = Duration::from_millis(PATIENCE_MS);
    loop {
        match tokio::time::timeout(moment, &mut work).await {
            Ok(done) => return done,
            Err(_) => tell().await,
        }
        moment = Duration::from_millis(PATIENCE_AGAIN_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    async fn told_during(work_ms: u64) -> usize {
        let told = Cell::new(0);
        let work = async {
            tokio::time::sleep(Duration::from_millis(work_ms)).await;
            "done"
        };
        let tell = || {
            told.set(told.get() + 1);
            std::future::ready(())
        };
        assert_eq!(patiently(work, tell).await, "done");
        told.get()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_quick_is_not_told_and_what_is_not_is_told_again_and_again() {
        assert_eq!(told_during(0).await, 0);
        assert_eq!(told_during(PATIENCE_MS - 1).await, 0);
        assert_eq!(told_during(PATIENCE_MS + 1).await, 1);
        assert_eq!(told_during(PATIENCE_MS + 3 * PATIENCE_AGAIN_MS + 1).await, 4);
    }
}
