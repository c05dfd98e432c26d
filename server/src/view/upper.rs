//! The overlay's upper folder: exactly what differs between the agent's view and the workspace below it.
//!
//! A deleted thing stands there as a whiteout; a folder that was deleted and made again is opaque, so that nothing of
//! the workspace's folder shows through it. What an upper folder does not mention is as the workspace has it.

use super::entry::{Content, Entry, FileEntry};
use crate::limits::{VIEW_FOLDERS_MAX_DEPTH, VIEW_PATH_MAX_BYTES, VIEW_PATHS_MAX_BYTES};
use crate::paths::WorkspacePath;
use crate::storage::AgentTree;
use crate::storage::beneath::{Folder, Kind, Node};
use crate::storage::confined::check_wanted;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// The mark of an opaque folder, as views are mounted.
const OPAQUE: &CStr = c"user.overlay.opaque";
/// All marks of one that there are.
const OPAQUES: [&CStr; 2] = [c"trusted.overlay.opaque", OPAQUE];
/// A session's upper folder. It need not be there yet: then nothing was changed.
#[derive(Clone, Debug)]
pub struct Upper(AgentTree);

/// What the upper folder says of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUpper {
    /// Nothing: it is as the workspace has it.
    Untouched,
    /// It is this.
    Is(Entry),
}

/// What stands in the place of a folder of the workspace's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    /// A folder that was made anew. Otherwise a file, or nothing.
    pub is_folder: bool,
    /// Since when, at the latest; `None` where the disk does not tell.
    pub since: Option<SystemTime>,
}

/// Something that the upper folder mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Where.
    pub path: WorkspacePath,
    /// What is there.
    pub kind: Kind,
    /// A folder that shows nothing of the workspace's.
    pub opaque: bool,
}

/// All that an upper folder mentions.
#[derive(Clone, Debug, Default)]
pub struct Mentions {
    /// Each, folders before what is in them.
    pub all: Vec<Mention>,
    /// Names that are no UTF-8, which no editor could be told, as they look.
    pub unnameable: Vec<String>,
    /// Folders that nobody may look into, or with too much in them. They hide no others.
    pub unreadable: Vec<Unreadable>,
    /// There were more than one wanted to see.
    pub cut: bool,
    /// What they take of the disk.
    pub allocated_bytes: u64,
    /// Names that were read and not looked at yet.
    waiting: usize,
    /// What all paths take.
    path_bytes: usize,
}

/// A folder whose content is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where.
    pub path: WorkspacePath,
    /// Why.
    pub why: String,
}

impl Unreadable {
    /// What an error says of a folder alone; any other is that of the disk.
    pub fn by(path: &WorkspacePath, error: io::Error) -> io::Result<Self> {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::FileTooLarge => {
                Ok(Self { path: path.clone(), why: error.to_string() })
            }
            _ => Err(error),
        }
    }
}

impl Mentions {
    /// How much of it there is, and is to come.
    fn held(&self) -> usize {
        self.all.len() + self.unnameable.len() + self.unreadable.len() + self.waiting
    }

    /// Whether there may be something below a path that is not among these.
    pub fn may_miss_below(&self, path: &WorkspacePath) -> bool {
        let meets = |other: &Unreadable| {
            other.path.as_path().starts_with(path.as_path())
                || path.as_path().starts_with(other.path.as_path())
        };
        self.cut || self.unreadable.iter().any(meets)
    }
}

impl Upper {
    /// The upper folder of the session whose folder this is.
    pub fn of(session_folder: &Path) -> Self {
        Self(AgentTree::new(session_folder, "upper"))
    }

    /// The size of the file that it has at a path, if that is one. Nothing is read.
    pub fn file_bytes(&self, path: &WorkspacePath) -> io::Result<Option<u64>> {
        let Some(folder) = self.open()? else { return Ok(None) };
        let Some((parent, name)) = folder.parent_of(path.as_path())? else { return Ok(None) };
        let facts = parent.facts(name)?;
        Ok(facts.filter(|facts| facts.kind == Kind::File).map(|facts| facts.bytes))
    }

    /// When anything of what it has at a path changed last.
    pub fn changed(&self, path: &WorkspacePath) -> io::Result<Option<SystemTime>> {
        let Some(folder) = self.open()? else { return Ok(None) };
        let Some((parent, name)) = folder.parent_of(path.as_path())? else { return Ok(None) };
        Ok(parent.facts(name)?.map(|facts| facts.changed))
    }

