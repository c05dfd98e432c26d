//! The user's side: the workspace's files, and over them what stands unsaved in the editor.

use super::entry::{Content, Entry};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::{Facts, Folder, Kind};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The editor's open documents, with what is not saved yet.
pub trait Buffers: Send + Sync {
    /// The text of an open document.
    fn text(&self, host_path: &Path) -> Option<String>;

    /// Where the open documents are, each with a number that is another one whenever its text is.
    fn open(&self) -> Vec<(PathBuf, u64)>;
}

/// No editor: what is on the disk is all there is.
pub struct NoEditor;

impl Buffers for NoEditor {
    fn text(&self, _: &Path) -> Option<String> {
        None
    }

    fn open(&self) -> Vec<(PathBuf, u64)> {
        Vec::new()
    }
}

/// The user's side of a workspace.
pub struct UserSide {
    root: WorkspaceRoot,
    buffers: Arc<dyn Buffers>,
    /// The documents that were open when somebody last asked, each with its number.
    seen: HashMap<WorkspacePath, u64>,
}

/// What is at a path on the user's side, in short.
pub(super) enum Glance {
    /// On the disk.
    Disk(Option<Facts>, Option<OsString>),
    /// In an editor, unsaved.
    Unsaved,
}

/// The mark that some editors put before the text of a file and none shows.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const NEW_FILE_MODE: u32 = 0o644;

impl UserSide {
    /// The user's side of this workspace.
    pub fn new(root: WorkspaceRoot, buffers: Arc<dyn Buffers>) -> Self {
        Self { root, buffers, seen: HashMap::new() }
    }

    /// The workspace.
    pub fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    /// What is at a path: the editor's text where it differs from the file, else what is on the disk.
    pub fn entry(&self, path: &WorkspacePath) -> io::Result<Entry> {
        let on_disk = self.on_disk(path)?;
        Ok(self.unsaved(path, &on_disk).unwrap_or(on_disk))
    }

    /// What is at a path on the disk, whatever an editor shows.
    pub fn on_disk(&self, path: &WorkspacePath) -> io::Result<Entry> {
        Entry::at(&Folder::open(self.root.as_host())?, path)
    }

    /// The same without reading it, where that is possible.
    pub(super) fn glance(&self, path: &WorkspacePath) -> io::Result<Glance> {
        if self.seen.contains_key(path) {
            let on_disk = self.on_disk(path)?;
            if self.unsaved(path, &on_disk).is_some() {
                return Ok(Glance::Unsaved);
            }
        }
        let Some((parent, name)) = Folder::open(self.root.as_host())?.parent_of(path.as_path())? else {
            return Ok(Glance::Disk(None, None));
        };
        let facts = parent.facts(name)?;
        let target = match facts {
            Some(Facts { kind: Kind::Link, .. }) => parent.link(name).ok(),
            _ => None,
        };
        Ok(Glance::Disk(facts, target))
    }

    /// What kind of thing is at a path. It is read only where nothing is on the disk.
    pub fn kind(&self, path: &WorkspacePath) -> io::Result<Option<Kind>> {
        match self.glance(path)? {
            Glance::Disk(Some(facts), _) => Ok(Some(facts.kind)),
            Glance::Unsaved => Ok(Some(Kind::File)),
            Glance::Disk(None, _) => Ok((self.entry(path)? != Entry::Missing).then_some(Kind::File)),
        }
    }

    /// When anything of the file or link at a path on the disk changed last.
    pub fn changed(&self, path: &WorkspacePath) -> io::Result<Option<SystemTime>> {
        let Some((parent, name)) = Folder::open(self.root.as_host())?.parent_of(path.as_path())? else {
            return Ok(None);
        };
        let facts = parent.facts(name)?.filter(|facts| facts.kind != Kind::Folder);
        Ok(facts.map(|facts| facts.changed))
    }

    /// When what is at a path on the disk was made.
    pub fn born(&self, path: &WorkspacePath) -> io::Result<Option<SystemTime>> {
        match Folder::open(self.root.as_host())?.parent_of(path.as_path())? {
            Some((parent, name)) => parent.born(name),
            None => Ok(None),
        }
    }

    /// Whether an editor has another text than the file.
    pub fn has_unsaved(&self, path: &WorkspacePath) -> io::Result<bool> {
        Ok(self.unsaved(path, &self.on_disk(path)?).is_some())
    }

    /// Whoever asks next is told of every document that is open.
    pub(super) fn tell_buffers_again(&mut self) {
        self.seen.clear();
    }

    /// The documents of this workspace that were opened, changed or closed since this was last asked.
    pub fn changed_buffers(&mut self) -> Vec<WorkspacePath> {
        let open = self.buffers.open().into_iter();
        let now: HashMap<_, _> =
            open.filter_map(|(path, number)| Some((self.root.relative(&path)?, number))).collect();
        let before = std::mem::replace(&mut self.seen, now);
        let opened = self.seen.iter().filter(|(path, number)| before.get(*path) != Some(*number));
        let closed = before.keys().filter(|path| !self.seen.contains_key(*path));
        opened.map(|(path, _)| path).chain(closed).cloned().collect()
    }

    /// The editor's text, if it is another one than the file's.
    fn unsaved(&self, path: &WorkspacePath, on_disk: &Entry) -> Option<Entry> {
        let (saved, mode) = match on_disk {
            Entry::Missing => (None, NEW_FILE_MODE),
            Entry::File(file) => match &file.content {
                // In another encoding the editor's text always differs from the bytes.
                Content::Whole(bytes) if std::str::from_utf8(bytes).is_ok() => (Some(bytes), file.mode),
                _ => return None,
            },
            _ => return None,
        };
        let mut text = self.buffers.text(&self.root.host_path(path))?.into_bytes();
        if saved.is_some_and(|saved| saved.starts_with(BYTE_ORDER_MARK)) && !text.starts_with(BYTE_ORDER_MARK)
        {
            text.splice(..0, BYTE_ORDER_MARK.iter().copied());
        }
        let differs = saved.is_none_or(|saved| **saved != *text);
        differs.then(|| Entry::file(&text, mode))
    }
}
