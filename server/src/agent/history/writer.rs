//! Writes a history: one file, one lock, lines in order.

use super::entry::{Entry, Line};
use super::{HistoryError, Loaded};
use crate::limits::HISTORY_UNWRITTEN_MAX_BYTES;
use crate::storage;
use jiff::Timestamp;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Lines that wait to be written.
const WAITING_MAX: usize = 64;

/// An open history. Whoever holds it is the only writer.
pub struct History {
    id: String,
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
    tail: Arc<Mutex<Tail>>,
    writer: JoinHandle<()>,
}

/// Becomes ready when the line is on the disk, or cannot be.
pub type Saved = oneshot::Receiver<io::Result<()>>;

/// Where the writer appends.
struct Tail {
    /// Replaced when the history begins anew.
    file: File,
    /// How much of it is whole lines. What is behind that is what the disk took of a line that it did not take whole.
    whole_bytes: u64,
    /// The folder in which its name is not on the disk yet.
    unsynced: Option<PathBuf>,
    /// Lines that the disk did not take. They go before every later one, so that the file never has a hole.
    unwritten: Vec<u8>,
    /// Too much waited, and some was let go: nothing may follow it.
    overflowed: bool,
}

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
        let whole_bytes = loaded.whole_bytes as u64;
        file.set_len(whole_bytes).map_err(fail("repair"))?;
        let unsynced = (whole_bytes == 0).then(|| path.parent().map(Path::to_owned)).flatten();
        let tail = Arc::new(Mutex::new(Tail { unsynced, ..Tail::of(file, whole_bytes) }));
        let (jobs, queue) = mpsc::channel(WAITING_MAX);
        let writer = tokio::spawn(write(queue, Arc::clone(&tail)));
        Ok(Self { id, path, jobs, tail, writer })
    }

    /// The session's id: the file's name without its ending.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts an entry at the end. It is on the disk when the result is ready. What the disk does not take waits for the
    /// next entry: when one is on the disk, so are all before it.
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
        // What the disk did not take belongs to the old file.
        self.flushed().await.await.unwrap_or_else(|error| Err(io::Error::other(error)))?;
        let (path, tail) = (self.path.clone(), Arc::clone(&self.tail));
        blocking(move || {
            let kept = storage::keep_under_another_name(&path)?;
            storage::replace(&path, b"")?;
            let fresh = storage::open_private(&path, false)?;
            fresh.try_lock().map_err(io::Error::from)?;
            *lock(&tail) = Tail::of(fresh, 0);
            Ok(kept)
        })
        .await
    }

    /// Writes what waits and lets go of the file, so that somebody else can open it.
    pub async fn close(self) {
        let Self { jobs, tail, writer, .. } = self;
        drop(jobs);
        // Fails only when the writer panicked; the file is let go all the same.
        let _ = writer.await;
        drop(tail);
    }

    /// Removes a history in which nothing was said.
    pub async fn discard(self) -> io::Result<()> {
        let path = self.path.clone();
        self.close().await;
        blocking(move || storage::remove(&path)).await
    }
}

async fn write(mut queue: mpsc::Receiver<Job>, tail: Arc<Mutex<Tail>>) {
    while let Some(Job { entry, saved }) = queue.recv().await {
        let tail = Arc::clone(&tail);
        let result = blocking(move || lock(&tail).append(entry)).await;
        // Nobody may be waiting any more.
        let _ = saved.send(result);
    }
    // A last try for what the disk did not take. Who waited for it was told.
    let _ = blocking(move || lock(&tail).append(None)).await;
}

impl Tail {
    fn of(file: File, whole_bytes: u64) -> Self {
        Self { file, whole_bytes, unsynced: None, unwritten: Vec::new(), overflowed: false }
    }

    /// Writes what waits and this, or nothing.
    fn append(&mut self, entry: Option<Entry>) -> io::Result<()> {
        if let Some(entry) = entry {
            let line = serde_json::to_vec(&Line { at: Timestamp::now(), entry })?;
            // One that is large by itself did not wait.
            let waited = self.unwritten.len();
            self.overflowed |= waited > 0 && waited + line.len() >= HISTORY_UNWRITTEN_MAX_BYTES;
            if self.overflowed {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too much waited to be written"));
            }
            self.unwritten.extend(line);
            self.unwritten.push(b'\n');
        }
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let written = self.write_whole();
        match written {
            Ok(()) => {
                self.whole_bytes += self.unwritten.len() as u64;
                self.unwritten = Vec::new();
            }
            // If this fails too, it is done before the next line; and loading drops a torn one.
            Err(_) => drop(self.file.set_len(self.whole_bytes)),
        }
        written
    }

    fn write_whole(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() != self.whole_bytes {
            // Half a line would spoil the next one.
            self.file.set_len(self.whole_bytes)?;
        }
        self.file.write_all(&self.unwritten)?;
        self.file.sync_data()?;
        if let Some(folder) = &self.unsynced {
            storage::sync_folder(folder)?;
            self.unsynced = None;
        }
        Ok(())
    }
}

fn lock(tail: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Message;

    fn said(text: String) -> Option<Entry> {
        Some(Entry::Message(Message::user(text)))
    }

    #[test]
    fn a_line_that_is_large_by_itself_ends_no_history() {
        let file = tempfile::tempfile().unwrap();
        let mut tail = Tail::of(file.try_clone().unwrap(), 0);
        tail.append(said("x".repeat(HISTORY_UNWRITTEN_MAX_BYTES))).unwrap();
        tail.append(said("and on".to_owned())).unwrap();
        assert_eq!(file.metadata().unwrap().len(), tail.whole_bytes);
        assert!(!tail.overflowed);
    }
}