    /// What it says of a path.
    pub fn entry(&self, path: &WorkspacePath) -> io::Result<InUpper> {
        let Some(mut folder) = self.open()? else {
            return Ok(InUpper::Untouched);
        };
        let mut opaque = false;
        let mut names = path.as_path().iter().peekable();
        while let Some(name) = names.next() {
            let facts = folder.facts(name)?;
            let Some(facts) = facts else {
                return Ok(if opaque { InUpper::Is(Entry::Missing) } else { InUpper::Untouched });
            };
            if names.peek().is_none() {
                return match facts.kind {
                    Kind::Whiteout => Ok(InUpper::Is(Entry::Missing)),
                    _ => Entry::at(
                        &folder,
                        &WorkspacePath::found(Path::new(name)).unwrap_or_else(|| path.clone()),
                    )
                    .map(InUpper::Is),
                };
            }
            folder = match folder.node(name)? {
                Node::Folder(inner) => inner,
                _ => return Ok(InUpper::Is(Entry::Missing)),
            };
            opaque |= is_opaque(&folder);
        }
        Ok(InUpper::Untouched)
    }

    /// What hides all that the workspace has around a path, if anything does.
    pub fn cover(&self, path: &WorkspacePath) -> io::Result<Option<Cover>> {
        let Some(mut folder) = self.open()? else { return Ok(None) };
        for name in path.as_path().parent().unwrap_or(Path::new("")) {
            let Some(facts) = folder.facts(name)? else { return Ok(None) };
            let Node::Folder(inner) = folder.node(name)? else {
                return Ok(Some(Cover { is_folder: false, since: Some(facts.changed) }));
            };
            if is_opaque(&inner) {
                return Ok(Some(Cover { is_folder: true, since: inner.made()? }));
            }
            folder = inner;
        }
        Ok(None)
    }

    /// All that it mentions, up to `limit` things.
    pub fn mentions(&self, limit: usize) -> io::Result<Mentions> {
        let mut mentions = Mentions::default();
        if let Some(folder) = self.open()? {
            list(&folder, Path::new(""), 0, limit, &mut mentions)?;
        }
        Ok(mentions)
    }

    /// Opens a file of it.
    pub fn file(&self, path: &WorkspacePath) -> io::Result<File> {
        match self.open()?.map(|folder| folder.node_at(path.as_path())).transpose()? {
            Some(Node::File(file)) => Ok(file),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "it is no file any more")),
        }
    }

    /// Puts an entry into it. Only while nothing has it mounted.
    pub fn put(&self, path: &WorkspacePath, entry: &Entry) -> io::Result<()> {
        let name = path.as_path().file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        if matches!(entry, Entry::Other | Entry::File(FileEntry { content: Content::Large { .. }, .. })) {
            return Err(io::Error::other("it is too large, or not a file"));
        }
        self.0.make()?;
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let folder = self.open()?.ok_or_else(gone)?;
        let folder = path.as_path().parent().into_iter().flatten().try_fold(folder, |folder, name| {
            let was_removed = folder.facts(name)?.is_some_and(|facts| facts.kind == Kind::Whiteout);
            make_folder(&folder, name, was_removed)
        })?;
        let was = folder.facts(name)?.map(|facts| facts.kind);
        if was == Some(Kind::Folder) && *entry != Entry::Folder {
            self.forget(path)?;
        }
        match entry {
            Entry::Missing => {
                self.forget(path)?;
                folder.make_whiteout(name)
            }
            Entry::Folder => make_folder(&folder, name, was.is_some_and(|was| was != Kind::Folder)).map(drop),
            Entry::Link(target) => folder.replace_link(name, target),
            Entry::File(FileEntry { content: Content::Whole(bytes), mode }) => {
                folder.replace_file(name, *mode, |file| file.write_all(bytes))
            }
            Entry::File(_) | Entry::Other => Ok(()),
        }
    }

    /// Takes a path out of it, so that the workspace shows through again. Only while nothing has it mounted.
    pub fn forget(&self, path: &WorkspacePath) -> io::Result<()> {
        let Some(folder) = self.open()? else { return Ok(()) };
        match folder.parent_of(path.as_path())? {
            Some((parent, name)) => parent.remove_tree(name),
            // Nothing of this path is there: a file or a link has the place of a folder on the way to it.
            None => Ok(()),
        }
    }

    /// Lets the workspace's folder show through one that was made anew. Only while nothing has it mounted.
    pub fn uncover(&self, path: &WorkspacePath) -> io::Result<()> {
        match self.folder(path)? {
            Some(folder) => OPAQUES.iter().try_for_each(|mark| folder.remove_attribute(mark)),
            None => Ok(()),
        }
    }

    /// Opens a folder of it.
    pub fn folder(&self, path: &WorkspacePath) -> io::Result<Option<Folder>> {
        match self.open()?.map(|folder| folder.node_at(path.as_path())).transpose()? {
            Some(Node::Folder(folder)) => Ok(Some(folder)),
            _ => Ok(None),
        }
    }

    fn open(&self) -> io::Result<Option<Folder>> {
        self.0.open()
    }
}

