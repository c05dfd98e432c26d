//! What is being written to the user's files. A server that is killed meanwhile leaves files beside them; the next one
//! finds them by this record and removes what is ours.

use super::user_files::Put;
use crate::environment::Environment;
use crate::limits::UNFINISHED_FILE_MAX_BYTES;
use crate::paths::WorkspacePath;
use crate::sandbox::session_folders;
use crate::storage;
use crate::storage::beneath::{Folder, Temporary};
use crate::storage::confined::{self, Reach};
use crate::view::{Entry, Sides};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The record of one session's writes, while they are made.
pub(super) struct Unfinished {
    record: PathBuf,
    writes: Writes,
    /// Nobody else clears up meanwhile.
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct Writes {
    root: PathBuf,
    writes: Vec<Write>,
}

#[derive(Serialize, Deserialize)]
struct Write {
    path: String,
    temporary: Temporary,
    /// Digests of what the user was shown there, and of what is put there.
    known: Vec<String>,
}

const RECORD: &str = "unfinished.json";
/// How long another server may take to clear up.
const LOCK_MAX_MS: u64 = 5_000;

impl Unfinished {
    /// Takes down what is to be written. It is on the disk when this returns.
    pub(super) fn begin(sides: &Sides, puts: &[Put]) -> io::Result<Self> {
        let lock = lock(&sides.folder, LOCK_MAX_MS)?;
        // Of an earlier one, in which the disk failed.
        clear_up(&sides.folder)?;
        let write = |put: &Put| Write {
            path: put.path.as_str().to_owned(),
            temporary: put.temporary.clone(),
            known: [&put.seen, &put.wanted].into_iter().filter_map(digest).collect(),
        };
        let writes =
            Writes { root: sides.user.root().as_host().to_owned(), writes: puts.iter().map(write).collect() };
        let record = sides.folder.join(RECORD);
        storage::replace(&record, &serde_json::to_vec(&writes)?)?;
        Ok(Self { record, writes, _lock: lock })
    }

    /// Removes what is left beside the user's files, and the record.
    pub(super) fn clear_up(&self) -> io::Result<()> {
        self.writes.clear_up()?;
        storage::remove(&self.record)
    }
}

impl Writes {
    fn clear_up(&self) -> io::Result<()> {
        let root = Folder::open(&self.root)?;
        self.writes.iter().try_for_each(|write| write.clear_up(&root))
    }
}

impl Write {
    fn clear_up(&self, root: &Folder) -> io::Result<()> {
        let path = WorkspacePath::parse(&self.path).map_err(io::Error::other)?;
        let Some((folder, name)) = root.parent_of(path.as_path())? else { return Ok(()) };
        let (temporary, unfinished) = (self.temporary.name(), self.temporary.unfinished());
        if folder.facts(&unfinished)?.is_some() {
            folder.remove_file(&unfinished)?;
        } else if folder.facts(temporary)?.is_none() {
            return Ok(());
        }
        match Entry::of(folder.node(temporary)?)? {
            Entry::Missing => {}
            entry if digest(&entry).is_some_and(|digest| self.known.contains(&digest)) => {
                folder.remove_file(temporary)?;
            }
            _ => {
                let told = folder.put_back(&self.temporary, name);
                tracing::warn!(%path, %told, "what was saved as a server was killed is put back");
            }
        }
        folder.sync()
    }
}

/// Removes what servers that were killed have left beside the user's files.
pub fn clear_up_after_kills(environment: &Environment) {
    for folder in session_folders(environment) {
        if !folder.join(RECORD).exists() {
            continue;
        }
        // Whoever holds the lock is at it.
        let Ok(_lock) = lock(&folder, 0) else { continue };
        if let Err(error) = clear_up(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "what a killed server left cannot be removed");
        }
    }
}

fn clear_up(session: &Path) -> io::Result<()> {
    let record = session.join(RECORD);
    let Some(text) = storage::read_bytes(&record, UNFINISHED_FILE_MAX_BYTES)? else { return Ok(()) };
    let writes: Writes = serde_json::from_slice(&text)?;
    let reach = Reach { writes: vec![writes.root.clone()], reads: Vec::new() };
    confined::once(&reach, || writes.clear_up())?;
    storage::remove(&record)
}

