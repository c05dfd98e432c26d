//! The user's own `git`, on the host: the one place that starts it.
//!
//! Each call has a time limit, its output is bounded, and its environment holds only what is named here. When a call is
//! dropped, git ends, with all that it started.

use super::GitError;
use crate::distribution::{Distribution, Need};
use crate::environment::{Environment, OF_THE_USERS_PROGRAMS};
use crate::limits::{GIT_ANSWER_MAX_MS, GIT_OUTPUT_MAX_BYTES, GIT_WORDS_MAX_BYTES};
use crate::neutral::neutral;
use crate::process_group::ProcessGroup;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::sync::mpsc;

/// What it is given besides what the user's programs need. The rest stays with us, above all keys.
const PASSED_ON: [&str; 2] = ["PATH", "XDG_RUNTIME_DIR"];

/// The git that the user has installed.
#[derive(Clone)]
pub(super) struct Program {
    path: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// One call of it.
pub(super) struct Call {
    command: Command,
    /// What it is for, as in "git cannot …".
    doing: &'static str,
    time_max: Duration,
    input: Input,
}

enum Input {
    None,
    Bytes(Vec<u8>),
    Pieces(mpsc::Receiver<Vec<u8>>),
}

impl Program {
    pub(super) fn find(environment: &Environment) -> Result<Self, GitError> {
        let path = environment.program("git").ok_or_else(|| {
            let remedy = Distribution::of_system().remedy("install it", Need::Git);
            GitError::new("git is not installed", remedy.text)
        })?;
        let variables = PASSED_ON
            .into_iter()
            .chain(OF_THE_USERS_PROGRAMS)
            .filter_map(|name| Some((name, environment.variable(name)?.to_owned())));
        Ok(Self { path, variables: variables.collect() })
    }

    /// A call in this folder, with this as git's own folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "this module owns git, which the user asks for by a command"
    )]
    pub(super) fn call(&self, doing: &'static str, folder: &Path, git_dir: &Path) -> Call {
        let mut command = Command::new(&self.path);
        command
            // Else a pager of the repository's would be looked up, and includes followed for it.
            .arg("--no-pager")
            .current_dir(folder)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("GIT_DIR", git_dir)
            // Its words are looked at, and nobody is there to answer it.
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_PAGER", "cat")
            .env("GIT_EDITOR", ":")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Call { command, doing, time_max: Duration::from_millis(GIT_ANSWER_MAX_MS), input: Input::None }
    }
}

impl Call {
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn time_max_ms(mut self, time_max_ms: u64) -> Self {
        self.time_max = Duration::from_millis(time_max_ms);
        self
    }

    pub(super) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    pub(super) fn pieces(mut self, pieces: mpsc::Receiver<Vec<u8>>) -> Self {
        self.input = Input::Pieces(pieces);
        self
    }

    /// What git answers; an error when it fails, with what it said.
    pub(super) async fn run(self) -> Result<Vec<u8>, GitError> {
        let doing = self.doing;
        match self.outcome().await? {
            (true, output, _) => Ok(output),
            (false, _, words) => Err(GitError::new(format!("git cannot {doing}"), said(&words))),
        }
    }

    /// The one line that git answers.
    pub(super) async fn line(self) -> Result<String, GitError> {
        let output = self.run().await?;
        Ok(String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned())
    }

    /// The one line that git answers; `None` when it fails, as it does to say no.
    pub(super) async fn line_if_any(self) -> Result<Option<String>, GitError> {
        let (success, output, _) = self.outcome().await?;
        Ok(success.then(|| String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned()))
    }

