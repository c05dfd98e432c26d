//! A session is open once on this machine, whichever process has it and whatever conversation it goes on with.
//!
//! Its id names the folder that its sandbox writes to. Two sandboxes on one folder would ruin it.

use super::Agent;
use super::history::HistoryError;
use crate::environment::Environment;
use crate::sandbox::session_folder;
use crate::storage;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More than others can come and go in between.
const TRIES: usize = 100;

/// Whoever has this has the session. It goes with the process, however that ends.
pub(super) struct Claim {
    file: File,
    path: PathBuf,
}

impl Claim {
    /// Takes a session; `None` where the disk does not allow to say so, which must not keep the user from it.
    pub(super) fn take(environment: &Environment, id: &str) -> Result<Option<Self>, HistoryError> {
        let path = environment.state_dir.join("open").join(id);
        match lock(&path) {
            Ok(file) => Ok(Some(Self { file, path })),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(HistoryError::InUse(id.to_owned())),
            Err(error) => {
                tracing::warn!(id, %error, "a session is open and cannot say so");
                Ok(None)
            }
        }
    }
}

impl Agent {
    /// Takes a session for whoever opens it.
    pub(super) fn claim(&self, id: &str) -> Result<Option<Claim>, HistoryError> {
        if self.sessions.contains_key(id) {
            return Err(HistoryError::InUse(id.to_owned()));
        }
        Claim::take(&self.environment, id)
    }

    /// The same for a new one: nothing of another one may be there.
    pub(super) fn claim_new(&self, id: &str) -> Result<Option<Claim>, HistoryError> {
        let claim = self.claim(id)?;
        if session_folder(&self.environment, id).exists() {
            return Err(HistoryError::InUse(id.to_owned()));
        }
        Ok(claim)
    }
}

/// An id for a session that is not kept.
pub(super) fn free_id(is_taken: &dyn Fn(&str) -> bool) -> String {
    let mut number = 1;
    while is_taken(&format!("unsaved-{number}")) {
        number += 1;
    }
    format!("unsaved-{number}")
}

fn lock(path: &Path) -> io::Result<File> {
    for _ in 0..TRIES {
        let file = storage::lock(path, 0)?;
        // Whoever had it may have removed the file after it was opened here: then another one can be made, and locked.
        if path.metadata().is_ok_and(|there| is_same(&file, there.ino())) {
            return Ok(file);
        }
    }
    Err(io::Error::other("its file is another one whenever it is looked at"))
}

fn is_same(file: &File, inode: u64) -> bool {
    file.metadata().is_ok_and(|ours| ours.ino() == inode)
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is locked, so that it is ours. One that stays is free as soon as this process has closed it.
        if self.path.metadata().is_ok_and(|there| is_same(&self.file, there.ino())) {
            let _ = storage::remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_had_once_and_leaves_no_trace() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::for_test(home.path(), &[]);
        let first = Claim::take(&environment, "s").unwrap();
        assert!(first.is_some());
        assert!(matches!(Claim::take(&environment, "s"), Err(HistoryError::InUse(_))));
        assert!(Claim::take(&environment, "t").unwrap().is_some());
        drop(first);
        assert!(Claim::take(&environment, "s").unwrap().is_some());
        assert!(storage::is_empty_folder(&environment.state_dir.join("open")).unwrap());
    }

    /// However takers and leavers overtake each other.
    #[test]
    fn many_who_want_the_same_session_never_have_it_at_once() {
        let home = tempfile::tempdir().unwrap();
        let environment = Environment::for_test(home.path(), &[]);
        let (had, taken) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
        let order = std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Ok(claim) = Claim::take(&environment, "s") else { continue };
                        assert_eq!(had.fetch_add(1, order), 0);
                        taken.fetch_add(1, order);
                        had.fetch_sub(1, order);
                        drop(claim);
                    }
                });
            }
        });
        assert!(taken.load(order) > 0);
    }
}
