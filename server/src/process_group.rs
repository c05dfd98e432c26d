//! A program that was started on the host, and all that it starts itself: they end together.
//!
//! Podman without root starts itself once more, git has others talk to the network, and either may be a script. To kill
//! only what was started first would leave the rest to nobody.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use tokio::process::{Child, Command};

/// They are killed when this is dropped, unless the program has been waited for. So read what it says before that: who
/// still holds its output could no longer be found.
pub(crate) struct ProcessGroup {
    /// The program itself.
    pub(crate) child: Child,
}

impl ProcessGroup {
    /// Starts it. Ctrl-C in a terminal, which stops a turn, does not reach it.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).kill_on_drop(true).spawn().map(|child| Self { child })
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Without an id it has been waited for, and the group's number may be somebody else's by now.
        if let Some(group) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // They may have ended by themselves meanwhile.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::io::AsyncReadExt;

    /// A shell with this script.
    fn shell(script: &str) -> ProcessGroup {
        let mut command = Command::new("sh");
        ProcessGroup::start(command.args(["-c", script]).stdout(Stdio::piped())).unwrap()
    }

    /// Its output ends only when nobody holds it any more.
    async fn output_ends(mut output: impl AsyncReadExt + Unpin) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(Duration::from_secs(60), output.read_to_end(&mut rest)).await.is_ok()
    }

    #[tokio::test]
    async fn what_a_program_started_ends_with_it() {
        let mut group = shell("sleep 1000 & echo; wait");
        let mut output = group.child.stdout.take().unwrap();
        output.read_u8().await.unwrap();
        drop(group);
        assert!(output_ends(output).await);
    }

    #[tokio::test]
    async fn what_a_program_left_behind_ends_too() {
        let mut group = shell("sleep 1000 &");
        let output = group.child.stdout.take().unwrap();
        let shell = Pid::from_raw(group.child.id().unwrap().cast_signed()).unwrap();
        // It has ended, and nobody has waited for it: that is left to its handle.
        waitid(WaitId::Pid(shell), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        drop(group);
        assert!(output_ends(output).await);
    }
}
