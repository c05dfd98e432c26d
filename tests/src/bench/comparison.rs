//! The same measures with two builds of the binary: this tree's, and one of an earlier commit.
//!
//! Both run in turns (A B B A A B ...), so that a machine that slows down or speeds up meanwhile does the same to both.
//! Every round starts new processes, because one process may be lucky with its memory. The median of the samples of all
//! rounds decides. There is no floor for small medians: more samples make them comparable.

use super::{Measure, cancel, changes, chunks, memory, sandboxes, sizes, start};
use crate::airlock_binary::airlock_binary;
use std::path::Path;

/// The most that a median may be of the earlier one's.
pub(super) const RATIO_MAX: f64 = 1.1;
/// An even number, so that each side goes first equally often.
const ROUNDS: usize = 8;

/// Measures that call this tree's library can't run another build's code.
pub const NOT_COMPARED: &str = "Not compared, because they call this tree's code in the bench's own process: plugins, \
    and commands, starts and lists without a server. A session's start, a round with a command and a list are compared \
    as a client sees them.";

/// Whose code was measured.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Now,
    Before,
}

/// Both builds.
struct Builds<'a> {
    now: &'a Path,
    before: &'a Path,
}

/// Measures this tree's binary against an earlier one.
pub async fn compare(before: &Path) -> Vec<Measure> {
    let builds = Builds { now: airlock_binary(), before };
    let mut measures = builds.in_turns(ROUNDS, async |binary| [start::initialize(binary).await]).await;
    measures.extend(builds.in_turns(ROUNDS, async |binary| [chunks::latency(binary).await]).await);
    measures.extend(builds.in_turns(ROUNDS, async |binary| [cancel::latency(binary).await]).await);
    measures.extend(builds.in_turns(ROUNDS, memory::resident).await);
    measures.extend(builds.in_turns(ROUNDS, sandboxes::through_the_server).await);
    measures.extend(builds.in_turns(ROUNDS, async |binary| [sandboxes::flood(binary).await]).await);
    measures.extend(builds.in_turns(ROUNDS, changes::through_the_server).await);
    // A size is the same each time.
    measures.extend(builds.in_turns(1, sizes::all).await);
    measures
}

impl Builds<'_> {
    async fn in_turns<const N: usize>(
        &self,
        rounds: usize,
        measure: impl AsyncFn(&Path) -> [Measure; N],
    ) -> Vec<Measure> {
        let mut runs = Vec::new();
        for round in 0..rounds {
            let order = if round % 2 == 0 { [Side::Now, Side::Before] } else { [Side::Before, Side::Now] };
            for side in order {
                let binary = match side {
                    Side::Now => self.now,
                    Side::Before => self.before,
                };
                runs.extend(measure(binary).await.map(|measured| (side, measured)));
            }
        }
        judged(&runs)
    }
}

/// A line per measure, whichever side has it. One that a side doesn't have has no samples there, and fails.
fn judged(runs: &[(Side, Measure)]) -> Vec<Measure> {
    let samples = |side: Side, what: &str| {
        let of_side = runs.iter().filter(|(of, measure)| *of == side && measure.what == what);
        of_side.flat_map(|(_, measure)| measure.samples.iter().copied()).collect()
    };
    let mut judged: Vec<Measure> = Vec::new();
    for (_, Measure { what, unit, .. }) in runs {
        if judged.iter().all(|known| known.what != *what) {
            let ours = Measure::new(what, unit, RATIO_MAX, samples(Side::Now, what));
            judged.push(ours.against("before", samples(Side::Before, what)));
        }
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(side: Side, what: &'static str, samples: &[f64]) -> (Side, Measure) {
        // The goal of a measure by itself decides nothing here.
        (side, Measure::new(what, "ms", 0.0, samples.to_vec()))
    }

    fn verdict(runs: &[(Side, Measure)]) -> Vec<(&'static str, bool)> {
        judged(runs).iter().map(|measure| (measure.what, measure.passed())).collect()
    }

    #[test]
    fn a_median_of_all_rounds_that_is_more_than_a_tenth_worse_fails() {
        let now = |median: f64| {
            verdict(&[
                run(Side::Now, "x", &[1.0, median]),
                run(Side::Before, "x", &[1.0, 100.0]),
                run(Side::Before, "x", &[100.0, 900.0]),
                run(Side::Now, "x", &[median, 900.0]),
            ])
        };
        assert_eq!(now(110.0), [("x", true)]);
        assert_eq!(now(50.0), [("x", true)]);
        assert_eq!(now(111.0), [("x", false)]);
    }

    #[test]
    fn the_99th_percentile_fails_nothing() {
        let runs = [run(Side::Now, "x", &[1.0, 1.0, 900.0]), run(Side::Before, "x", &[1.0, 1.0, 1.0])];
        assert_eq!(verdict(&runs), [("x", true)]);
    }

    #[test]
    fn what_only_one_side_has_or_has_no_samples_for_fails() {
        let runs = [
            run(Side::Now, "only now", &[1.0]),
            run(Side::Before, "only before", &[1.0]),
            run(Side::Now, "nothing now", &[]),
            run(Side::Before, "nothing now", &[1.0]),
            run(Side::Now, "nothing before", &[1.0]),
            run(Side::Before, "nothing before", &[]),
        ];
        let failed = ["only now", "only before", "nothing now", "nothing before"].map(|what| (what, false));
        assert_eq!(verdict(&runs), failed);
    }

    #[tokio::test]
    async fn both_builds_run_in_turns_and_each_goes_first_equally_often() {
        let builds = Builds { now: Path::new("A"), before: Path::new("B") };
        let order = std::sync::Mutex::new(String::new());
        let measure = async |binary: &Path| {
            order.lock().expect("nobody panicked").push_str(binary.to_str().expect("a letter"));
            [Measure::new("x", "ms", 0.0, vec![1.0])]
        };
        let measures = builds.in_turns(4, measure).await;
        assert_eq!(*order.lock().expect("nobody panicked"), "ABBAABBA");
        assert_eq!((measures.len(), measures[0].samples.len()), (1, 4));
    }
}
