//! Starts processes and waits for them, and for orphans that nobody else waits for.
//!
//! The guest is the last parent of everything that runs in the sandbox. One thread collects whatever ends: a child
//! that somebody waits for is handed to that waiter, anything else just goes.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, waitid};
use std::collections::HashMap;
use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;

/// The processes of the sandbox.
#[derive(Clone)]
pub(super) struct Processes(Arc<Shared>);

struct Shared {
    known: Mutex<Known>,
    /// Something was started.
    started: Condvar,
}

#[derive(Default)]
struct Known {
    waiters: HashMap<i32, oneshot::Sender<Ended>>,
    /// How many are being started, whose numbers nobody knows yet.
    starting: usize,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

/// A process that was started.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) ended: oneshot::Receiver<Ended>,
}

/// The variable that marks every process of a call, also those that left its process group.
pub(super) const MARK: &str = "AIRLOCK_CALL";

/// What is started is bash, and where it is started is the workspace.
const MISSING: &str =
    "there is no bash in the sandbox, so no command can run: it takes an image that has one";

impl Processes {
    /// The processes of this program: there is one reaper, for it collects whatever ends.
    pub(super) fn of_program() -> Self {
        static PROCESSES: OnceLock<Processes> = OnceLock::new();
        PROCESSES.get_or_init(Self::with_reaper).clone()
    }

    fn with_reaper() -> Self {
        // Orphans come to us and not to the init above, if there is one. Fails only on kernels too old for all this.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let shared = Arc::new(Shared { known: Mutex::default(), started: Condvar::new() });
        let reaper = Arc::clone(&shared);
        std::thread::spawn(move || reaper.reap());
        Self(shared)
    }

    /// Starts a process. Meanwhile others are waited for as ever: a start takes as long as a quick command.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<Started> {
        self.0.known().starting += 1;
        let spawned = command.spawn();
        let mut known = self.0.known();
        known.starting -= 1;
        self.0.started.notify_one();
        let child = spawned.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::other(MISSING),
            _ => error,
        })?;
        die_first(child.id());
        let (sender, ended) = oneshot::channel();
        known.waiters.insert(child.id() as i32, sender);
        Ok(Started { child, ended })
    }

    /// Whether there may be processes whose parents have ended. They are children of the first thread, which nobody
    /// waits for.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn may_have_orphans(&self) -> bool {
        let known = self.0.known();
        let first_thread = std::process::id();
        match std::fs::read_to_string(format!("/proc/self/task/{first_thread}/children")) {
            Ok(children) => children
                .split_whitespace()
                .any(|child| child.parse().is_ok_and(|child: i32| !known.waiters.contains_key(&child))),
            // A kernel that does not tell.
            Err(_) => true,
        }
    }
}

impl Shared {
    fn reap(&self) {
        loop {
            match some_child_ended() {
                Ok(()) => self.collect(),
                Err(rustix::io::Errno::INTR) => {}
                // No children: wait until there is one.
                Err(_) => {
                    let known = self.known();
                    if known.waiters.is_empty() {
                        drop(self.started.wait(known));
                    }
                }
            }
        }
    }

    /// Collects what has ended. What nobody waits for may be a child that is just being started, and that is not ours to
    /// collect: the standard library waits itself for a child that could not become its program.
    fn collect(&self) {
        let mut known = self.known();
        let ended = known.waiters.keys().find_map(|child| {
            let waited = rustix::process::waitpid(Pid::from_raw(*child), WaitOptions::NOHANG);
            waited.ok().flatten().map(|(_, status)| (*child, status))
        });
        if let Some((child, status)) = ended {
            if let Some(waiter) = known.waiters.remove(&child) {
                // Nobody may be waiting any more.
                let _ = waiter.send(Ended::of(status));
            }
        } else if known.starting > 0 {
            drop(self.started.wait(known));
        } else {
            let _ = rustix::process::wait(WaitOptions::NOHANG);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where memory runs out, the kernel kills what is marked like this, and what it starts, before the guest. A process that
/// holds little itself may be to blame: memory in files belongs to nobody. The child waits for its command, so nothing ran
/// before this; and where it has already ended, or the kernel has no such file, there is nothing to mark.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn die_first(child: u32) {
    let _ = std::fs::write(format!("/proc/{child}/oom_score_adj"), "1000");
}

/// Waits until some child has ended, and leaves it to be collected.
fn some_child_ended() -> rustix::io::Result<()> {
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map(drop)
}

impl Ended {
    fn of(status: WaitStatus) -> Self {
        Self { code: status.exit_status(), signal: status.terminating_signal() }
    }
}

/// Kills a call's process group and everything that carries its mark.
pub(super) fn kill_call(group: u32, call: &str) {
    // New processes may appear while the old ones are killed; a fork bomb is the control group's business.
    const ROUNDS: usize = 5;
    if let Some(group) = Pid::from_raw(group as i32) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    for _ in 0..ROUNDS {
        let left = marked(call);
        if left.is_empty() {
            return;
        }
        for (pid, _) in left {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

/// The living processes that carry a call's mark, with what they run; `None` for a bash of ours and its subshells.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
pub(super) fn marked(call: &str) -> Vec<(Pid, Option<String>)> {
    let mark = format!("{MARK}={call}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let carries = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let named = pids.filter(carries).filter_map(|pid| Some((Pid::from_raw(pid)?, program(pid))));
    named.collect()
}

#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn program(pid: i32) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
    let ours = matches!(words.as_slice(), ["bash", "--noprofile", "--norc", "-c", _, "bash"]);
    (!ours).then(|| words.join(" "))
}
