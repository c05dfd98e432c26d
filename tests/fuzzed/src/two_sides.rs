//! Two sides at once: an agent that arranges its view as it likes, also between any two system calls of the host, and a
//! host that settles, lists, accepts, rejects, undoes, closes and loads. Nothing outside is ever touched, and what the
//! host does undisturbed is what a model says that is too simple to be wrong.

mod agent;
mod merged;
mod world;

use crate::input::Input;
use agent::Action;
use std::sync::atomic::{AtomicU64, Ordering};
use world::{Operation, World};

/// A longer input says nothing more.
const STEPS_MAX: usize = 400;
/// Actions of the agent that may come between two system calls of one operation.
const TURNS_MAX: u8 = 24;

/// What was done so far in this process.
static STEPS: AtomicU64 = AtomicU64::new(0);
static OPERATIONS: AtomicU64 = AtomicU64::new(0);
static COMPARED: AtomicU64 = AtomicU64::new(0);
/// How often that is told.
const TOLD_EVERY: u64 = 1 << 18;

#[derive(Clone, Debug)]
enum Step {
    Agent(Action),
    /// With what the agent does meanwhile.
    Host(Operation, Vec<Action>),
}

impl Step {
    fn read(input: &mut Input<'_>) -> Self {
        let kind = input.byte();
        if kind < 0xc0 {
            return Self::Agent(Action::read(kind, input));
        }
        let turns = if kind & 1 == 0 { 0 } else { input.byte() % TURNS_MAX };
        let action = |_| {
            let kind = input.byte();
            Action::read(kind, input)
        };
        Self::Host(Operation::read(kind >> 1), (0..turns).map(action).collect())
    }
}

/// Does what the bytes say, on both sides.
pub fn two_sides(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut steps = Steps(Vec::new());
    let mut world = World::new();
    while !input.is_empty() && steps.0.len() < STEPS_MAX {
        let step = Step::read(&mut input);
        steps.0.push(step.clone());
        match step {
            Step::Agent(action) => world.agent().act(action),
            Step::Host(operation, turns) => {
                OPERATIONS.fetch_add(1, Ordering::Relaxed);
                COMPARED.fetch_add(u64::from(world.operate(operation, turns)), Ordering::Relaxed);
            }
        }
        let steps = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
        if steps.is_multiple_of(TOLD_EVERY) {
            let [operations, compared] = [&OPERATIONS, &COMPARED].map(|count| count.load(Ordering::Relaxed));
            eprintln!(
                "two_sides: {steps} steps, {operations} of the host, {compared} compared with the model"
            );
        }
    }
    world.check_canaries();
}

/// The steps so far. Whoever has to find out why they don't hold wants to read them.
struct Steps(Vec<Step>);

impl Drop for Steps {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.iter().for_each(|step| eprintln!("{step:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn action() -> impl Strategy<Value = Vec<u8>> {
        (0..0xc0u8, any::<u8>(), any::<u8>()).prop_map(|(kind, path, other)| vec![kind, path, other])
    }

    fn step() -> impl Strategy<Value = Vec<u8>> {
        let turns = proptest::collection::vec(action(), 0..usize::from(TURNS_MAX));
        let disturbed = (0xc0..=0xffu8, turns).prop_map(|(kind, turns)| {
            let count = u8::try_from(turns.len()).unwrap();
            [vec![kind | 1, count], turns.concat()].concat()
        });
        prop_oneof![5 => action(), 2 => (0xc0..=0xffu8).prop_map(|kind| vec![kind & !1]), 1 => disturbed]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_steps_of_both_sides_touch_nothing_outside(steps in proptest::collection::vec(step(), 1..60)) {
            two_sides(&steps.concat());
        }
    }
}
