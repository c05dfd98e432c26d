//! Writes a history: one file, one lock, lines in order.

use super::entry::{Entry, Line};
use super::{HistoryError, Loaded};
use crate::storage;
use jiff::Timestamp;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Lines that wait to be written.
const WAITING_MAX: usize = 64;

/// An open history. Whoever holds it is the only writer.
pub struct History {
    id: String,
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
    /// The file that the writer appends to; replaced when the history begins anew.
    file: Arc<Mutex<File>>,
    writer: JoinHandle<()>,
}

/// Becomes ready when the line is on the disk, or cannot be.
pub type Saved = oneshot::Receiver<io::Result<()>>;

struct Job {
    entry: Option<Entry>,
    saved: oneshot::Sender<io::Result<()>>,
}

impl History {
    /// Takes a file that is open and locked. Its torn last line, if it has one, is cut off first.
    pub(super) fn new(id: String, path: PathBuf, file: File, loaded: &Loaded) -> Result<Self, HistoryError> {
        let fail = |doing| {
            let path = path.clone();
            move |source| HistoryError::Disk { doing, path, source }
        };
        file.set_len(loaded.whole_bytes as u64).map_err(fail("repair"))?;
        let file = Arc::new(Mutex::new(file));
        let (jobs, queue) = mpsc::channel(WAITING_MAX);
        let writer = tokio::spawn(write(queue, Arc::clone(&file)));
        Ok(Self { id, path, jobs, file, writer })
    }

    /// The session's id: the file's name without its ending.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts an entry at the end. It is on the disk when the result is ready.
    pub async fn append(&self, entry: Entry) -> Saved {
        self.send(Some(entry)).await
    }

    /// Ready when everything before it is on the disk.
    pub async fn flushed(&self) -> Saved {
        self.send(None).await
    }

    async fn send(&self, entry: Option<Entry>) -> Saved {
        let (saved, receiver) = oneshot::channel();
        // The writer lives as long as this handle; were it gone, the dropped sender would say so.
        let _ = self.jobs.send(Job { entry, saved }).await;
        receiver
    }

    /// Keeps what there is under another name and begins an empty file under this one.
    pub async fn begin_anew(&self) -> io::Result<PathBuf> {
        let _ = self.flushed().await.await;
        let (path, file) = (self.path.clone(), Arc::clone(&self.file));
        blocking(move || {
            let kept = storage::keep_under_another_name(&path)?;
            storage::replace(&path, b"")?;
            let fresh = storage::open_private(&path, false)?;
            fresh.try_lock().map_err(io::Error::from)?;
            *file.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
            Ok(kept)
        })
        .await
    }

    /// Writes what waits and lets go of the file, so that somebody else can open it.
    pub async fn close(self) {
        let Self { jobs, file, writer, .. } = self;
        drop(jobs);
        // Fails only when the writer panicked; the file is let go all the same.
        let _ = writer.await;
        drop(file);
    }

    /// Removes a history in which nothing was said.
    pub async fn discard(self) -> io::Result<()> {
        let path = self.path.clone();
        self.close().await;
        blocking(move || storage::remove(&path)).await
    }
}

async fn write(mut queue: mpsc::Receiver<Job>, file: Arc<Mutex<File>>) {
    while let Some(Job { entry, saved }) = queue.recv().await {
        let result = match entry {
            None => Ok(()),
            Some(entry) => {
                let file = Arc::clone(&file);
                blocking(move || append_line(&mut file.lock().unwrap_or_else(PoisonError::into_inner), entry))
                    .await
            }
        };
        // Nobody may be waiting any more.
        let _ = saved.send(result);
    }
}

fn append_line(file: &mut File, entry: Entry) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Line { at: Timestamp::now(), entry })?;
    line.push(b'\n');
    let before = file.metadata()?.len();
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    if written.is_err() {
        // Half a line would spoil the next one. If this fails too, loading drops the torn line.
        let _ = file.set_len(before);
    }
    written
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
