//! The numbers that Airlock promises, measured on the real binary.

mod cancel;
mod changes;
mod chunks;
mod comparison;
mod memory;
mod peers;
mod plugins;
mod sandboxes;
mod sizes;
mod start;
pub mod table;

pub use comparison::{NOT_COMPARED, compare};

use crate::airlock_binary::airlock_binary;

/// One promise and what was measured.
pub struct Measure {
    what: &'static str,
    unit: &'static str,
    /// The most that half of the samples may be; where there is an anchor, as a ratio to that.
    goal: f64,
    anchor: Option<Anchor>,
    /// Sorted.
    samples: Vec<f64>,
}

/// What else was measured in the same run, in the same unit: machines are not equally fast.
struct Anchor {
    what: &'static str,
    /// Sorted.
    samples: Vec<f64>,
}

/// Measures everything, one after the other: they share the machine.
pub async fn all() -> Vec<Measure> {
    let binary = airlock_binary();
    let mut measures =
        vec![start::initialize(binary).await, chunks::latency(binary).await, cancel::latency(binary).await];
    measures.extend(memory::resident(binary).await);
    measures.extend(plugins::all().await);
    measures.extend(sandboxes::all(binary).await);
    measures.push(changes::listing().await);
    measures.extend(sizes::all(binary).await);
    measures
}

impl Measure {
    fn new(what: &'static str, unit: &'static str, goal: f64, mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { what, unit, goal, anchor: None, samples }
    }

    /// What is promised as a ratio to something else.
    fn against(self, what: &'static str, mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { anchor: Some(Anchor { what, samples }), ..self }
    }

    /// Whether half of the samples or more meet the goal.
    pub fn passed(&self) -> bool {
        self.ratio().unwrap_or_else(|| self.percentile(50)) <= self.goal
    }

    /// The median against the anchor's.
    fn ratio(&self) -> Option<f64> {
        self.anchor.as_ref().map(|anchor| self.percentile(50) / anchor.percentile(50))
    }

    fn percentile(&self, percent: usize) -> f64 {
        percentile(&self.samples, percent)
    }
}

impl Anchor {
    fn percentile(&self, percent: usize) -> f64 {
        percentile(&self.samples, percent)
    }
}

/// Of sorted samples.
fn percentile(samples: &[f64], percent: usize) -> f64 {
    let last = samples.len().saturating_sub(1);
    samples.get((samples.len() * percent / 100).min(last)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_decides_and_nothing_measured_is_a_failure() {
        let measure = |samples: &[f64]| Measure::new("x", "ms", 2.0, samples.to_vec());
        assert!(measure(&[9.0, 1.0, 2.0]).passed());
        assert!(!measure(&[1.0, 2.5, 3.0]).passed());
        assert!(!measure(&[]).passed());
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!((measure(&hundred).percentile(50), measure(&hundred).percentile(99)), (50.0, 99.0));
    }

    #[test]
    fn where_there_is_an_anchor_the_ratio_decides() {
        let measure = |anchor: &[f64]| Measure::new("x", "ms", 0.5, vec![4.0]).against("y", anchor.to_vec());
        assert!(measure(&[9.0, 1.0, 8.0]).passed());
        assert!(!measure(&[7.0]).passed() && !measure(&[]).passed());
    }
}
