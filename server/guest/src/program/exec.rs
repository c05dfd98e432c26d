//! Runs a command: streams what it says, bounds it, ends it when its time is up or the caller says so.

use super::cut::Cut;
use super::last_state::Told;
use super::processes::{Ended, Started, kill_call};
use super::serve::{Guest, Stream};
use crate::frames::{FrameKind, read_frame, write_frame};
use crate::words::{Answer, Exec, Exited, Job};
use rustix::io::Errno;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;

/// How long output may still come after the command itself has ended. Whatever holds the pipe longer runs in the
/// background, and nobody waits for it.
const LAST_WORDS_MAX: Duration = Duration::from_millis(100);
/// How often another bash is tried where one was killed before it took its command.
const ATTEMPTS_MAX: usize = 5;
const CHUNK_BYTES: usize = 32 << 10;
/// The most that a pipe holds unless somebody with privileges says otherwise.
const PIPE_MAX_BYTES: usize = 1 << 20;

/// Runs a command to its end.
pub(super) async fn run(guest: &Arc<Guest>, exec: &Exec, stream: &mut Stream) -> io::Result<Answer> {
    if exec.background {
        return start_in_background(guest, &exec.command);
    }
    for _ in 1..ATTEMPTS_MAX {
        if let Some(answer) = attempt(guest, exec, stream).await? {
            return Ok(answer);
        }
    }
    let killed =
        || io::Error::other("every bash was killed before it took the command: what runs in the background?");
    attempt(guest, exec, stream).await?.ok_or_else(killed)
}

/// `None` when bash was killed before it took the command.
async fn attempt(guest: &Arc<Guest>, exec: &Exec, stream: &mut Stream) -> io::Result<Option<Answer>> {
    let begun = Instant::now();
    let mut bash = guest.shell.run(&exec.command)?;
    let group = bash.started.child.id();
    let mut output = Output::of(&mut bash.started)?;
    let mut time_up = std::pin::pin!(tokio::time::sleep(Duration::from_millis(exec.timeout_ms)));
    let mut timed_out = false;
    let mut cancellable = true;
    let mut told = None;
    let ended = loop {
        tokio::select! {
            biased;
            // Any frame, and the end of the stream, means that the caller wants no more.
            _ = read_frame(stream), if cancellable => {
                cancellable = false;
                kill(group, &bash.call).await;
            }
            last = bash.last_state.told(), if told.is_none() => match told.insert(last) {
                Told { unsure: true, .. } => {}
                Told { code, .. } => break Ended { code: Some(*code), signal: None },
            },
            ended = &mut bash.started.ended => break ended.unwrap_or(Ended { code: None, signal: None }),
            () = &mut time_up, if !timed_out => {
                timed_out = true;
                kill(group, &bash.call).await;
            }
            piece = output.next() => pass_on(stream, piece?).await?,
        }
    };
    if bash.never_began() && cancellable && !timed_out {
        return Ok(None);
    }
    match told.as_ref().is_some_and(|told| !told.unsure) {
        true => output.what_is_there(stream).await?,
        false => output.last_words(stream).await?,
    }
    let told = told.or_else(|| bash.last_state.after_all());
    guest.shell.keep_state(told.map(|told| told.state));
    guest.shell.forget(&bash.call);
    if guest.processes.may_have_orphans() {
        guest.jobs.add(bash.call, exec.command.clone(), None);
    }
    let left_running = guest.jobs.running();
    let (stdout_left_out, stderr_left_out) = output.finish(stream).await?;
    Ok(Some(Answer::Exited(Exited {
        code: ended.code,
        signal: ended.signal,
        timed_out,
        duration_ms: begun.elapsed().as_millis() as u64,
        stdout_left_out,
        stderr_left_out,
        left_running,
        home_bytes: guest.home.bytes(),
    })))
}

fn start_in_background(guest: &Guest, text: &str) -> io::Result<Answer> {
    let (call, pid, log) = guest.shell.run_in_background(text)?;
    let log = log.to_string_lossy().into_owned();
    guest.jobs.add(call, text.to_owned(), Some(log.clone()));
    Ok(Answer::Started(Job { pid, command: text.to_owned(), log: Some(log) }))
}

/// Looking for the processes of a call reads all of `/proc`, which would hold up other calls.
async fn kill(group: u32, call: &str) {
    let call = call.to_owned();
    let _ = tokio::task::spawn_blocking(move || kill_call(group, &call)).await;
}

