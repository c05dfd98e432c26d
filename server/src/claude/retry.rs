//! When to try again: a pure policy. The jitter is a parameter, so that every case is a test.

use super::failure::{Failure, Retry};
use crate::limits::RETRY_AFTER_MAX_MS;
use std::time::Duration;

const FIRST_DELAY_MS: f64 = 500.0;
const LONGEST_DELAY_MS: f64 = 8_000.0;

/// How long to wait before try number `attempt` (0 is the first retry); `None`: give up.
///
/// `jitter` is between 0 and 1.
pub fn delay(failure: &Failure, attempt: u32, retries_max: u32, jitter: f64) -> Option<Duration> {
    if attempt >= retries_max {
        return None;
    }
    match failure.retry {
        Retry::Never => None,
        Retry::After(asked) if asked.as_millis() <= u128::from(RETRY_AFTER_MAX_MS) => Some(asked),
        Retry::After(_) | Retry::Backoff => {
            let exponential = (FIRST_DELAY_MS * 2f64.powi(attempt.min(16) as i32)).min(LONGEST_DELAY_MS);
            Some(Duration::from_secs_f64(exponential * (0.75 + 0.25 * jitter.clamp(0.0, 1.0)) / 1000.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_to_eight_seconds_and_ends() {
        let failure = Failure::passing("x");
        let waits: Vec<_> = (0..7).map_while(|attempt| delay(&failure, attempt, 6, 1.0)).collect();
        let seconds: Vec<f64> = waits.iter().map(Duration::as_secs_f64).collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
        assert_eq!(delay(&failure, 0, 6, 0.0), Some(Duration::from_millis(375)));
    }

    #[test]
    fn the_server_is_obeyed_up_to_a_minute() {
        let asked =
            |seconds| Failure { retry: Retry::After(Duration::from_secs(seconds)), ..Failure::passing("x") };
        assert_eq!(delay(&asked(60), 0, 8, 0.5), Some(Duration::from_secs(60)));
        assert_eq!(delay(&asked(61), 0, 8, 1.0), Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_is_final_is_not_tried_again() {
        assert_eq!(delay(&Failure::lasting("x"), 0, 8, 0.5), None);
    }
}