fn lock(session: &Path, wait_max_ms: u64) -> io::Result<File> {
    storage::lock(&session.join("unfinished.lock"), wait_max_ms)
}

fn digest(entry: &Entry) -> Option<String> {
    match entry {
        Entry::File(file) => Some(file.content.digest()),
        Entry::Link(target) => Some(format!("link to {}", target.display())),
        Entry::Missing | Entry::Folder | Entry::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::WorkspaceRoot;
    use crate::view::NoEditor;
    use pretty_assertions::assert_eq;
    use std::sync::Arc;

    const FILES: [(&str, &str); 3] = [("put", "seen"), ("removed", "seen"), ("saved", "seen")];

    /// What is in the workspace after a kill that left this, under the temporary names of three files.
    fn after_a_kill(leave: impl Fn(&Path, &[Temporary])) -> Vec<(String, String)> {
        let top = tempfile::tempdir().unwrap();
        let environment = Environment::for_test(top.path(), &[]);
        let root = top.path().join("ws");
        for (name, text) in FILES {
            storage::replace(&root.join(name), text.as_bytes()).unwrap();
        }
        let session = crate::sandbox::session_folder(&environment, "s");
        let root = WorkspaceRoot::open(&root).unwrap();
        let sides = Sides::open(&root, Arc::new(NoEditor), &session).unwrap();
        let file = |text: &str| Entry::file(text.as_bytes(), 0o644);
        let put = |(path, seen): (&str, &str)| Put {
            path: WorkspacePath::parse(path).unwrap(),
            seen: file(seen),
            wanted: if path == "removed" { Entry::Missing } else { file("accepted") },
            temporary: Temporary::new(),
        };
        let puts = FILES.map(put);
        let unfinished = Unfinished::begin(&sides, &puts).unwrap();
        leave(root.as_host(), &puts.each_ref().map(|put| put.temporary.clone()));
        clear_up_after_kills(&environment);
        let is_record = || session.join(RECORD).exists();
        assert!(is_record(), "whoever is at work is left alone");
        drop(unfinished);
        clear_up_after_kills(&environment);
        assert!(!is_record());
        let names = storage::names_with_prefix(root.as_host(), "").unwrap();
        let text = |name: &String| storage::read_text(&root.as_host().join(name), 99).unwrap().unwrap();
        names.iter().map(|name| (name.clone(), text(name))).collect()
    }

    fn texts(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_a_kill_leaves_of_ours_goes_and_what_is_somebodys_stays() {
        assert_eq!(after_a_kill(|_, _| ()), texts(&FILES));
        let write = |root: &Path, name: &std::ffi::OsStr, text: &str| {
            storage::write_private(&root.join(name), text.as_bytes()).unwrap();
        };
        let before_the_exchange = after_a_kill(|root, temporaries| {
            write(root, temporaries[0].name(), "accepted");
            write(root, &temporaries[2].unfinished(), "acc");
        });
        assert_eq!(before_the_exchange, texts(&FILES));
        let after_it = after_a_kill(|root, temporaries| {
            write(root, temporaries[0].name(), "seen");
            write(root, "put".as_ref(), "accepted");
            storage::put_aside(&root.join("removed"), &root.join(temporaries[1].name())).unwrap();
        });
        assert_eq!(after_it, texts(&[("put", "accepted"), ("saved", "seen")]));
        let saved_meanwhile = after_a_kill(|root, temporaries| {
            storage::put_aside(&root.join("removed"), &root.join(temporaries[1].name())).unwrap();
            write(root, temporaries[1].name(), "typed");
            write(root, temporaries[2].name(), "typed, too");
        });
        let kept = [("put", "seen"), ("removed", "typed"), ("saved", "seen"), ("saved.kept-1", "typed, too")];
        assert_eq!(saved_meanwhile, texts(&kept));
    }
}