type Piece = Option<(FrameKind, Vec<u8>)>;

async fn pass_on(stream: &mut Stream, piece: Piece) -> io::Result<()> {
    if let Some((kind, bytes)) = piece {
        write_frame(stream, kind, &bytes).await?;
        stream.flush().await?;
    }
    Ok(())
}

/// Both output streams of a command.
struct Output {
    stdout: Side,
    stderr: Side,
}

struct Side {
    pipe: Option<Receiver>,
    kind: FrameKind,
    cut: Cut,
    chunk: Vec<u8>,
}

impl Output {
    fn of(started: &mut Started) -> io::Result<Self> {
        let missing = || io::Error::other("a pipe is missing");
        let stdout = started.child.stdout.take().ok_or_else(missing)?;
        let stderr = started.child.stderr.take().ok_or_else(missing)?;
        Ok(Self {
            stdout: Side::new(Receiver::from_owned_fd(stdout.into())?, FrameKind::Stdout),
            stderr: Side::new(Receiver::from_owned_fd(stderr.into())?, FrameKind::Stderr),
        })
    }

    /// The next piece to pass on; `None` for one that is not, because there was enough before it. Waits for ever when
    /// both streams have ended.
    async fn next(&mut self) -> io::Result<Piece> {
        tokio::select! {
            piece = self.stdout.next() => piece,
            piece = self.stderr.next() => piece,
        }
    }

    /// What a command said that is over, with nothing left that could say more. A process that it hid from its bash
    /// may say something without end, so no more is taken than a pipe can hold.
    async fn what_is_there(&mut self, stream: &mut Stream) -> io::Result<()> {
        for side in [&mut self.stdout, &mut self.stderr] {
            for _ in 0..PIPE_MAX_BYTES / CHUNK_BYTES {
                let Some(piece) = side.already_there()? else { break };
                pass_on(stream, piece).await?;
            }
        }
        Ok(())
    }

    /// What was already said when the process ended, or is said soon after.
    async fn last_words(&mut self, stream: &mut Stream) -> io::Result<()> {
        let deadline = tokio::time::Instant::now() + LAST_WORDS_MAX;
        while self.stdout.pipe.is_some() || self.stderr.pipe.is_some() {
            match tokio::time::timeout_at(deadline, self.next()).await {
                Ok(piece) => pass_on(stream, piece?).await?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// The ends of both streams; gives what was left out of each. Whoever still holds a pipe may go on writing.
    async fn finish(self, stream: &mut Stream) -> io::Result<(u64, u64)> {
        let mut left_out = [0; 2];
        for (side, left_out) in [self.stdout, self.stderr].into_iter().zip(&mut left_out) {
            let (tail, bytes) = side.cut.finish();
            *left_out = bytes;
            for piece in tail.chunks(CHUNK_BYTES) {
                write_frame(stream, side.kind, piece).await?;
            }
            if let Some(pipe) = side.pipe {
                tokio::spawn(swallow(pipe));
            }
        }
        Ok((left_out[0], left_out[1]))
    }
}

impl Side {
    fn new(pipe: Receiver, kind: FrameKind) -> Self {
        Self { pipe: Some(pipe), kind, cut: Cut::default(), chunk: vec![0; CHUNK_BYTES] }
    }

    async fn next(&mut self) -> io::Result<Piece> {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        let read = pipe.read(&mut self.chunk).await?;
        if read == 0 {
            self.pipe = None;
            return Ok(None);
        }
        Ok(self.piece(read))
    }

    /// The next piece, if there is one. Asked of the system, for the runtime may not have heard of it yet.
    fn already_there(&mut self) -> io::Result<Option<Piece>> {
        let Some(pipe) = &self.pipe else {
            return Ok(None);
        };
        match rustix::io::read(pipe.as_fd(), &mut self.chunk[..]) {
            Ok(0) => {
                self.pipe = None;
                Ok(None)
            }
            Ok(read) => Ok(Some(self.piece(read))),
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn piece(&mut self, read: usize) -> Piece {
        let head = self.cut.take(&self.chunk[..read]);
        (!head.is_empty()).then(|| (self.kind, head.to_vec()))
    }
}

/// Reads on for a process that runs in the background, so that it neither waits nor dies for want of a reader.
async fn swallow(mut pipe: impl AsyncRead + Unpin) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while pipe.read(&mut chunk).await.is_ok_and(|read| read > 0) {}
}
