//! What both sides last agreed on: the content that the agent's change of a path was made from.
//!
//! It is the third side of a three-way merge. Where the agent's view differs from it, the agent changed something;
//! where the user's file differs from it, the user did. A path that is not kept here was never touched by either in a
//! way that matters: the view shows the workspace's own file.
//!
//! On disk it is a log of lines and, beside it, each content under its digest. A line that was not written whole, or
//! a content that is damaged, leaves its path with an unknown base, and then nothing is merged or overwritten unasked.

use super::contents::Contents;
use super::entry::{Content, Entry, FileEntry};
use crate::limits::{VIEW_BASE_LINE_MAX_BYTES, VIEW_BASE_OLD_LINES_MAX};
use crate::paths::WorkspacePath;
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What both sides last agreed on, of one session.
pub struct Base {
    contents: Contents,
    kept: BTreeMap<WorkspacePath, Kept>,
    log_path: PathBuf,
    /// `None`: it was written anew and could not be opened yet.
    log: Option<File>,
    /// The log may end in a piece of a line.
    torn: bool,
    /// Lines of the log, or those since it could not be written anew.
    lines: usize,
}

/// What is known of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// Nothing was kept: the view shows the workspace's own.
    NotKept,
    /// Both had this.
    On(Entry),
    /// Both changed it at once, so that nobody knows what it was before.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kept {
    Missing,
    File { digest: String, bytes: u64, mode: u32 },
    Link { target: Vec<u8> },
    Folder,
    Other,
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Line {
    path: String,
    /// `None`: it is no longer kept.
    kept: Option<Kept>,
}

