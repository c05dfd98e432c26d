//! Answers the server's calls: a stream of the link each, as many at once as it opens.

use super::home::Home;
use super::jobs::Jobs;
use super::processes::Processes;
use super::shell::Shell;
use super::{edit, exec, files, find, hello, list, put, search};
use crate::frames::{FRAME_MAX_BYTES, FrameKind, read_frame, whole, write_frame};
use crate::words::{Answer, Call, CallError, FILE_MAX_BYTES};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt, TokioAsyncReadCompatExt};

/// One stream of the link.
pub(super) type Stream = Compat<yamux::Stream>;

/// What the guest works on.
pub struct Guest {
    workspace: PathBuf,
    pub(super) shell: Shell,
    pub(super) processes: Processes,
    pub(super) jobs: Jobs,
    pub(super) home: Home,
}

impl Guest {
    /// A guest for a workspace.
    pub fn new(workspace: PathBuf) -> Self {
        let processes = Processes::of_program();
        let shell = Shell::new(workspace.clone(), processes.clone());
        Self { workspace, shell, processes, jobs: Jobs::default(), home: Home::of_program() }
    }

    /// The path that a call names, which is relative to the workspace.
    fn path(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }
}

/// Serves the link until the server closes it.
pub async fn serve(link: impl AsyncRead + AsyncWrite + Unpin, guest: Guest) -> io::Result<()> {
    let guest = Arc::new(guest);
    let link = whole(link).compat();
    let mut connection = yamux::Connection::new(link, yamux::Config::default(), yamux::Mode::Server);
    while let Some(stream) = std::future::poll_fn(|context| connection.poll_next_inbound(context)).await {
        let (stream, guest) = (stream.map_err(io::Error::other)?, Arc::clone(&guest));
        tokio::spawn(async move {
            let mut stream = stream.compat();
            // A stream that breaks belongs to a caller that is gone.
            let _ = answer(&guest, &mut stream).await;
        });
    }
    Ok(())
}

async fn answer(guest: &Arc<Guest>, stream: &mut Stream) -> io::Result<()> {
    let call: Call = match read_frame(stream).await? {
        Some(frame) if frame.kind == FrameKind::Call => serde_json::from_slice(&frame.payload)?,
        _ => return Err(io::Error::other("a stream begins with a call")),
    };
    let needs_shell_next = matches!(call, Call::Hello | Call::Exec(_));
    let (kind, payload) = match perform(guest, call, stream).await {
        Ok(answer) => (FrameKind::Answer, serde_json::to_vec(&answer)?),
        Err(error) => (FrameKind::Error, serde_json::to_vec(&CallError { message: error.to_string() })?),
    };
    write_frame(stream, kind, &payload).await?;
    stream.flush().await?;
    stream.shutdown().await?;
    if needs_shell_next {
        blocking(guest, |guest| {
            guest.shell.get_ready();
            guest.home.count();
            Ok(())
        })
        .await?;
    }
    Ok(())
}

async fn perform(guest: &Arc<Guest>, call: Call, stream: &mut Stream) -> io::Result<Answer> {
    match call {
        Call::Hello => Ok(Answer::Hello(hello::hello())),
        Call::Exec(exec) => exec::run(guest, &exec, stream).await,
        Call::Jobs => blocking(guest, |guest| Ok(Answer::Jobs { jobs: guest.jobs.running() })).await,
        Call::Read(read) => {
            let read = blocking(guest, move |guest| files::read(&guest.path(&read.path), &read)).await?;
            send(stream, read).await
        }
        Call::Fetch { path } => {
            let found = blocking(guest, move |guest| find::fetch(&guest.path(&path))).await?;
            send(stream, found).await
        }
        Call::Glob { pattern, paths_max } => {
            let found =
                blocking(guest, move |guest| find::glob(&guest.workspace, &pattern, paths_max)).await?;
            send(stream, found).await
        }
        Call::Grep { pattern, glob, matches_max } => {
            let grep =
                move |guest: &Guest| find::grep(&guest.workspace, &pattern, glob.as_deref(), matches_max);
            let found = blocking(guest, grep).await?;
            send(stream, found).await
        }
        Call::Write { path } => with_content(guest, stream, path, files::write).await,
        Call::Put { path, mode, modified_ns } => {
            with_content(guest, stream, path, move |path, content| {
                put::file(path, content, mode, modified_ns)
            })
            .await
        }
        Call::PutLink { path, target } => {
            blocking(guest, move |guest| put::link(&guest.path(&path), &target)).await
        }
        Call::PutFolder { path } => blocking(guest, move |guest| put::folder(&guest.path(&path))).await,
        Call::Stale { expected } => blocking(guest, |guest| put::stale(&guest.workspace, expected)).await,
        Call::Edit(wanted) => {
            blocking(guest, move |guest| edit::edit(&guest.path(&wanted.path), &wanted)).await
        }
        Call::List(wanted) => {
            blocking(guest, move |guest| list::list(&guest.path(&wanted.path), &wanted)).await
        }
        Call::Search(wanted) => {
            blocking(guest, move |guest| search::search(&guest.workspace, &guest.path(&wanted.path), &wanted))
                .await
        }
        Call::Remove { path } => blocking(guest, move |guest| put::remove(&guest.path(&path))).await,
    }
}

/// Sends content before its answer.
async fn send(stream: &mut Stream, (answer, content): (Answer, Vec<u8>)) -> io::Result<Answer> {
    for piece in content.chunks(FRAME_MAX_BYTES) {
        write_frame(stream, FrameKind::Data, piece).await?;
    }
    Ok(answer)
}

async fn with_content(
    guest: &Arc<Guest>,
    stream: &mut Stream,
    path: String,
    work: impl FnOnce(&Path, &[u8]) -> io::Result<Answer> + Send + 'static,
) -> io::Result<Answer> {
    let mut content = Vec::new();
    loop {
        match read_frame(stream).await? {
            Some(frame)
                if frame.kind == FrameKind::Data && content.len() + frame.payload.len() <= FILE_MAX_BYTES =>
            {
                content.extend(frame.payload);
            }
            Some(frame) if frame.kind == FrameKind::DataEnd => break,
            _ => {
                return Err(io::Error::other(format!(
                    "the content is larger than {FILE_MAX_BYTES} bytes, or was cut"
                )));
            }
        }
    }
    blocking(guest, move |guest| work(&guest.path(&path), &content)).await
}

/// Work on the disk, away from the threads that serve the link.
async fn blocking<T: Send + 'static>(
    guest: &Arc<Guest>,
    work: impl FnOnce(&Guest) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let guest = Arc::clone(guest);
    tokio::task::spawn_blocking(move || work(&guest))
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
