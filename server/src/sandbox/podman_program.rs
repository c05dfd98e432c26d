//! The installed podman: the one program that is started on the host.

use super::error::{ASK_PODMAN, SandboxError};
use super::last_words::LastWords;
use crate::distribution::{Distribution, Need};
use crate::environment::{Environment, hide_secrets};
use crate::limits::PODMAN_ANSWER_MAX_MS;
use crate::process_group::ProcessGroup;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Where it is.
pub(super) struct PodmanProgram(PathBuf);

impl PodmanProgram {
    /// Finds it.
    pub(super) fn find(environment: &Environment) -> Result<Self, SandboxError> {
        environment.program("podman").map(Self).ok_or_else(|| {
            let remedy = Distribution::of_system().remedy("install it", Need::Podman);
            SandboxError::new("podman is not installed", remedy)
        })
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// A call of it, to which arguments are added.
    #[expect(
        clippy::disallowed_methods,
        reason = "the sandbox starts podman, and nothing else is started on the host"
    )]
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        // Podman asks systemd for control groups unless it is told otherwise, also where there is no systemd to ask.
        if !Path::new("/run/systemd/system").exists() {
            command.args(["--cgroup-manager", "cgroupfs"]);
        }
        hide_secrets(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// What to say when the system does not start it.
    pub(super) fn does_not_start(&self, error: &io::Error) -> SandboxError {
        SandboxError::new(format!("{} cannot be started: {error}", self.0.display()), "install podman again")
    }

    /// Has the kernel make a user namespace for it. It does nothing in there but tell its version.
    #[expect(unsafe_code, reason = "between fork and exec there is one system call and nothing else")]
    pub(super) fn start_in_a_user_namespace(&self) -> io::Result<()> {
        let mut command = self.command();
        let unshare = || match unsafe { libc::unshare(libc::CLONE_NEWUSER) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        command.arg("--version").stderr(Stdio::null());
        // It is killed with its handle: that it came so far is all that counts.
        ProcessGroup::start(unsafe { command.pre_exec(unshare) }).map(drop)
    }

    /// What it says when it is called so.
    pub(super) async fn ask(&self, doing: &str, arguments: &[&str]) -> Result<String, SandboxError> {
        let failed = |why: String| SandboxError::new(format!("podman could not {doing}: {why}"), ASK_PODMAN);
        let mut command = self.command();
        let asked = answer(command.args(arguments).stdout(Stdio::piped()));
        let answered = tokio::time::timeout(Duration::from_millis(PODMAN_ANSWER_MAX_MS), asked).await;
        let (succeeded, output, words) = answered
            .map_err(|_| failed(format!("no answer within {} s", PODMAN_ANSWER_MAX_MS / 1000)))?
            .map_err(|error| failed(error.to_string()))?;
        if succeeded { Ok(String::from_utf8_lossy(&output).trim().to_owned()) } else { Err(failed(words)) }
    }
}

/// Whether it succeeded, its output, and its last words.
async fn answer(command: &mut Command) -> io::Result<(bool, Vec<u8>, String)> {
    let mut group = ProcessGroup::start(command)?;
    let (stdout, stderr) = (group.child.stdout.take(), group.child.stderr.take());
    let (mut output, words) = (Vec::new(), LastWords::default());
    let read = async {
        match stdout {
            Some(mut stdout) => stdout.read_to_end(&mut output).await.map(drop),
            None => Ok(()),
        }
    };
    let heard = async {
        if let Some(stderr) = stderr {
            words.hear_all(stderr).await;
        }
    };
    tokio::join!(read, heard).0?;
    let status = group.child.wait().await?;
    Ok((status.success(), output, words.said()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_that_is_given_up_ends_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $! > pid"]).current_dir(folder.path());
        let pid = async {
            loop {
                match std::fs::read_to_string(folder.path().join("pid")) {
                    Ok(pid) if pid.ends_with('\n') => break pid,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        let pid = tokio::select! {
            answered = answer(command.stdout(Stdio::piped()).stderr(Stdio::piped())) => panic!("{answered:?}"),
            pid = pid => pid,
        };
        let stat = format!("/proc/{}/stat", pid.trim());
        let gone = async {
            while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), gone).await.unwrap();
    }
}