impl Base {
    /// Opens what was kept, or begins anew.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        let contents = Contents::new(folder.join("content"));
        Self::open_with(&folder, contents)
    }

    /// The same, with contents that are shared with others.
    pub fn open_with(folder: &Path, contents: Contents) -> io::Result<Self> {
        storage::make_private_folder(folder)?;
        let log_path = folder.join("log");
        let log = open_log(&log_path)?;
        let mut base = Self { contents, kept: BTreeMap::new(), log_path, log: None, torn: false, lines: 0 };
        base.read(&log)?;
        base.log = Some(log);
        base.tidy();
        Ok(base)
    }

    /// Line by line: a log that grew too long is still what the review needs.
    fn read(&mut self, log: &File) -> io::Result<()> {
        let mut log = BufReader::new(log);
        let mut line = Vec::new();
        loop {
            line.clear();
            if log.by_ref().take(VIEW_BASE_LINE_MAX_BYTES as u64).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            self.lines += 1;
            self.torn = line.last() != Some(&b'\n');
            // A last line that was cut off says nothing.
            if let Ok(Line { path, kept }) = serde_json::from_slice(&line)
                && let Ok(path) = WorkspacePath::parse(&path)
            {
                apply(&mut self.kept, path, kept);
            }
        }
    }

    /// What both sides last agreed on at a path. Below something that was no folder there was nothing.
    pub fn get(&self, path: &WorkspacePath) -> Agreed {
        if let Some(kept) = self.kept.get(path) {
            return self.agreed(kept);
        }
        match path.ancestors().find_map(|above| self.kept.get(&above)) {
            None | Some(Kept::Folder) => Agreed::NotKept,
            Some(Kept::Unknown) => Agreed::Unknown,
            Some(_) => Agreed::On(Entry::Missing),
        }
    }

    /// Whether something is kept for this very path.
    pub fn keeps(&self, path: &WorkspacePath) -> bool {
        self.kept.contains_key(path)
    }

    /// Whether both sides last had a file or a link there.
    pub fn had_something(&self, path: &WorkspacePath) -> bool {
        matches!(self.kept.get(path), Some(Kept::File { .. } | Kept::Link { .. }))
    }

    /// All paths of which no more is kept than that nothing was there, or that nobody knows.
    pub fn paths_without_content(&self) -> Vec<WorkspacePath> {
        let without = self.kept.iter().filter(|(_, kept)| matches!(kept, Kept::Missing | Kept::Unknown));
        without.map(|(path, _)| path.clone()).collect()
    }

    /// All paths for which something is kept.
    pub fn paths(&self) -> Vec<WorkspacePath> {
        self.kept.keys().cloned().collect()
    }

    /// The digests of all contents that are kept for it.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        self.kept.values().filter_map(|kept| match kept {
            Kept::File { digest, .. } => Some(digest.as_str()),
            _ => None,
        })
    }

    /// Both sides have this now.
    pub fn agree(&mut self, path: &WorkspacePath, entry: &Entry) -> io::Result<()> {
        let kept = match entry {
            Entry::Missing => Kept::Missing,
            Entry::Folder => Kept::Folder,
            Entry::Other => Kept::Other,
            Entry::Link(target) => Kept::Link { target: target.as_bytes().to_vec() },
            Entry::File(FileEntry { content, mode }) => {
                let digest = content.digest();
                if let Content::Whole(bytes) = content {
                    self.contents.keep(&digest, bytes)?;
                }
                Kept::File { digest, bytes: content.len(), mode: *mode }
            }
        };
        self.note(path, Some(kept))
    }

    /// Nobody knows what it was before.
    pub fn lose(&mut self, path: &WorkspacePath) -> io::Result<()> {
        self.note(path, Some(Kept::Unknown))
    }

    /// The view shows the workspace's own again.
    pub fn forget(&mut self, path: &WorkspacePath) -> io::Result<()> {
        self.note(path, None)
    }

    fn note(&mut self, path: &WorkspacePath, kept: Option<Kept>) -> io::Result<()> {
        if self.kept.get(path) == kept.as_ref() {
            return Ok(());
        }
        let mut line = line(path, kept.clone())?;
        if self.torn {
            line.insert(0, b'\n');
        }
        if self.log.is_none() {
            self.log = Some(open_log(&self.log_path)?);
        }
        // A disk that fills up takes a piece.
        self.torn = true;
        if let Some(log) = &mut self.log {
            log.write_all(&line)?;
        }
        self.torn = false;
        self.lines += 1;
        apply(&mut self.kept, path.clone(), kept);
        self.tidy();
        Ok(())
    }

    /// Writes the log anew when most of it says nothing any more, or its end.
    fn tidy(&mut self) {
        if !self.torn && self.lines <= 2 * self.kept.len() + VIEW_BASE_OLD_LINES_MAX {
            return;
        }
        if let Err(error) = self.write_anew() {
            // All of it is in the old one. The next try comes after as many lines again.
            self.lines = self.kept.len();
            tracing::warn!(%error, "the log of what both sides agreed on grows");
        }
    }

    fn write_anew(&mut self) -> io::Result<()> {
        let lines = self.kept.iter().map(|(path, kept)| line(path, Some(kept.clone())));
        storage::replace(&self.log_path, &lines.collect::<io::Result<Vec<_>>>()?.concat())?;
        // The handle is that of the old one.
        self.log = None;
        self.lines = self.kept.len();
        self.torn = false;
        self.log = Some(open_log(&self.log_path)?);
        Ok(())
    }

    fn agreed(&self, kept: &Kept) -> Agreed {
        Agreed::On(match kept {
            Kept::Unknown => return Agreed::Unknown,
            Kept::Missing => Entry::Missing,
            Kept::Folder => Entry::Folder,
            Kept::Other => Entry::Other,
            Kept::Link { target } => Entry::Link(OsString::from_vec(target.clone())),
            Kept::File { digest, bytes, mode } => {
                let Some(content) = self.contents.get(digest, *bytes) else {
                    return Agreed::Unknown;
                };
                Entry::File(FileEntry { content, mode: *mode })
            }
        })
    }
}

fn apply(all: &mut BTreeMap<WorkspacePath, Kept>, path: WorkspacePath, kept: Option<Kept>) {
    if kept.as_ref().is_some_and(|kept| !matches!(kept, Kept::Missing | Kept::Unknown)) {
        // What something is in is a folder, on both sides: so who removes it changes something.
        for above in path.ancestors() {
            all.insert(above, Kept::Folder);
        }
    }
    match kept {
        Some(Kept::Folder) => drop(all.insert(path, Kept::Folder)),
        Some(kept) => {
            // Nothing is below what is no folder.
            let below = |other: &WorkspacePath| other != &path && other.as_path().starts_with(path.as_path());
            let gone: Vec<_> = all
                .range(path.clone()..)
                .map(|(other, _)| other)
                .take_while(|other| other.as_path().starts_with(path.as_path()))
                .filter(|other| below(other))
                .cloned()
                .collect();
            for other in gone {
                all.remove(&other);
            }
            all.insert(path, kept);
        }
        None => drop(all.remove(&path)),
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    match storage::open_private(path, true) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => storage::open_private(path, false),
        opened => opened,
    }
}

