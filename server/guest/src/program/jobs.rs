//! What runs on after its command has ended.

use super::processes::marked;
use crate::words::Job;
use std::sync::{Mutex, PoisonError};

/// Calls that left something running.
#[derive(Default)]
pub(super) struct Jobs(Mutex<Vec<Left>>);

struct Left {
    call: String,
    /// The command that it was called with.
    command: String,
    /// Where its output goes, if it was started in the background.
    log: Option<String>,
}

impl Jobs {
    /// Remembers a call that may have left something running.
    pub(super) fn add(&self, call: String, command: String, log: Option<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Left { call, command, log });
    }

    /// What runs now. Calls of which nothing is left are forgotten.
    pub(super) fn running(&self) -> Vec<Job> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = Vec::new();
        calls.retain(|left| {
            let jobs = left.jobs();
            let alive = !jobs.is_empty();
            running.extend(jobs);
            alive
        });
        running
    }
}

impl Left {
    fn jobs(&self) -> Vec<Job> {
        let job = |(pid, program): (rustix::process::Pid, Option<String>)| Job {
            pid: pid.as_raw_pid() as u32,
            command: shortened(program.unwrap_or_else(|| self.command.clone())),
            log: self.log.clone(),
        };
        marked(&self.call).into_iter().map(job).collect()
    }
}

fn shortened(mut command: String) -> String {
    const SHOWN_MAX_BYTES: usize = 200;
    if command.len() > SHOWN_MAX_BYTES {
        command.truncate(command.floor_char_boundary(SHOWN_MAX_BYTES));
        command.push('…');
    }
    command
}
