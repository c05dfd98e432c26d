//! Stores what accepted paths hold, byte for byte, in the repository.

use super::snapshot::{Found, look};
use super::{GitError, Room};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::Folder;
use std::io;
use tokio::sync::mpsc;

/// A path and what was stored for it.
pub(super) struct Stored {
    pub(super) path: WorkspacePath,
    pub(super) state: State,
}

pub(super) enum State {
    Deleted,
    Blob(Blob),
    /// It cannot be committed, and why.
    Unfit(String),
}

pub(super) struct Blob {
    pub(super) mode: &'static str,
    pub(super) id: String,
    pub(super) lines: Lines,
}

/// How the lines of a text end, as far as git cares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// No line has a carriage return at its end, or it is a link.
    Plain,
    /// Some have.
    Returns,
    /// Some have, and there are zero bytes as well.
    ReturnsInBinary,
}

/// Stores them with one call of git, however many there are.
pub(super) async fn store(
    room: &Room,
    workspace: &WorkspaceRoot,
    paths: &[WorkspacePath],
) -> Result<Vec<Stored>, GitError> {
    let (sender, pieces) = mpsc::channel(1);
    let (root, wanted) = (workspace.clone(), paths.to_vec());
    let reading = tokio::task::spawn_blocking(move || read_all(&root, &wanted, &sender));
    // Blobs only: it touches no branch, and knows no filters.
    let call = room.call("store what you accepted").args(["fast-import", "--quiet", "--done"]);
    let (output, read) = tokio::join!(call.pieces(pieces).run(), reading);
    let mut stored = match read {
        Ok(read) => read.map_err(|error| GitError::disk("the workspace cannot be read", &error))?,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    let output = output?;
    let mut ids = output.split(|byte| *byte == b'\n');
    for Stored { state, .. } in &mut stored {
        if let State::Blob(blob) = state {
            blob.id = String::from_utf8_lossy(ids.next().unwrap_or_default()).into_owned();
        }
    }
    Ok(stored)
}

fn read_all(
    root: &WorkspaceRoot,
    paths: &[WorkspacePath],
    sender: &mpsc::Sender<Vec<u8>>,
) -> io::Result<Vec<Stored>> {
    let workspace = Folder::open(root.as_host())?;
    // Git may end before all is read; its exit status says why.
    let send = |piece: Vec<u8>| drop(sender.blocking_send(piece));
    let mut mark = 0;
    let mut blob = |bytes: Vec<u8>, mode, lines| {
        mark += 1;
        send(format!("blob\nmark :{mark}\ndata {}\n", bytes.len()).into_bytes());
        send(bytes);
        send(format!("\nget-mark :{mark}\n").into_bytes());
        State::Blob(Blob { mode, id: String::new(), lines })
    };
    let mut stored = Vec::new();
    for path in paths {
        let state = match look(&workspace, path)? {
            Found::Nothing => State::Deleted,
            Found::Unfit(why) => State::Unfit(why),
            Found::Link(target) => blob(target, "120000", Lines::Plain),
            Found::File { bytes, is_executable } => {
                let lines = Lines::of(&bytes);
                blob(bytes, if is_executable { "100755" } else { "100644" }, lines)
            }
        };
        stored.push(Stored { path: path.clone(), state });
    }
    send(b"done\n".to_vec());
    Ok(stored)
}

impl Lines {
    fn of(bytes: &[u8]) -> Self {
        /// How far git looks for a zero byte.
        const LOOKED_AT_BYTES: usize = 8000;
        if !bytes.windows(2).any(|pair| pair == b"\r\n") {
            Self::Plain
        } else if bytes.iter().take(LOOKED_AT_BYTES).any(|byte| *byte == 0) {
            Self::ReturnsInBinary
        } else {
            Self::Returns
        }
    }
}
