//! A shell whose directory, exported variables and functions outlive each command, as in a terminal.
//!
//! Every command gets a bash of its own, so one that hangs or exits takes nothing with it. When a command ends, bash
//! writes down where it stands; the next one begins by reading that. Each is started ahead of its command, for starting
//! costs more than most commands do.

use super::last_state::LastState;
use super::processes::{MARK, Processes, Started};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shell of a session.
pub(super) struct Shell {
    workspace: PathBuf,
    /// Where bash keeps what it wrote down.
    folder: PathBuf,
    name: String,
    calls: AtomicU64,
    processes: Processes,
    /// Those that wait for their command, the oldest first.
    waiting: Mutex<VecDeque<Bash>>,
    /// What the next command begins with.
    state: Mutex<String>,
}

/// A bash that waits for its command, or runs it.
pub(super) struct Bash {
    /// Names the call, for [`MARK`].
    pub(super) call: String,
    pub(super) started: Started,
    pub(super) last_state: LastState,
}

impl Bash {
    /// Whether it ended before it took its command: killed by what ran before it.
    pub(super) fn never_began(&self) -> bool {
        let wake = self.started.child.stdin.as_ref();
        wake.is_some_and(|wake| rustix::io::ioctl_fionread(wake).is_ok_and(|unread| unread > 0))
    }
}

/// So many wait for their command: the second of two calls in a row comes before another could be started.
const WAITING: usize = 2;

impl Shell {
    pub(super) fn new(workspace: PathBuf, processes: Processes) -> Self {
        static SHELLS: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}-{}", std::process::id(), SHELLS.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!(".airlock-{name}"));
        let (calls, waiting, state) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        Self { workspace, folder, name, calls, processes, waiting, state }
    }

    /// Starts a bash for each of the next commands, unless they wait already.
    pub(super) fn get_ready(&self) {
        while self.waiting().len() < WAITING {
            match self.start() {
                Ok(bash) => self.waiting().push_back(bash),
                // Whatever is in the way is in the command's way too, and is told then.
                Err(_) => return,
            }
        }
    }

    /// Runs a command, with pipes to read its output from.
    pub(super) fn run(&self, text: &str) -> io::Result<Bash> {
        refuse_nul(text)?;
        loop {
            let waiting = self.waiting().pop_front();
            let Some(bash) = waiting else {
                return self.give(self.start()?, text);
            };
            // What ran before may have killed it, or taken away what it would tell its state through.
            if bash.last_state.can_be_told()
                && let Ok(running) = self.give(bash, text)
            {
                return Ok(running);
            }
        }
    }

    /// Runs a command whose output goes to a log, and whose state is its own. Gives its call, its process and the log.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn run_in_background(&self, text: &str) -> io::Result<(String, u32, PathBuf)> {
        refuse_nul(text)?;
        let call = self.next_call();
        let log = self.folder.join(format!("output-{call}.log"));
        let file = self.in_folder(|| std::fs::File::create(&log))?;
        let script = self.script(&call, "");
        let mut started = self.start_bash(&call, &script, file.try_clone()?.into(), file.into())?;
        self.wake(&call, &mut started, text)?;
        Ok((call, started.child.id(), log))
    }

    /// Takes over what a command told of its state, if it did. One that cannot be written down leaves the one before it.
    pub(super) fn keep_state(&self, told: Option<String>) {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = told.unwrap_or_else(|| kept.clone());
        // The command may have removed what was written down.
        let is_written = *kept == state && (state.is_empty() || self.state_file().exists());
        if !is_written && self.write_state(&state).is_ok() {
            *kept = state;
        }
    }

    /// Removes what only this call needed.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn forget(&self, call: &str) {
        let _ = std::fs::remove_file(self.command_file(call));
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Bash>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a bash that waits for its command, with pipes to read its output from.
    fn start(&self) -> io::Result<Bash> {
        let call = self.next_call();
        let pipe = self.folder.join(format!("told-{call}"));
        let last_state = self.in_folder(|| LastState::at(pipe.clone()))?;
        let at_end = LastState::at_end(&quoted(&pipe), MARK).replace('\'', "'\\''");
        let script = self.script(&call, &format!("builtin trap '{at_end}' EXIT\n"));
        let started = self.start_bash(&call, &script, Stdio::piped(), Stdio::piped())?;
        Ok(Bash { call, started, last_state })
    }

    #[expect(clippy::disallowed_methods, reason = "inside the sandbox commands are what the guest is for")]
    fn start_bash(&self, call: &str, script: &str, stdout: Stdio, stderr: Stdio) -> io::Result<Started> {
        self.processes.start(
            Command::new("bash")
                .args(["--noprofile", "--norc", "-c", script, "bash"])
                .current_dir(&self.workspace)
                .env(MARK, call)
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(stdout)
                .stderr(stderr),
        )
    }

    fn next_call(&self) -> String {
        format!("{}-{}", self.name, self.calls.fetch_add(1, Ordering::Relaxed))
    }

    fn give(&self, mut bash: Bash, text: &str) -> io::Result<Bash> {
        self.wake(&bash.call, &mut bash.started, text)?;
        Ok(bash)
    }

    /// Gives a bash its command.
    fn wake(&self, call: &str, started: &mut Started, text: &str) -> io::Result<()> {
        self.write_command(call, text)?;
        match &mut started.child.stdin {
            Some(wake) => wake.write_all(b"\n"),
            None => Err(io::Error::other("a pipe is missing")),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn write_command(&self, call: &str, text: &str) -> io::Result<()> {
        self.in_folder(|| std::fs::write(self.command_file(call), text))
    }

    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn write_state(&self, state: &str) -> io::Result<()> {
        let next = self.folder.join("next-state");
        self.in_folder(|| std::fs::write(&next, state))?;
        std::fs::rename(next, self.state_file())
    }

    /// Works in the folder, which is made where a command removed it.
    fn in_folder<T>(&self, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_folder()?;
                work()
            }
            done => done,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn make_folder(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be made: {error}", self.folder.display()))
        })
    }

    fn state_file(&self) -> PathBuf {
        self.folder.join("state")
    }

    fn command_file(&self, call: &str) -> PathBuf {
        self.folder.join(format!("command-{call}"))
    }

    /// What bash runs. Only its own built-in commands, so that it costs next to nothing, and not what a function of the
    /// user's made of them. It waits for a line; its end without one means that nobody needs this bash. The command is
    /// put into place before it runs, so no variable of ours is left for it to see.
    fn script(&self, call: &str, prepare: &str) -> String {
        let [state, command] = [self.state_file(), self.command_file(call)].map(|path| quoted(&path));
        format!(
            "IFS= read -r __airlock || exit 0\n\
             [ -r {state} ] && . {state}\n\
             IFS= builtin read -r -d '' __airlock < {command}\n\
             SECONDS=0\n\
             {prepare}\
             builtin eval \"builtin unset __airlock; builtin set --\n$__airlock\" < /dev/null\n\
             __airlock=\"$? ${{!:+left}}\""
        )
    }
}

/// Bash would run what is before it.
fn refuse_nul(text: &str) -> io::Result<()> {
    match text.contains('\0') {
        true => Err(io::Error::new(io::ErrorKind::InvalidInput, "a command cannot have a NUL byte in it")),
        false => Ok(()),
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}