/// Opens a folder, or makes it as the overlay does: one that takes the place of something else hides what the workspace
/// has there.
fn make_folder(parent: &Folder, name: &OsStr, replaces: bool) -> io::Result<Folder> {
    if replaces {
        parent.remove_file(name)?;
    }
    let made = parent.make_folders(Path::new(name))?;
    if replaces {
        made.set_attribute(OPAQUE, b"y")?;
    }
    Ok(made)
}

pub(super) fn is_opaque(folder: &Folder) -> bool {
    OPAQUES.iter().any(|name| folder.has_attribute(name, b"y"))
}

fn list(
    folder: &Folder,
    below: &Path,
    depth: usize,
    limit: usize,
    mentions: &mut Mentions,
) -> io::Result<()> {
    // What waits to be looked at is in memory, too: at all depths together no more than is wanted.
    let (names, is_cut) = folder.some_names(limit.saturating_sub(mentions.held()))?;
    mentions.cut |= is_cut;
    let waiting = mentions.waiting;
    mentions.waiting += names.len();
    let listed = list_names(folder, names, below, depth, limit, mentions);
    mentions.waiting = waiting;
    listed
}

fn list_names(
    folder: &Folder,
    names: Vec<OsString>,
    below: &Path,
    depth: usize,
    limit: usize,
    mentions: &mut Mentions,
) -> io::Result<()> {
    for name in names {
        check_wanted()?;
        mentions.waiting -= 1;
        if mentions.path_bytes > VIEW_PATHS_MAX_BYTES || depth == VIEW_FOLDERS_MAX_DEPTH {
            mentions.cut = true;
            continue;
        }
        let place = below.join(&name);
        mentions.path_bytes += place.as_os_str().len();
        if place.as_os_str().len() > VIEW_PATH_MAX_BYTES {
            mentions.cut = true;
            continue;
        }
        let Some(path) = WorkspacePath::found(&place) else {
            mentions.unnameable.push(place.to_string_lossy().into_owned());
            continue;
        };
        // It may go away while it is looked at.
        let Some(facts) = folder.facts(&name)? else {
            continue;
        };
        mentions.allocated_bytes = mentions.allocated_bytes.saturating_add(facts.allocated_bytes);
        if facts.kind != Kind::Folder {
            mentions.all.push(Mention { path, kind: facts.kind, opaque: false });
            continue;
        }
        // The agent may make one that is closed to us.
        let listed = match folder.node(&name) {
            Ok(Node::Folder(inner)) => {
                let opaque = is_opaque(&inner);
                mentions.all.push(Mention { path: path.clone(), kind: facts.kind, opaque });
                list(&inner, &place, depth + 1, limit, mentions)
            }
            other => other.map(drop),
        };
        if let Err(error) = listed {
            mentions.unreadable.push(Unreadable::by(&path, error)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    #[test]
    fn neither_deep_nor_wide_trees_take_much_memory() {
        let top = tempfile::tempdir().unwrap();
        let upper = Upper::of(top.path());
        upper.0.make().unwrap();
        let mut folder = upper.open().unwrap().unwrap();
        for depth in 0..30 {
            for number in 0..20 {
                folder.replace_link(OsStr::new(&format!("{depth}-{number}")), OsStr::new("x")).unwrap();
            }
            // Before all others.
            folder = folder.make_folders(Path::new(&format!("!{}", "d".repeat(250)))).unwrap();
        }
        let some = upper.mentions(50).unwrap();
        assert!(some.cut && some.held() <= 50, "{}", some.held());
        let all = upper.mentions(10_000).unwrap();
        let longest = all.all.iter().map(|mention| mention.path.as_str().len()).max();
        assert!(all.cut && longest <= Some(VIEW_PATH_MAX_BYTES), "{longest:?}");
        assert!(all.all.iter().any(|mention| mention.path.as_str() == "0-19"), "the others are there");
        upper.0.remove().unwrap();
    }

    #[test]
    fn what_is_missed_is_in_a_folder_that_could_not_be_read() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let unreadable = vec![Unreadable::by(&path("a/b"), denied()).unwrap()];
        let mentions = Mentions { unreadable, ..Mentions::default() };
        assert!(["a", "a/b", "a/b/c"].iter().all(|place| mentions.may_miss_below(&path(place))));
        assert!(["b", "a/bc", "a/c"].iter().all(|place| !mentions.may_miss_below(&path(place))));
        assert!(Unreadable::by(&path("a"), io::ErrorKind::StorageFull.into()).is_err());
    }
}