    /// Whether it succeeded, its output, and its words on stderr.
    pub(super) async fn outcome(mut self) -> Result<(bool, Vec<u8>, Vec<u8>), GitError> {
        let doing = self.doing;
        let stdin = if matches!(self.input, Input::None) { Stdio::null() } else { Stdio::piped() };
        let mut group = ProcessGroup::start(self.command.stdin(stdin)).map_err(|error| {
            GitError::new(format!("git cannot be started ({error})"), "see whether `git --version` works")
        })?;
        let child = &mut group.child;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let talk = async {
            let too_much = || {
                let what = format!("git cannot {doing}: it answered more than {GIT_OUTPUT_MAX_BYTES} bytes");
                GitError::new(what, "do this step yourself")
            };
            let output = async { read(stdout).await.ok_or_else(too_much) };
            let words = async { Ok(read_beginning(stderr).await) };
            let fed = async {
                feed(stdin, self.input).await;
                Ok(())
            };
            let (output, words, ()) = tokio::try_join!(output, words, fed)?;
            let status = child.wait().await;
            let status = status.map_err(|error| GitError::disk(format!("git cannot {doing}"), &error))?;
            Ok((status, output, words))
        };
        let Ok(ended) = tokio::time::timeout(self.time_max, talk).await else {
            let what = format!("git cannot {doing}: it took longer than {} ms", self.time_max.as_millis());
            return Err(GitError::new(what, "see whether the disk, or the other side, answers"));
        };
        let (status, output, words) = ended?;
        Ok((status.success(), output, words))
    }
}

/// What git said, safe to show.
pub(super) fn said(words: &[u8]) -> String {
    let words = neutral(String::from_utf8_lossy(words).trim());
    if words.is_empty() { "it does not say why".to_owned() } else { words }
}

/// All that comes; `None` as soon as it is too much.
async fn read(stream: Option<impl AsyncRead + Unpin>) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut stream = stream?.take(GIT_OUTPUT_MAX_BYTES as u64 + 1);
    // What is missing after an error shows in what git says.
    let _ = stream.read_to_end(&mut kept).await;
    (kept.len() <= GIT_OUTPUT_MAX_BYTES).then_some(kept)
}

/// The beginning of what comes. It is read to its end, for git must not wait.
async fn read_beginning(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), vec![0; 4 << 10]);
    let Some(mut stream) = stream else { return kept };
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        let room = GIT_WORDS_MAX_BYTES - kept.len();
        kept.extend_from_slice(&chunk[..read.min(room)]);
    }
    kept
}

/// Gives git its input. When it does not take all of it, its exit status says why.
async fn feed(stdin: Option<ChildStdin>, input: Input) {
    let Some(mut stdin) = stdin else { return };
    match input {
        Input::None => {}
        Input::Bytes(bytes) => drop(stdin.write_all(&bytes).await),
        Input::Pieces(mut pieces) => {
            while let Some(piece) = pieces.recv().await {
                if stdin.write_all(&piece).await.is_err() {
                    return;
                }
            }
        }
    }
    drop(stdin.shutdown().await);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A git that is a script.
    fn program(script: &str) -> (tempfile::TempDir, Program) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("git");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let search = format!("{}:/usr/bin:/bin", folder.path().display());
        let variables = [("PATH", search.as_str()), ("ANTHROPIC_API_KEY", "sk-secret"), ("HOME", "/home/u")];
        let program = Program::find(&Environment::for_test(folder.path(), &variables)).unwrap();
        (folder, program)
    }

    #[tokio::test]
    async fn git_gets_no_key_of_ours() {
        let (folder, program) = program("env");
        let output = program.call("test", folder.path(), folder.path()).run().await.unwrap();
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains("HOME=/home/u") && !output.contains("sk-secret"), "{output}");
    }

    #[tokio::test]
    async fn a_git_that_talks_without_end_is_stopped() {
        let (folder, program) = program("yes; yes >&2");
        let error = program.call("test", folder.path(), folder.path()).run().await.unwrap_err();
        assert!(error.to_string().contains("answered more than"), "{error}");
    }

    #[tokio::test]
    async fn a_git_that_hangs_is_ended_with_all_that_it_started() {
        let (folder, program) = program("sleep 1000 & echo $! > pid; wait");
        let call = program.call("test", folder.path(), folder.path()).time_max_ms(500);
        let error = call.run().await.unwrap_err();
        assert!(error.to_string().contains("took longer"), "{error}");
        let child = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        let stat = format!("/proc/{}/stat", child.trim());
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        let is_dead = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        while !is_dead() {
            assert!(std::time::Instant::now() < deadline, "it still runs");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_git_says_is_safe_to_show() {
        let (folder, program) = program("printf 'fatal: \\033]52;c;x\\007' >&2; exit 1");
        let error = program.call("test", folder.path(), folder.path()).run().await.unwrap_err().to_string();
        assert!(error.contains("fatal: ") && !error.contains('\u{1b}'), "{error:?}");
    }
}
