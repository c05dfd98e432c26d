//! What runs on after its command has ended.

use super::processes::marked;
use crate::words::Job;
use std::sync::{Mutex, PoisonError};

/// Calls that left something running, with the log of those that were started in the background.
#[derive(Default)]
pub(super) struct Jobs(Mutex<Vec<(String, Option<String>)>>);

impl Jobs {
    /// Remembers a call if it has left something running.
    pub(super) fn remember(&self, call: &str) {
        if !marked(call).is_empty() {
            self.add(call, None);
        }
    }

    /// Remembers a call that was started in the background.
    pub(super) fn add(&self, call: &str, log: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((call.to_owned(), log));
    }

    /// What runs now. Calls of which nothing is left are forgotten.
    pub(super) fn running(&self) -> Vec<Job> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = Vec::new();
        calls.retain(|(call, log)| {
            let jobs = jobs_of(call, log.as_ref());
            let alive = !jobs.is_empty();
            running.extend(jobs);
            alive
        });
        running
    }
}

fn jobs_of(call: &str, log: Option<&String>) -> Vec<Job> {
    let job = |(pid, command): (rustix::process::Pid, String)| Job {
        pid: pid.as_raw_pid() as u32,
        command,
        log: log.cloned(),
    };
    marked(call).into_iter().map(job).collect()
}
