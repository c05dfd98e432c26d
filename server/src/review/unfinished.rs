//! What is being written to the user's files. A server that is killed meanwhile leaves files beside them; the next one
//! finds them by this record and removes what is ours.

use super::user_files::Put;
use crate::environment::Environment;
use crate::limits::UNFINISHED_FILE_MAX_BYTES;
use crate::neutral::neutral_line;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::sandbox::session_folders;
use crate::storage;
use crate::storage::beneath::{Folder, Node, Temporary, read_bounded};
use crate::storage::confined::{self, Reach};
use crate::view::{Entry, Sides};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The record of one session's writes, while they are made.
pub(super) struct Unfinished {
    folder: PathBuf,
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
        let root = sides.user.root();
        // Of an earlier one, in which the disk failed. What can't be cleared up now is kept, and holds up nothing.
        let mut writes = Writes::read(&sides.folder, root)?;
        writes.clear_up();
        let write = |put: &Put| Write {
            path: put.path.as_str().to_owned(),
            temporary: put.temporary.clone(),
            known: [&put.seen, &put.wanted].into_iter().filter_map(digest).collect(),
        };
        writes.writes.extend(puts.iter().map(write));
        let unfinished = Self { folder: sides.folder.clone(), writes, _lock: lock };
        unfinished.writes.save(&unfinished.folder)?;
        Ok(unfinished)
    }

    /// Removes what is left beside the user's files, and the record where nothing is.
    pub(super) fn clear_up(mut self) -> io::Result<()> {
        self.writes.clear_up();
        self.writes.save(&self.folder)
    }
}

impl Writes {
    /// Those of a session of this workspace. A record of another one is nobody's.
    fn read(session: &Path, root: &WorkspaceRoot) -> io::Result<Self> {
        let none = Self { root: root.as_host().to_owned(), writes: Vec::new() };
        let Node::File(file) = Folder::open(session)?.node(RECORD.as_ref())? else { return Ok(none) };
        let text = read_bounded(file, UNFINISHED_FILE_MAX_BYTES)?;
        Ok(serde_json::from_slice(&text).ok().filter(|kept: &Self| kept.root == none.root).unwrap_or(none))
    }

    fn save(&self, session: &Path) -> io::Result<()> {
        let record = session.join(RECORD);
        if self.writes.is_empty() {
            return storage::remove(&record);
        }
        let text = serde_json::to_vec(self)?;
        if text.len() > UNFINISHED_FILE_MAX_BYTES {
            return Err(io::Error::other("their names are too long to be written at once: accept fewer"));
        }
        storage::replace(&record, &text)
    }

    /// What can't be cleared up stays in it. Gives what the user should know.
    fn clear_up(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        let root = match Folder::open(&self.root) {
            Ok(root) => root,
            Err(error) => {
                tracing::warn!(%error, "what was being written cannot be looked at");
                return told;
            }
        };
        self.writes.retain(|write| match write.clear_up(&root) {
            Ok(kept) => {
                told.extend(kept.map(|kept| format!("{}: {kept}", neutral_line(&write.path))));
                false
            }
            Err(error) => {
                tracing::warn!(path = write.path, %error, "what was being written cannot be cleared up");
                true
            }
        });
        told
    }
}

impl Write {
    /// Gives what the user should know: what somebody saved in the moment in which the server was killed is kept.
    fn clear_up(&self, root: &Folder) -> io::Result<Option<String>> {
        let path = WorkspacePath::parse(&self.path).map_err(io::Error::other)?;
        let Some((folder, name)) = root.parent_of(path.as_path())? else { return Ok(None) };
        let (temporary, unfinished) = (self.temporary.name(), self.temporary.unfinished());
        if folder.facts(&unfinished)?.is_some() {
            folder.remove_file(&unfinished)?;
        } else if folder.facts(temporary)?.is_none() {
            return Ok(None);
        }
        let entry = match folder.node(temporary).and_then(Entry::of) {
            // One that is closed to us is not what we know.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Entry::Other,
            entry => entry?,
        };
        let kept = match entry {
            Entry::Missing => None,
            entry if digest(&entry).is_some_and(|digest| self.known.contains(&digest)) => {
                folder.remove_file(temporary)?;
                None
            }
            _ => Some(folder.put_back(&self.temporary, name)?),
        };
        folder.sync()?;
        Ok(kept)
    }
}

/// Removes what servers that were killed have left beside the user's files in a workspace. Gives what the user should know.
pub fn clear_up_after_kills(environment: &Environment, root: &WorkspaceRoot) -> Vec<String> {
    let mut told = Vec::new();
    for folder in session_folders(environment).into_iter().filter(|folder| folder.join(RECORD).exists()) {
        // Whoever holds the lock is at it.
        let Ok(_lock) = lock(&folder, 0) else { continue };
        let reach = Reach { writes: vec![root.as_host().to_owned(), folder.clone()], reads: Vec::new() };
        let cleared = confined::once(&reach, || {
            let mut writes = Writes::read(&folder, root)?;
            let is_ours = !writes.writes.is_empty();
            told.extend(writes.clear_up());
            if is_ours { writes.save(&folder) } else { Ok(()) }
        });
        if let Err(error) = cleared {
            tracing::warn!(folder = %folder.display(), %error, "what a killed server left cannot be removed");
        }
    }
    told
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
        clear_up_after_kills(&environment, &root);
        let is_record = || session.join(RECORD).exists();
        assert!(is_record(), "whoever is at work is left alone");
        drop(unfinished);
        clear_up_after_kills(&environment, &root);
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

    #[test]
    fn a_record_that_somebody_planted_moves_and_removes_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let plant = |temporary: &str, root: &str, mode: u32| {
            let top = tempfile::tempdir().unwrap();
            let environment = Environment::for_test(top.path(), &[]);
            let workspace = top.path().join("ws");
            storage::replace(&workspace.join(temporary), b"precious").unwrap();
            let session = crate::sandbox::session_folder(&environment, "s");
            let root = if root.is_empty() { workspace.display().to_string() } else { root.to_owned() };
            let writes = serde_json::json!([{"path": "moved", "temporary": temporary, "known": []}]);
            let record = serde_json::json!({"root": root, "writes": writes}).to_string();
            storage::replace(&session.join(RECORD), record.as_bytes()).unwrap();
            storage::set_mode(session.parent().unwrap(), mode).unwrap();
            clear_up_after_kills(&environment, &WorkspaceRoot::open(&workspace).unwrap());
            std::fs::set_permissions(session.parent().unwrap(), PermissionsExt::from_mode(0o700)).unwrap();
            storage::names_with_prefix(&workspace, "").unwrap()
        };
        const OURS: &str = ".airlock-1-2-3.tmp";
        assert_eq!(plant(OURS, "", 0o700), ["moved"], "or this test says nothing");
        assert_eq!(plant(OURS, "", 0o777), [OURS], "a folder that others can write to");
        assert_eq!(plant(OURS, "/", 0o700), [OURS], "a record of another workspace");
        for name in ["precious", ".airlock-1-2-3.new", ".airlock-1-2.tmp", ".airlock-x-2-3.tmp"] {
            assert_eq!(plant(name, "", 0o700), [name]);
        }
    }
}
