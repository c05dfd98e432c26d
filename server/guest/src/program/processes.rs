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
    waiters: Mutex<HashMap<i32, oneshot::Sender<Ended>>>,
    started: Condvar,
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
        let shared = Arc::new(Shared { waiters: Mutex::default(), started: Condvar::new() });
        let reaper = Arc::clone(&shared);
        std::thread::spawn(move || reaper.reap());
        Self(shared)
    }

    /// Starts a process.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<Started> {
        // The reaper cannot hand over an end before the waiter is known.
        let mut waiters = self.0.waiters();
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::other(MISSING),
            _ => error,
        })?;
        let (sender, ended) = oneshot::channel();
        waiters.insert(child.id() as i32, sender);
        self.0.started.notify_one();
        Ok(Started { child, ended })
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
                    let waiters = self.waiters();
                    if waiters.is_empty() {
                        drop(self.started.wait(waiters));
                    }
                }
            }
        }
    }

    /// Under the lock, so that nothing is collected while a process is being started: the standard library waits
    /// itself for a child that could not become its program.
    fn collect(&self) {
        let mut waiters = self.waiters();
        if let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG)
            && let Some(waiter) = waiters.remove(&pid.as_raw_pid())
        {
            // Nobody may be waiting any more.
            let _ = waiter.send(Ended::of(status));
        }
    }

    fn waiters(&self) -> MutexGuard<'_, HashMap<i32, oneshot::Sender<Ended>>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// The living processes that carry a call's mark, with what they run.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
pub(super) fn marked(call: &str) -> Vec<(Pid, String)> {
    let mark = format!("{MARK}={call}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let carries = |pid: &i32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let named = pids.filter(carries).filter_map(|pid| Some((Pid::from_raw(pid)?, command_line(pid))));
    named.collect()
}

/// What a process runs, in few words: for a bash of ours the command that it was given.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
fn command_line(pid: i32) -> String {
    const SHOWN_MAX_BYTES: usize = 200;
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&bytes);
    let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
    let mut shown = match words.as_slice() {
        ["bash", "--noprofile", "--norc", "-c", _, "bash", command] => (*command).to_owned(),
        words => words.join(" "),
    };
    if shown.len() > SHOWN_MAX_BYTES {
        shown.truncate(shown.floor_char_boundary(SHOWN_MAX_BYTES));
        shown.push('…');
    }
    shown
}
