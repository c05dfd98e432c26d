//! The trust store: `trust.json` in the user's state directory, which several processes share.

use super::{Digest, Survey, TrustError, TrustedWorkspace, survey};
use crate::environment::Environment;
use crate::limits::{TRUST_LOCK_MAX_MS, TRUST_STORE_MAX_BYTES};
use crate::paths::WorkspaceRoot;
use crate::problem::Problem;
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// What the user said about workspaces. It keeps nothing in memory: another process may write at any time.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

/// Whether a workspace's own configuration may be used.
#[derive(Clone, Debug)]
pub enum TrustState {
    /// Yes, through this.
    Trusted(TrustedWorkspace),
    /// It was trusted, but is no longer what it was.
    Changed {
        /// What changed, came or went.
        files: Vec<String>,
    },
    /// No.
    Untrusted,
}

/// The file's content.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u32,
    /// For each workspace its trusted files with their digests.
    workspaces: BTreeMap<String, BTreeMap<String, Digest>>,
}

const VERSION: u32 = 1;

enum Read {
    Book(Book),
    /// There is something, but it is no trust store that this version reads.
    Broken(String),
}

impl TrustStore {
    /// The user's store, which need not exist yet.
    pub fn new(environment: &Environment) -> Self {
        Self { path: environment.state_dir.join("trust.json") }
    }

    /// Whether a workspace is trusted as it is now. A store or workspace that cannot be read is not.
    pub fn state(&self, root: &WorkspaceRoot) -> (TrustState, Vec<Problem>) {
        let untrusted = |problem| (TrustState::Untrusted, vec![problem]);
        let book = match self.read() {
            Ok(Read::Book(book)) => book,
            Ok(Read::Broken(why)) => {
                return untrusted(Problem::in_file(
                    &self.path,
                    format!("{why}, so no workspace is trusted"),
                    format!(
                        "trust your workspaces again; the file is then kept as {}",
                        self.broken().display()
                    ),
                ));
            }
            Err(error) => {
                let what = format!("cannot be read ({error}), so no workspace is trusted");
                return untrusted(Problem::in_file(&self.path, what, "make it readable"));
            }
        };
        let Some(trusted) = key(root).ok().and_then(|key| book.workspaces.get(key)) else {
            return (TrustState::Untrusted, Vec::new());
        };
        match survey(root) {
            Ok(now) => (compare(root, trusted, &now), Vec::new()),
            Err(error) => untrusted(Problem::in_file(
                root.as_host(),
                error.to_string(),
                "correct that and trust the workspace again",
            )),
        }
    }

    /// Trusts a workspace as the user was shown it; refused when it is no longer that.
    pub fn trust(&self, root: &WorkspaceRoot, shown: &Survey) -> Result<TrustedWorkspace, TrustError> {
        let key = key(root)?;
        let now = survey(root)?;
        if now.digest != shown.digest {
            return Err(TrustError::ChangedMeanwhile { files: difference(&shown.digests(), &now.digests()) });
        }
        let files = now.digests();
        self.change(|book| drop(book.workspaces.insert(key.to_owned(), files)))?;
        Ok(TrustedWorkspace::new(root, &now))
    }

    /// Takes trust back; whether there was any.
    pub fn revoke(&self, root: &WorkspaceRoot) -> Result<bool, TrustError> {
        let key = key(root)?;
        let mut was_trusted = false;
        self.change(|book| was_trusted = book.workspaces.remove(key).is_some())?;
        Ok(was_trusted)
    }

    /// Reads, changes and writes the store while no other process does.
    fn change(&self, change: impl FnOnce(&mut Book)) -> Result<(), TrustError> {
        let failed = |action| move |source| TrustError::Store { action, path: self.path.clone(), source };
        let _lock = storage::lock(&self.path.with_extension("json.lock"), TRUST_LOCK_MAX_MS)
            .map_err(failed("lock"))?;
        let mut book = match self.read().map_err(failed("read"))? {
            Read::Book(book) => book,
            Read::Broken(_) => {
                storage::put_aside(&self.path, &self.broken()).map_err(failed("put aside"))?;
                Book::empty()
            }
        };
        change(&mut book);
        let text = serde_json::to_vec_pretty(&book).map_err(|error| failed("write")(error.into()))?;
        if text.len() > TRUST_STORE_MAX_BYTES {
            return Err(failed("add to")(io::Error::other(
                "it is full; revoke trust in workspaces that you no longer use",
            )));
        }
        storage::replace(&self.path, &text).map_err(failed("write"))
    }

    fn read(&self) -> io::Result<Read> {
        let text = match storage::read_text(&self.path, TRUST_STORE_MAX_BYTES) {
            Ok(None) => return Ok(Read::Book(Book::empty())),
            Ok(Some(text)) => text,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge) =>
            {
                return Ok(Read::Broken(format!("is damaged ({error})")));
            }
            Err(error) => return Err(error),
        };
        Ok(match serde_json::from_str::<Book>(&text) {
            Ok(book) if book.version == VERSION => Read::Book(book),
            Ok(_) => Read::Broken("was written by another version of airlock".to_owned()),
            Err(error) => Read::Broken(format!("is damaged (line {})", error.line())),
        })
    }

    fn broken(&self) -> PathBuf {
        self.path.with_extension("json.broken")
    }
}

impl Book {
    fn empty() -> Self {
        Self { version: VERSION, workspaces: BTreeMap::new() }
    }
}

fn compare(root: &WorkspaceRoot, trusted: &BTreeMap<String, Digest>, now: &Survey) -> TrustState {
    let files = difference(trusted, &now.digests());
    if files.is_empty() {
        TrustState::Trusted(TrustedWorkspace::new(root, now))
    } else {
        TrustState::Changed { files }
    }
}

/// The paths that are in one only, or differ.
fn difference(one: &BTreeMap<String, Digest>, other: &BTreeMap<String, Digest>) -> Vec<String> {
    let mut paths: Vec<_> = one.keys().chain(other.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| one.get(*path) != other.get(*path));
    paths.into_iter().cloned().collect()
}

fn key(root: &WorkspaceRoot) -> Result<&str, TrustError> {
    root.as_host().to_str().ok_or_else(|| TrustError::Untrustable {
        path: root.as_host().to_owned(),
        reason: "its path is not UTF-8; rename its folder".to_owned(),
    })
}
