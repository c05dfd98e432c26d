//! The moment between two rounds: no session is open, nothing is in work. What is there now should be there always.

use super::Plan;
use super::world::{World, temporary_folder};
use crate::traces;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

/// How long the server may take to come to rest.
const SETTLE_MAX: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const SAMPLES: usize = 7;
/// Handles of a kind that one rest may have more than another: what watched the workspace ends a little after its last
/// session.
const COMING_AND_GOING: usize = 1;
/// Rests that decide together, at the beginning and at the end.
const TOGETHER: usize = 3;

/// What was seen at one.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    pub(super) at: Duration,
    /// The median of several looks.
    pub(super) memory_kib: u64,
    pub(super) handles: Handles,
    pub(super) threads: usize,
}

/// Open handles: what each leads to, and how often.
pub(super) type Handles = BTreeMap<String, usize>;

impl fmt::Display for Rest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mib, handles) = (self.memory_kib as f64 / 1024.0, self.handles.values().sum::<usize>());
        let at = self.at.as_secs_f64() / 60.0;
        write!(formatter, "{at:5.1} min: {mib:.1} MiB, {handles} handles, {} threads", self.threads)
    }
}

/// Waits until the server rests, and looks. What does not go away is a fault.
pub(super) async fn rest(world: &World, begun: Instant) -> Rest {
    // Connections that wait for the next request are no leak; without them every rest is the same.
    world.claude.listen_again().await;
    let settled = Instant::now();
    loop {
        let left = left(world).await;
        if left.is_empty() {
            break;
        }
        if settled.elapsed() > SETTLE_MAX {
            left.into_iter().for_each(|what| world.fault(format!("{what}, though every session is closed")));
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    for message in world.editor.take_all(|_| true) {
        world.fault(format!("a message that nobody expects: {message}"));
    }
    let (mut memory, mut looks) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        tokio::time::sleep(LOOK_EVERY).await;
        memory.push(status(world.server(), "VmRSS:"));
        looks.push(handles(world.server()));
    }
    memory.sort_unstable();
    // What is open for a moment only is no leak.
    let fewest = looks.into_iter().min_by_key(|handles| handles.values().sum::<usize>());
    Rest {
        at: begun.elapsed(),
        memory_kib: memory[SAMPLES / 2],
        handles: fewest.expect("some looks"),
        threads: status(world.server(), "Threads:") as usize,
    }
}

/// What is there and should not be, a line each.
async fn left(world: &World) -> Vec<String> {
    let (home, server) = (world.home(), world.server());
    let mut left = Vec::new();
    left.extend(traces::children(server).into_iter().map(|child| format!("the server has a child: {child}")));
    let others = traces::processes(home).into_iter().filter(|(pid, _)| pid.cast_unsigned() != server);
    left.extend(others.map(|(pid, what)| format!("the process {pid} is left: {what}")));
    left.extend(traces::mounts(home).into_iter().map(|mount| format!("a mount is left: {mount}")));
    let folders = traces::service_folders(home).into_iter().chain(traces::entries(temporary_folder(home)));
    left.extend(folders.map(|path| format!("{} is left", path.display())));
    for session in traces::entries(home.state().join("airlock/sandboxes")) {
        let used = ["work", "owner"].into_iter().map(|name| session.join(name)).filter(|path| path.exists());
        left.extend(used.map(|path| format!("{} is left", path.display())));
    }
    // Last, for podman is slow: only when nothing else is left.
    if left.is_empty() {
        let containers = traces::containers(server).await.into_iter();
        left.extend(containers.map(|(id, session)| format!("the container {id} of {session} is left")));
    }
    left
}

/// Compares the last rests with those after the warm-up.
pub(super) fn judge(world: &World, plan: &Plan, rests: &[Rest]) {
    let (Some(start), Some(end)) = ends(rests, plan.warm_up) else { return };
    if end.memory_kib as f64 > start.memory_kib as f64 * plan.memory_growth_max {
        let (from, to) = (start.memory_kib, end.memory_kib);
        let most = plan.memory_growth_max;
        world.fault(format!("memory grew from {from} KiB to {to} KiB, which is more than {most} ×"));
    }
    for (what, count) in &end.handles {
        let before = start.handles.get(what).copied().unwrap_or(0);
        if *count > before + COMING_AND_GOING {
            world.fault(format!("handles that lead to {what} grew from {before} to {count}"));
        }
    }
}

/// The rest that stands for the beginning, and the one for the end: of each three the one with the middle memory.
pub(super) fn ends(rests: &[Rest], warm_up: Duration) -> (Option<Rest>, Option<Rest>) {
    let warm = rests.iter().position(|rest| rest.at >= warm_up).unwrap_or(0);
    let rests = &rests[warm..];
    let together = TOGETHER.min(rests.len().div_ceil(2));
    (middle(&rests[..together]), middle(&rests[rests.len() - together..]))
}

fn middle(rests: &[Rest]) -> Option<Rest> {
    let mut rests = rests.to_vec();
    rests.sort_by_key(|rest| rest.memory_kib);
    rests.get(rests.len() / 2).cloned()
}

fn status(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel tells it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Numbers in names are left out, so that one pipe is like the other.
fn handles(pid: u32) -> Handles {
    let mut handles = Handles::new();
    for handle in traces::entries(format!("/proc/{pid}/fd").into()) {
        if let Ok(target) = fs::read_link(handle) {
            let target = target.to_string_lossy();
            let name = if target.starts_with('/') { &target } else { target.split('[').next().unwrap_or("") };
            *handles.entry(name.to_owned()).or_default() += 1;
        }
    }
    handles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(minute: u64, memory_kib: u64) -> Rest {
        Rest { at: Duration::from_secs(60 * minute), memory_kib, handles: Handles::new(), threads: 1 }
    }

    #[test]
    fn what_comes_before_the_warm_up_does_not_count_and_one_rest_alone_does_not_decide() {
        let rests: Vec<Rest> = [1, 9, 20, 30, 25, 21, 22, 90, 23]
            .iter()
            .zip(0..)
            .map(|(kib, minute)| rest(minute, *kib))
            .collect();
        let (start, end) = ends(&rests, Duration::from_secs(120));
        assert_eq!((start.unwrap().memory_kib, end.unwrap().memory_kib), (25, 23));
        let (start, end) = ends(&rests[..1], Duration::from_secs(120));
        assert_eq!((start.unwrap().memory_kib, end.unwrap().memory_kib), (1, 1));
    }
}
