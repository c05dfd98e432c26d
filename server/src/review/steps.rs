//! How far a long review has come.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are done, of how many.
#[derive(Debug, Default)]
pub struct Steps {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Steps {
    /// There are so many.
    pub(super) fn begin(&self, all: usize) {
        self.all.store(all, Ordering::Relaxed);
    }

    /// One more is done.
    pub(super) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// For people: "120 of 4000 files are accepted".
    pub fn in_words(&self, done: &str) -> String {
        match (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed)) {
            (_, 0) => format!("what is to be {done} is being looked up"),
            (count, all) => format!("{count} of {all} files are {done}"),
        }
    }
}
