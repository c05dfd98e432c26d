//! Which paths the user accepted and has not committed yet, kept in the session's folder.
//!
//! Each acceptance has a number. What was committed is forgotten by path and number, so a path that was accepted again
//! meanwhile stays.

use crate::limits::{ACCEPTED_FILE_MAX_BYTES, ACCEPTED_LOCK_MAX_MS};
use crate::paths::WorkspacePath;
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The record of one session. Several may be open at once, in this process or in another.
#[derive(Clone, Debug)]
pub struct Accepted {
    file: PathBuf,
    lock: PathBuf,
}

/// A path that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The path.
    pub path: WorkspacePath,
    number: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Record {
    /// The number of the next acceptance.
    next: u64,
    paths: BTreeMap<String, u64>,
}

impl Accepted {
    /// The record in a session's folder, which need not be there yet.
    pub fn open(folder: &Path) -> Self {
        Self { file: folder.join("accepted.json"), lock: folder.join("accepted.lock") }
    }

    /// Takes down paths that were accepted, wholly or in part. They are on the disk when it returns.
    pub fn add(&self, paths: &[WorkspacePath]) -> io::Result<()> {
        self.change(|record| {
            for path in paths {
                record.paths.insert(path.as_str().to_owned(), record.next);
            }
            record.next += 1;
            !paths.is_empty()
        })
    }

    /// What was accepted and not committed yet, sorted by path.
    pub fn paths(&self) -> io::Result<Vec<Acceptance>> {
        let paths = self.read()?.paths.into_iter();
        // Whoever wrote something else into it did not accept it.
        let acceptance = |(path, number): (String, u64)| {
            Some(Acceptance { path: WorkspacePath::parse(&path).ok()?, number })
        };
        Ok(paths.filter_map(acceptance).collect())
    }

    /// These were committed, as they were when [`Self::paths`] gave them.
    pub fn forget(&self, committed: &[Acceptance]) -> io::Result<()> {
        self.change(|record| {
            let before = record.paths.len();
            for Acceptance { path, number } in committed {
                if record.paths.get(path.as_str()) == Some(number) {
                    record.paths.remove(path.as_str());
                }
            }
            record.paths.len() != before
        })
    }

    fn change(&self, change: impl FnOnce(&mut Record) -> bool) -> io::Result<()> {
        self.try_to_change(change)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.file.display())))
    }

    fn try_to_change(&self, change: impl FnOnce(&mut Record) -> bool) -> io::Result<()> {
        let _held = storage::lock(&self.lock, ACCEPTED_LOCK_MAX_MS)?;
        let mut record = self.read()?;
        if change(&mut record) {
            storage::replace(&self.file, &serde_json::to_vec(&record)?)?;
        }
        Ok(())
    }

    fn read(&self) -> io::Result<Record> {
        match storage::read_bytes(&self.file, ACCEPTED_FILE_MAX_BYTES)? {
            Some(bytes) => Ok(serde_json::from_slice(&bytes)?),
            None => Ok(Record::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn paths(names: &[&str]) -> Vec<WorkspacePath> {
        names.iter().map(|name| WorkspacePath::parse(name).unwrap()).collect()
    }

    fn kept(accepted: &Accepted) -> Vec<String> {
        accepted.paths().unwrap().iter().map(|acceptance| acceptance.path.to_string()).collect()
    }

    #[test]
    fn what_was_accepted_is_known_after_a_restart_until_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("session");
        assert_eq!(kept(&Accepted::open(&session)), [""; 0]);
        Accepted::open(&session).add(&paths(&["b", "a/x"])).unwrap();
        Accepted::open(&session).add(&paths(&["b", "c"])).unwrap();
        let accepted = Accepted::open(&session);
        assert_eq!(kept(&accepted), ["a/x", "b", "c"]);
        accepted.forget(&accepted.paths().unwrap()[..2]).unwrap();
        assert_eq!(kept(&Accepted::open(&session)), ["c"]);
    }

    #[test]
    fn a_path_that_is_accepted_again_while_it_is_committed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let accepted = Accepted::open(folder.path());
        accepted.add(&paths(&["a", "b"])).unwrap();
        let committed = accepted.paths().unwrap();
        accepted.add(&paths(&["b"])).unwrap();
        accepted.forget(&committed).unwrap();
        assert_eq!(kept(&accepted), ["b"]);
    }

    #[test]
    fn two_that_accept_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let accepted = Accepted::open(folder.path());
                scope.spawn(move || {
                    for number in 0..10 {
                        accepted.add(&paths(&[&format!("{thread}-{number}")])).unwrap();
                    }
                });
            }
        });
        assert_eq!(kept(&Accepted::open(folder.path())).len(), 40);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_an_error_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let accepted = Accepted::open(folder.path());
        std::fs::write(folder.path().join("accepted.json"), "{").unwrap();
        assert!(accepted.paths().is_err());
        assert!(accepted.add(&paths(&["a"])).is_err());
        assert_eq!(std::fs::read_to_string(folder.path().join("accepted.json")).unwrap(), "{");
    }
}
