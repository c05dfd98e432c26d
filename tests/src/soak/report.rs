//! What is told at the end of a soak.

use super::rest::{Rest, ends};
use std::fmt;
use std::time::Duration;

/// What came of a soak.
pub struct Outcome {
    pub(super) seed: u64,
    pub(super) took: Duration,
    pub(super) counts: Vec<(&'static str, usize)>,
    pub(super) rests: (Vec<Rest>, Duration),
    /// What did not hold, a line each.
    pub faults: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = format!("{:.1}", self.took.as_secs_f64() / 60.0);
        let mut rows = vec![("minutes", minutes)];
        rows.extend(self.counts.iter().map(|(what, count)| (*what, count.to_string())));
        let (rests, warm_up) = &self.rests;
        if let (Some(start), Some(end)) = ends(rests, *warm_up) {
            let mib = |rest: &Rest| format!("{:.1} MiB", rest.memory_kib as f64 / 1024.0);
            let handles = |rest: &Rest| rest.handles.values().sum::<usize>().to_string();
            rows.push(("memory at the start", mib(&start)));
            rows.push(("memory at the end", mib(&end)));
            let ratio = end.memory_kib as f64 / start.memory_kib as f64;
            rows.push(("the end against the start", format!("{ratio:.3} ×")));
            rows.push(("handles at the start", handles(&start)));
            rows.push(("handles at the end", handles(&end)));
            rows.push(("threads at the start", start.threads.to_string()));
            rows.push(("threads at the end", end.threads.to_string()));
        }
        rows.push(("seed", self.seed.to_string()));
        for (what, value) in rows {
            writeln!(formatter, "| {what:26} | {value:>20} |")?;
        }
        for fault in &self.faults {
            writeln!(formatter, "FAIL: {fault}")?;
        }
        Ok(())
    }
}
