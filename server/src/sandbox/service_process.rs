//! The process of our podman. Without root it is two: podman starts itself once more in a user namespace and waits for
//! that.

use super::error::SandboxError;
use super::last_words::LastWords;
use super::podman_program::PodmanProgram;
use super::runtime::Runtime;
use crate::process_group::ProcessGroup;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinHandle;

/// It ends when this is dropped.
pub(super) struct ServiceProcess {
    group: ProcessGroup,
    last_words: LastWords,
    /// Done when it has closed its stderr.
    hearing: JoinHandle<()>,
}

/// How long what it said may take to arrive once it has ended. Whoever holds its stderr longer is not waited for.
const LAST_WORDS_MAX: Duration = Duration::from_millis(500);

impl ServiceProcess {
    /// Starts podman's service with a runtime on a socket.
    pub(super) fn start(
        podman: &PodmanProgram,
        runtime: &Runtime,
        socket: &Path,
    ) -> Result<Self, SandboxError> {
        let mut group = start(podman, runtime, socket).map_err(|error| podman.does_not_start(&error))?;
        let last_words = LastWords::default();
        let (stderr, heard) = (group.child.stderr.take(), last_words.clone());
        let hearing = tokio::spawn(async move {
            if let Some(stderr) = stderr {
                heard.hear_all(stderr).await;
            }
        });
        Ok(Self { group, last_words, hearing })
    }

    /// What became of it, when it has ended.
    pub(super) async fn ended(&mut self) -> Option<String> {
        let status = self.group.child.try_wait().ok().flatten()?;
        let _ = tokio::time::timeout(LAST_WORDS_MAX, &mut self.hearing).await;
        Some(format!("podman's service ended at once with {status}{}", self.last_words.in_brackets()))
    }
}

fn start(podman: &PodmanProgram, runtime: &Runtime, socket: &Path) -> std::io::Result<ProcessGroup> {
    let mut command = podman.command();
    command.arg("--runtime").arg(&runtime.program);
    command.args(["system", "service", "--time=0"]).arg(format!("unix://{}", socket.display()));
    // Where it stands, conmon writes a file `oom` when memory runs out. That must not be the workspace.
    command.current_dir(socket.parent().unwrap_or(socket));
    ProcessGroup::start(&mut command)
}
