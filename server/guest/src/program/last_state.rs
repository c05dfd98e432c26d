//! What a bash tells when its command is over: the state for the next one, and its exit code.
//!
//! It comes through a named pipe, so a call is answered before the process is gone, which takes as long as a quick
//! command. Nothing but bash's last act opens that pipe: what a command leaves running holds no end of it.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver};

/// A larger state is not kept: nobody has set it up by hand.
const STATE_MAX_BYTES: usize = 4 << 20;
/// Before the exit code, at the end of a state that is whole.
const WHOLE: &str = "\n# whole ";

/// A pipe for a bash's last words.
pub(super) struct LastState {
    path: PathBuf,
    pipe: Receiver,
    bytes: Vec<u8>,
}

/// What was told.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// What the next bash reads before its command.
    pub(super) state: String,
    pub(super) code: i32,
    /// Whether only the end of its process tells how it ended, or what it left running.
    pub(super) unsure: bool,
}

impl LastState {
    /// Makes the pipe. Must be called within the runtime.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        // With an end to write to of our own, its end is not seen when bash closes it.
        let pipe = OpenOptions::new().read_write(true).open_receiver(&path)?;
        Ok(Self { path, pipe, bytes: Vec::new() })
    }

    /// What bash does when it ends, with the pipe's name as the shell reads it. A command that came to its end has left
    /// its exit code in `__airlock`, and whether it started something that may run on. One that did not, for it called
    /// `exit` or a signal ended it, is known when its process is gone. The mark is a call's own, and no part of the state.
    pub(super) fn at_end(quoted_path: &str, mark: &str) -> String {
        format!(
            "__airlock=${{__airlock-$? left}}; \
             {{ builtin export -n {mark}; builtin export -p; builtin declare -f; \
             builtin printf \"builtin cd -- %q{whole}%s\\n\" \"$PWD\" \"$__airlock\"; }} > {quoted_path} 2>/dev/null; \
             builtin exit ${{__airlock%% *}}",
            whole = WHOLE.replace('\n', "\\n"),
        )
    }

    /// Whether the pipe is still where bash looks for it.
    pub(super) fn can_be_told(&self) -> bool {
        self.path.exists()
    }

    /// Waits until it is told, for ever if it never is.
    pub(super) async fn told(&mut self) -> Told {
        let mut chunk = [0; 4096];
        loop {
            if let Some(told) = parse(&self.bytes) {
                return told;
            }
            match self.pipe.read(&mut chunk).await {
                Ok(read) if self.bytes.len() + read <= STATE_MAX_BYTES => self.bytes.extend(&chunk[..read]),
                Ok(_) => {}
                Err(_) => return std::future::pending().await,
            }
        }
    }

    /// What was told when bash is gone.
    pub(super) fn after_all(&mut self) -> Option<Told> {
        let mut chunk = [0; 4096];
        // Asked of the system, for the runtime may not have heard yet that there is something.
        while let Ok(read @ 1..) = rustix::io::read(self.pipe.as_fd(), &mut chunk) {
            if self.bytes.len() + read > STATE_MAX_BYTES {
                return None;
            }
            self.bytes.extend(&chunk[..read]);
        }
        parse(&self.bytes)
    }
}

impl Drop for LastState {
    #[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
    fn drop(&mut self) {
        // The command may have removed it.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn parse(bytes: &[u8]) -> Option<Told> {
    let (state, last) = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.rsplit_once(WHOLE)?;
    let (code, left) = last.split_once(' ')?;
    let unsure = match left {
        "" => false,
        "left" => true,
        _ => return None,
    };
    Some(Told { state: format!("{state}\n"), code: code.parse().ok()?, unsure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_state_is_one() {
        let whole = "declare -x A=\"b\"\nbuiltin cd -- /workspace\n# whole 3 left\n";
        let state = "declare -x A=\"b\"\nbuiltin cd -- /workspace\n".to_owned();
        assert_eq!(parse(whole.as_bytes()), Some(Told { state, code: 3, unsure: true }));
        for cut in 0..whole.len() {
            assert_eq!(parse(&whole.as_bytes()[..cut]), None, "cut at {cut}");
        }
        assert_eq!(parse(b"x\n# whole 0 \n").map(|told| (told.code, told.unsure)), Some((0, false)));
    }
}
