//! Podman's own process beside each container, and what it has started.
//!
//! A podman that dies while it makes a container leaves them where no other podman knows them: it removes the container
//! and takes it for one that never ran. They would live on, and hold the mounts of a workspace that the next sandbox
//! writes to.

use crate::storage;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::time::Duration;

/// Processes whose arguments are such.
pub(super) fn processes(fits: impl Fn(&[&str]) -> bool) -> Vec<Pid> {
    all().filter(|pid| fits(&read(*pid, "cmdline").split('\0').collect::<Vec<_>>())).collect()
}

/// How often what is left is looked for, and how long in between what was killed may take to be gone.
const ROUNDS_MAX: usize = 40;
const ROUND: Duration = Duration::from_millis(5);

/// Ends what is left beside a container that is removed.
pub(super) async fn end(id: &str) {
    let id = id.to_owned();
    // It waits for what it kills, away from the threads that serve everybody.
    if let Err(error) = tokio::task::spawn_blocking(move || end_all(&id)).await {
        tracing::error!(%error, "what is left beside a container cannot be ended");
    }
}

fn end_all(id: &str) {
    let is_monitor =
        |line: &[&str]| line.first().is_some_and(|name| name.ends_with("conmon")) && line.contains(&id);
    for monitor in processes(is_monitor) {
        tracing::info!(id, "a removed container's monitor still runs, and is ended");
        // It must not end before what it has started: that would be nobody's then. What has lost its parent is its own.
        signal(monitor, Signal::STOP);
        until_gone(|| below(monitor));
        signal(monitor, Signal::KILL);
    }
    until_gone(|| in_control_group(id));
}

/// Kills these until there are no more: one may start another while it is killed.
fn until_gone(find: impl Fn() -> Vec<Pid>) {
    for _ in 0..ROUNDS_MAX {
        let left = find();
        if left.is_empty() {
            return;
        }
        left.into_iter().for_each(|pid| signal(pid, Signal::KILL));
        std::thread::sleep(ROUND);
    }
}

/// It may have ended by itself meanwhile.
fn signal(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

/// What a process has started, and what that has, as far as it lives.
fn below(parent: Pid) -> Vec<Pid> {
    let mut found = children(parent);
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(pid));
        next += 1;
    }
    found.retain(|pid| lives(*pid));
    found
}

/// What lives in a container's own control group. Its monitor has another one.
fn in_control_group(id: &str) -> Vec<Pid> {
    let group = format!("libpod-{id}");
    let is_in = |pid: &Pid| {
        let told = read(*pid, "cgroup");
        told.split(['/', '\n', '.']).any(|name| name == group) && lives(*pid)
    };
    all().filter(is_in).collect()
}

fn lives(pid: Pid) -> bool {
    // `11678 (runc:[2:INIT]) S 1 …`
    let stat = read(pid, "stat");
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

fn children(parent: Pid) -> Vec<Pid> {
    let listed = read(parent, &format!("task/{}/children", parent.as_raw_nonzero()));
    listed.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

/// Every process there is.
fn all() -> impl Iterator<Item = Pid> {
    let names = storage::names_with_prefix(Path::new("/proc"), "").unwrap_or_default();
    names.into_iter().filter_map(|name| Pid::from_raw(name.parse().ok()?))
}

/// What the system tells of a process; nothing of one that is gone.
fn read(pid: Pid, file: &str) -> String {
    let place = format!("/proc/{}/{file}", pid.as_raw_nonzero());
    storage::read_text(Path::new(&place), 64 << 10).ok().flatten().unwrap_or_default()
}
