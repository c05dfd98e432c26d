//! A shell whose directory, exported variables and functions outlive each command, as in a terminal.
//!
//! Every command gets a bash of its own, so one that hangs or exits takes nothing with it. When a command ends, bash
//! writes down where it stands; the next one begins by reading that.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shell of a session.
pub(super) struct Shell {
    workspace: PathBuf,
    /// Where bash keeps what it wrote down.
    folder: PathBuf,
    name: String,
    calls: AtomicU64,
}

/// A bash that is about to run a command.
pub(super) struct Prepared {
    pub(super) command: Command,
    /// Names the call, for [`super::processes::MARK`].
    pub(super) call: String,
    next_state: PathBuf,
    state: PathBuf,
}

/// The last line of a state that is whole.
const WHOLE: &str = "# whole";

impl Shell {
    pub(super) fn new(workspace: PathBuf) -> Self {
        static SHELLS: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}-{}", std::process::id(), SHELLS.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!(".airlock-{name}"));
        Self { workspace, folder, name, calls: AtomicU64::new(0) }
    }

    /// A bash for a command. It is not started yet.
    #[expect(clippy::disallowed_methods, reason = "inside the sandbox commands are what the guest is for")]
    pub(super) fn prepare(&self, text: &str) -> io::Result<Prepared> {
        std::fs::create_dir_all(&self.folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be made: {error}", self.folder.display()))
        })?;
        let call = format!("{}-{}", self.name, self.calls.fetch_add(1, Ordering::Relaxed));
        let (state, next_state) = (self.folder.join("state"), self.folder.join(format!("state-{call}")));
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-c", &script(&state, &next_state), "bash", text])
            .current_dir(&self.workspace)
            .env(super::processes::MARK, &call);
        Ok(Prepared { command, call, next_state, state })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Prepared {
    /// Takes over what the command wrote down, unless it was ended before it could.
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    pub(super) fn keep_state(&self) {
        let whole =
            std::fs::read_to_string(&self.next_state).is_ok_and(|text| text.trim_end().ends_with(WHOLE));
        // A state that cannot be kept leaves the one before it, which is what the command would find after a crash.
        let _ = if whole {
            std::fs::rename(&self.next_state, &self.state)
        } else {
            std::fs::remove_file(&self.next_state)
        };
    }
}

/// What bash runs. Only its own built-in commands, so that it costs next to nothing. `$1` is the command: it is put
/// into place before it runs, so no variable of ours is left for it to see.
fn script(state: &Path, next_state: &Path) -> String {
    let (state, next_state) = (quoted(state), quoted(next_state));
    format!(
        "[ -r {state} ] && . {state}\n\
         trap '__airlock_code=$?; {{ export -p; declare -f; printf \"cd -- %q\\n{WHOLE}\\n\" \"$PWD\"; }} > {next} 2>/dev/null; exit $__airlock_code' EXIT\n\
         eval \"set --\n$1\"",
        next = next_state.replace('\'', "'\\''"),
    )
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}
