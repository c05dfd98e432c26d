//! Looking below a folder without following a link.
//!
//! Each name is opened relative to the handle of its folder, so a folder that is swapped for a link in between
//! leads nowhere. Nothing here waits: a pipe or device in a file's place is reported, not read.

mod exchange;
mod removal;
mod staged;
mod system;

pub use exchange::changed;
pub use staged::{Staged, Temporary};
pub(super) use system::Disturber;
pub use system::disturbed;

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    /// What is mounted in it is refused.
    one_disk: bool,
}

/// What a name in a folder stands for.
#[derive(Debug)]
pub enum Node {
    /// Nothing.
    Missing,
    /// A file, open for reading.
    File(File),
    /// A folder.
    Folder(Folder),
    /// A symbolic link and what it says; it was not followed.
    Link(OsString),
    /// A pipe, socket or device.
    Other,
}

impl Node {
    /// It, where it is a folder.
    pub fn as_folder(&self) -> Option<&Folder> {
        match self {
            Self::Folder(folder) => Some(folder),
            _ => None,
        }
    }
}

/// What a name in a folder is, without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
    /// What it takes of the disk.
    pub allocated_bytes: u64,
    /// When its content changed last, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// When anything of it changed last, which nobody can set back.
    pub changed: SystemTime,
}

impl Facts {
    fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Whiteout,
            _ => Kind::Other,
        };
        Self {
            kind,
            mode: stat.st_mode & 0o7777,
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            allocated_bytes: u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(512),
            modified_ns: stat
                .st_mtime
                .saturating_mul(1_000_000_000)
                .saturating_add(stat.st_mtime_nsec as i64),
            changed: time(stat.st_ctime, stat.st_ctime_nsec as u32),
        }
    }
}

/// A time of the disk's; one that is no time is that of the beginning.
fn time(seconds: i64, nanoseconds: u32) -> SystemTime {
    let since = Duration::new(u64::try_from(seconds).unwrap_or_default(), nanoseconds);
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

/// The kinds of things in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// What stands in an overlay's upper layer for something that was deleted.
    Whiteout,
    /// A pipe, socket or device.
    Other,
}

