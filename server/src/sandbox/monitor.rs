//! Podman's own process beside each container, and what it has started.
//!
//! A podman that dies while it makes a container leaves them where no other podman knows them: it removes the container
//! and takes it for one that never ran. They would live on, and hold the mounts of a workspace that the next sandbox
//! writes to.

use crate::storage;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;

/// Processes whose arguments are such.
pub(super) fn processes(fits: impl Fn(&[&str]) -> bool) -> Vec<Pid> {
    let names = storage::names_with_prefix(Path::new("/proc"), "").unwrap_or_default();
    let is_one = |pid: &i32| {
        let line = storage::read_text(Path::new(&format!("/proc/{pid}/cmdline")), 64 << 10);
        line.ok().flatten().is_some_and(|line| fits(&line.split('\0').collect::<Vec<_>>()))
    };
    names.iter().filter_map(|name| name.parse().ok()).filter(is_one).filter_map(Pid::from_raw).collect()
}

/// Ends what is left beside a container that is removed.
pub(super) fn end(id: &str) {
    let is_monitor =
        |line: &[&str]| line.first().is_some_and(|name| name.ends_with("conmon")) && line.contains(&id);
    for monitor in processes(is_monitor) {
        tracing::info!(id, "a removed container's monitor still runs, and is ended");
        // Its children first, or they would be somebody else's.
        for pid in children(monitor).into_iter().chain([monitor]) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn children(parent: Pid) -> Vec<Pid> {
    let pid = parent.as_raw_nonzero();
    let listed = storage::read_text(Path::new(&format!("/proc/{pid}/task/{pid}/children")), 64 << 10);
    let listed = listed.ok().flatten().unwrap_or_default();
    listed.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}
