//! A shell whose directory, exported variables and functions outlive each command, as in a terminal.
//!
//! Every command gets a bash of its own, so one that hangs or exits takes nothing with it. When a command ends, bash
//! writes down where it stands; the next one begins by reading that. Each is started ahead of its command, for starting
//! costs more than most commands do.

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
}

/// A bash that waits for its command, or runs it.
pub(super) struct Bash {
    /// Names the call, for [`MARK`].
    pub(super) call: String,
    pub(super) started: Started,
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

/// The last line of a state that is whole.
const WHOLE: &str = "# whole";

impl Shell {
    pub(super) fn new(workspace: PathBuf, processes: Processes) -> Self {
        static SHELLS: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}-{}", std::process::id(), SHELLS.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!(".airlock-{name}"));
        Self { workspace, folder, name, calls: AtomicU64::new(0), processes, waiting: Mutex::default() }
    }

    /// Starts a bash for each of the next commands, unless they wait already.
    pub(super) fn get_ready(&self) {
        while self.waiting().len() < WAITING {
            match self.start(Stdio::piped(), Stdio::piped()) {
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
                return self.give(self.start(Stdio::piped(), Stdio::piped())?, text);
            };
            // It may have been killed by what ran before.
            if let Ok(running) = self.give(bash, text) {
                return Ok(running);
            }
        }
    }

    /// Runs a command whose output goes to a log.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn run_in_background(&self, text: &str) -> io::Result<(Bash, PathBuf)> {
        refuse_nul(text)?;
        self.make_folder()?;
        let number = self.calls.load(Ordering::Relaxed);
        let log = self.folder.join(format!("output-{}-{number}.log", self.name));
        let file = std::fs::File::create(&log)?;
        let bash = self.start(file.try_clone()?.into(), file.into())?;
        Ok((self.give(bash, text)?, log))
    }

    /// Takes over what a command wrote down, unless it was ended before it could.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn keep_state(&self, call: &str) {
        let _ = std::fs::remove_file(self.command_file(call));
        let next_state = self.next_state(call);
        let whole = std::fs::read_to_string(&next_state).is_ok_and(|text| text.trim_end().ends_with(WHOLE));
        // A state that cannot be kept leaves the one before it, which is what the command would find after a crash.
        let _ = if whole {
            std::fs::rename(&next_state, self.state())
        } else {
            std::fs::remove_file(&next_state)
        };
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Bash>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::disallowed_methods, reason = "inside the sandbox commands are what the guest is for")]
    fn start(&self, stdout: Stdio, stderr: Stdio) -> io::Result<Bash> {
        let call = format!("{}-{}", self.name, self.calls.fetch_add(1, Ordering::Relaxed));
        let started = self.processes.start(
            Command::new("bash")
                .args(["--noprofile", "--norc", "-c", &self.script(&call), "bash"])
                .current_dir(&self.workspace)
                .env(MARK, &call)
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(stdout)
                .stderr(stderr),
        )?;
        Ok(Bash { call, started })
    }

    /// Gives a bash its command.
    fn give(&self, mut bash: Bash, text: &str) -> io::Result<Bash> {
        self.write_command(&bash.call, text)?;
        match &mut bash.started.child.stdin {
            Some(wake) => wake.write_all(b"\n")?,
            None => return Err(io::Error::other("a pipe is missing")),
        }
        Ok(bash)
    }

    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn write_command(&self, call: &str, text: &str) -> io::Result<()> {
        let file = self.command_file(call);
        match std::fs::write(&file, text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_folder()?;
                std::fs::write(&file, text)
            }
            written => written,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn make_folder(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be made: {error}", self.folder.display()))
        })
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    fn next_state(&self, call: &str) -> PathBuf {
        self.folder.join(format!("state-{call}"))
    }

    fn command_file(&self, call: &str) -> PathBuf {
        self.folder.join(format!("command-{call}"))
    }

    /// What bash runs. Only its own built-in commands, so that it costs next to nothing, and not what a function of the
    /// user's made of them. It waits for a line; its end without one means that nobody needs this bash. The command is
    /// put into place before it runs, so no variable of ours is left for it to see.
    fn script(&self, call: &str) -> String {
        let [state, next_state, command] =
            [self.state(), self.next_state(call), self.command_file(call)].map(|path| quoted(&path));
        format!(
            "IFS= read -r __airlock || exit 0\n\
             [ -r {state} ] && . {state}\n\
             IFS= builtin read -r -d '' __airlock < {command}\n\
             SECONDS=0\n\
             builtin trap '__airlock=$?; {{ builtin export -p; builtin declare -f; builtin printf \"builtin cd -- %q\\n{WHOLE}\\n\" \"$PWD\"; }} > {next} 2>/dev/null; builtin exit $__airlock' EXIT\n\
             builtin eval \"builtin unset __airlock; builtin set --\n$__airlock\" < /dev/null",
            next = next_state.replace('\'', "'\\''"),
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