impl Folder {
    /// Opens a folder by its path. Links in the path itself are followed.
    #[expect(clippy::disallowed_methods, reason = "`storage` owns the disk")]
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: File::open(path)?.into(), one_disk: false })
    }

    /// The same, for a tree in which nothing may be mounted.
    pub(super) fn on_one_disk(self) -> Self {
        Self { one_disk: true, ..self }
    }

    fn inner(&self, handle: OwnedFd) -> Self {
        Self { handle, one_disk: self.one_disk }
    }

    /// Makes the names in it survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        Ok(system::sync(&self.handle)?)
    }

    /// A second handle of the same folder.
    pub fn again(&self) -> io::Result<Self> {
        Ok(self.inner(self.handle.try_clone()?))
    }

    /// What tells it from every other folder.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = system::facts_of(&self.handle)?;
        Ok((stat.st_dev, stat.st_ino))
    }

    /// Opens one name of this folder, without following a link.
    pub fn node(&self, name: &OsStr) -> io::Result<Node> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match self.open_name(name, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(Errno::NOENT) => return Ok(Node::Missing),
            // What a link answers to `NOFOLLOW`: LOOP on Linux and macOS, MLINK on FreeBSD.
            Err(Errno::LOOP | Errno::MLINK) => {
                return self.link(name).map(Node::Link);
            }
            // A socket.
            Err(Errno::NXIO) => return Ok(Node::Other),
            // The kernel makes whiteouts that only root may open.
            Err(Errno::ACCESS) if self.facts(name)?.is_some_and(|facts| facts.kind == Kind::Whiteout) => {
                return Ok(Node::Other);
            }
            Err(error) => return Err(error.into()),
        };
        let kind = file.metadata()?.file_type();
        Ok(if kind.is_dir() {
            Node::Folder(self.inner(file.into()))
        } else if kind.is_file() {
            Node::File(file)
        } else {
            Node::Other
        })
    }

    fn open_name(&self, name: &OsStr, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        system::open(&self.handle, name, flags, mode, self.one_disk)
    }

    /// What one name of this folder is; `None` when there is nothing.
    pub fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        match system::stat(&self.handle, name) {
            Ok(stat) => Ok(Some(Facts::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What a symbolic link in this folder says.
    pub fn link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(system::link_target(&self.handle, name)?.into_bytes()))
    }

    /// The folder that holds what is at a relative path, and the path's last name. `None` when there is no such folder,
    /// or a link on the way.
    pub fn parent_of<'a>(&self, path: &'a Path) -> io::Result<Option<(Self, &'a OsStr)>> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
        };
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            None => Ok(Some((self.again()?, name))),
            Some(parent) => match self.node_beneath(parent)? {
                Some(Node::Folder(folder)) => Ok(Some((folder, name))),
                _ => Ok(None),
            },
        }
    }

    /// When this folder was made, where its disk tells.
    pub fn made(&self) -> io::Result<Option<SystemTime>> {
        Ok(File::from(self.handle.try_clone()?).metadata()?.created().ok())
    }

    /// When the file, link or folder of this name was made, where its disk tells.
    pub fn born(&self, name: &OsStr) -> io::Result<Option<SystemTime>> {
        match system::born(&self.handle, name) {
            Ok(born) => Ok(born.map(|born| time(born.tv_sec, born.tv_nsec))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether this folder has an extended attribute with this value.
    pub fn has_attribute(&self, name: &CStr, value: &[u8]) -> bool {
        let mut buffer = [0; 8];
        system::attribute(&self.handle, name, &mut buffer)
            .is_ok_and(|length| buffer.get(..length) == Some(value))
    }

    /// Gives this folder an extended attribute.
    pub fn set_attribute(&self, name: &CStr, value: &[u8]) -> io::Result<()> {
        Ok(system::set_attribute(&self.handle, name, value)?)
    }

    /// Takes an extended attribute from this folder. One that it doesn't have is no error.
    pub fn remove_attribute(&self, name: &CStr) -> io::Result<()> {
        match system::remove_attribute(&self.handle, name) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether nothing is in this folder.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.first_names(1)?.is_empty())
    }

    /// The names in this folder, sorted; more than `limit` of them are an error.
    pub fn names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        Ok(self.names_and_links(limit)?.into_iter().map(|(name, _)| name).collect())
    }

    /// The names in this folder, sorted, each with whether it may be a symbolic link; more than `limit` are an error.
    pub fn names_and_links(&self, limit: usize) -> io::Result<Vec<(OsString, bool)>> {
        let mut names = self.first_entries(limit.saturating_add(1))?;
        if names.len() > limit {
            let why = format!("more than {limit} names in one folder");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        names.sort();
        Ok(names)
    }

    /// The names in this folder, sorted: all of them, or some and `true`.
    pub fn some_names(&self, limit: usize) -> io::Result<(Vec<OsString>, bool)> {
        let mut names = self.first_names(limit.saturating_add(1))?;
        let is_cut = names.len() > limit;
        names.truncate(limit);
        names.sort();
        Ok((names, is_cut))
    }

    /// Some of the names in this folder: all of them, or as many as this.
    fn first_names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        Ok(self.first_entries(limit)?.into_iter().map(|(name, _)| name).collect())
    }

    fn first_entries(&self, limit: usize) -> io::Result<Vec<(OsString, bool)>> {
        let mut names = Vec::new();
        for entry in system::entries(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == limit {
                break;
            }
            // Some disks don't tell.
            let may_be_link = matches!(entry.file_type(), FileType::Symlink | FileType::Unknown);
            names.push((OsStr::from_bytes(name).to_owned(), may_be_link));
        }
        Ok(names)
    }

    /// Opens what is at a relative path, following no link on the way. A link on the way is shown instead.
    pub fn node_at(&self, path: &Path) -> io::Result<Node> {
        self.walk(path).map(|(node, _)| node)
    }

    /// Opens what is at a relative path; `None` when a link or a file stands on the way.
    fn node_beneath(&self, path: &Path) -> io::Result<Option<Node>> {
        self.walk(path).map(|(node, whole)| whole.then_some(node))
    }

    /// What is at a path, or what ends the way to it, and whether the whole way was gone.
    fn walk(&self, path: &Path) -> io::Result<(Node, bool)> {
        let mut components = path.components().peekable();
        let mut inner: Option<Self> = None;
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
            };
            let node = inner.as_ref().unwrap_or(self).node(name)?;
            if components.peek().is_none() {
                return Ok((node, true));
            }
            match node {
                Node::Folder(folder) => inner = Some(folder),
                Node::Link(target) => return Ok((Node::Link(target), false)),
                _ => return Ok((Node::Missing, false)),
            }
        }
        Ok((Node::Missing, true))
    }
}

/// Reads an open file of at most `limit_bytes`.
pub fn read_bounded(file: File, limit_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit_bytes as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit_bytes} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::replace;

    #[test]
    fn a_link_is_shown_and_never_followed() {
        let outer = tempfile::tempdir().unwrap();
        let (root, secret) = (outer.path().join("root"), outer.path().join("secret"));
        replace(&secret.join("key"), b"k").unwrap();
        replace(&root.join("plain/file"), b"text").unwrap();
        std::os::unix::fs::symlink(&secret, root.join("way-out")).unwrap();

        let folder = Folder::open(&root).unwrap();
        let target = |path: &str| match folder.node_at(Path::new(path)).unwrap() {
            Node::Link(target) => target,
            other => panic!("{other:?}"),
        };
        assert_eq!(target("way-out"), secret.as_os_str());
        assert_eq!(target("way-out/key"), secret.as_os_str());
        let Node::File(file) = folder.node_at(Path::new("plain/file")).unwrap() else {
            panic!("no file");
        };
        assert_eq!(read_bounded(file, 4).unwrap(), b"text");
        assert!(matches!(folder.node_at(Path::new("plain/file/x")).unwrap(), Node::Missing));
        assert!(folder.node_at(Path::new("../secret/key")).is_err());
        assert_eq!(folder.names(2).unwrap(), ["plain", "way-out"]);
        assert!(folder.names(1).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_does_not_block_the_reader() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(root.path()).unwrap();
        rustix::fs::mknodat(&folder.handle, "pipe", FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(matches!(folder.node(OsStr::new("pipe")).unwrap(), Node::Other));
    }
}
