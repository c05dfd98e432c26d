//! The numbers that Airlock promises, measured on the real binary.

mod changes;
mod chunks;
mod memory;
mod plugins;
mod sandboxes;
mod start;
pub mod table;

/// One promise and what was measured.
pub struct Measure {
    what: &'static str,
    unit: &'static str,
    /// `None`: it depends on the machine, and is only told.
    goal: Option<f64>,
    /// Sorted.
    samples: Vec<f64>,
}

/// Measures everything, one after the other: they share the machine.
pub async fn all() -> Vec<Measure> {
    let mut measures = vec![start::initialize().await, chunks::latency().await];
    measures.extend(memory::resident().await);
    measures.extend(plugins::all().await);
    measures.extend(sandboxes::all().await);
    measures.push(changes::listing().await);
    measures
}

impl Measure {
    fn new(what: &'static str, unit: &'static str, goal: f64, mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { what, unit, goal: Some(goal), samples }
    }

    /// What depends on the machine. What is promised stands in another line, against a yardstick of the same run.
    fn told(what: &'static str, unit: &'static str, samples: Vec<f64>) -> Self {
        Self { goal: None, ..Self::new(what, unit, f64::NAN, samples) }
    }

    /// Whether half of the samples or more meet the goal.
    pub fn passed(&self) -> bool {
        let median = self.percentile(50);
        self.goal.map_or(!median.is_nan(), |goal| median <= goal)
    }

    fn percentile(&self, percent: usize) -> f64 {
        let last = self.samples.len().saturating_sub(1);
        self.samples.get((self.samples.len() * percent / 100).min(last)).copied().unwrap_or(f64::NAN)
    }
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
        assert!(Measure::told("x", "ms", vec![9.0]).passed() && !Measure::told("x", "ms", vec![]).passed());
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!((measure(&hundred).percentile(50), measure(&hundred).percentile(99)), (50.0, 99.0));
    }
}