fn line(path: &WorkspacePath, kept: Option<Kept>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { path: path.as_str().to_owned(), kept })?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::entry::digest;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    #[test]
    fn what_was_agreed_on_is_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let entries = [
            ("a", Entry::file(b"text", 0o644)),
            ("b/c", Entry::Missing),
            ("d", Entry::Link("over/there".into())),
            ("e", Entry::Folder),
        ];
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        for (name, entry) in &entries {
            base.agree(&path(name), entry).unwrap();
        }
        base.lose(&path("f")).unwrap();
        base.agree(&path("g"), &Entry::Folder).unwrap();
        base.forget(&path("g")).unwrap();
        drop(base);
        let base = Base::open(folder.path().to_owned()).unwrap();
        for (name, entry) in &entries {
            assert_eq!(base.get(&path(name)), Agreed::On(entry.clone()), "{name}");
        }
        assert_eq!(base.get(&path("f")), Agreed::Unknown);
        assert_eq!(base.get(&path("g")), Agreed::NotKept);
        assert_eq!(base.get(&path("b/c/below")), Agreed::On(Entry::Missing));
    }

    #[test]
    fn what_something_is_in_is_a_folder_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        base.agree(&path("a"), &Entry::Missing).unwrap();
        base.agree(&path("a/b"), &Entry::Missing).unwrap();
        base.agree(&path("a/b/c"), &Entry::file(b"text", 0o644)).unwrap();
        base.forget(&path("a/b/c")).unwrap();
        assert_eq!(base.get(&path("a/b")), Agreed::On(Entry::Folder));
        assert_eq!(base.get(&path("a/b/c")), Agreed::NotKept);
    }

    #[test]
    fn a_damaged_content_is_unknown_and_not_merged_with() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        base.agree(&path("a"), &Entry::file(b"text", 0o644)).unwrap();
        std::fs::write(base.contents.path(&digest(b"text")), "other").unwrap();
        assert_eq!(base.get(&path("a")), Agreed::Unknown);
    }

    #[test]
    fn a_log_that_was_cut_off_loses_its_last_line_and_takes_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        base.agree(&path("a"), &Entry::Missing).unwrap();
        base.agree(&path("b"), &Entry::Missing).unwrap();
        drop(base);
        let log = folder.path().join("log");
        let text = std::fs::read(&log).unwrap();
        std::fs::write(&log, &text[..text.len() - 5]).unwrap();
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        base.agree(&path("c"), &Entry::Folder).unwrap();
        drop(base);
        let base = Base::open(folder.path().to_owned()).unwrap();
        assert_eq!(base.paths(), [path("a"), path("c")]);
    }

    #[test]
    fn what_is_agreed_on_again_and_again_does_not_make_the_log_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut base = Base::open(folder.path().to_owned()).unwrap();
        base.agree(&path("stays"), &Entry::Folder).unwrap();
        for number in 0..10 * VIEW_BASE_OLD_LINES_MAX {
            base.agree(&path(&format!("goes-{number}")), &Entry::Missing).unwrap();
            base.forget(&path(&format!("goes-{number}"))).unwrap();
        }
        let lines = std::fs::read(folder.path().join("log")).unwrap();
        let lines = lines.iter().filter(|byte| **byte == b'\n').count();
        assert!(lines <= VIEW_BASE_OLD_LINES_MAX + 4, "{lines}");
        base.agree(&path("last"), &Entry::Missing).unwrap();
        drop(base);
        assert_eq!(Base::open(folder.path().to_owned()).unwrap().paths(), [path("last"), path("stays")]);
    }

    #[test]
    fn a_log_of_any_length_is_opened_and_written_anew_and_a_line_that_is_too_long_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = File::create(folder.path().join("log")).unwrap();
        log.write_all(&line(&path("first"), Some(Kept::Missing)).unwrap()).unwrap();
        let long =
            line(&path("long"), Some(Kept::Link { target: vec![255; VIEW_BASE_LINE_MAX_BYTES] })).unwrap();
        log.write_all(&long).unwrap();
        for _ in 0..=VIEW_BASE_OLD_LINES_MAX {
            log.write_all(&line(&path("last"), Some(Kept::Missing)).unwrap()).unwrap();
        }
        let base = Base::open(folder.path().to_owned()).unwrap();
        assert_eq!(base.paths(), [path("first"), path("last")]);
        let left = std::fs::metadata(folder.path().join("log")).unwrap().len();
        assert!(left < 200, "{left}");
    }
}
