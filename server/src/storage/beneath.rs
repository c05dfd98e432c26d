//! Looking below a folder without following a link.
//!
//! Each name is opened relative to the handle of its folder, so a folder that is swapped for a link in between
//! leads nowhere. Nothing here waits: a pipe or device in a file's place is reported, not read.

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fchmod, fchown, fgetxattr, fstat, fsync, mkdirat, mknodat, openat,
    readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names in one folder that are looked at.
const NAMES_MAX: usize = 1 << 20;

/// An open folder.
#[derive(Debug)]
pub struct Folder(OwnedFd);

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

/// What a name in a folder is, without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
    /// When its content changed last, in nanoseconds since 1970.
    pub modified_ns: i64,
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
        Ok(Self(File::open(path)?.into()))
    }

    /// Opens one name of this folder, without following a link.
    pub fn node(&self, name: &OsStr) -> io::Result<Node> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(Errno::NOENT) => return Ok(Node::Missing),
            // What a link answers to `NOFOLLOW`: LOOP on Linux and macOS, MLINK on FreeBSD.
            Err(Errno::LOOP | Errno::MLINK) => {
                return self.link(name).map(Node::Link);
            }
            // A socket.
            Err(Errno::NXIO) => return Ok(Node::Other),
            Err(error) => return Err(error.into()),
        };
        let kind = file.metadata()?.file_type();
        Ok(if kind.is_dir() {
            Node::Folder(Self(file.into()))
        } else if kind.is_file() {
            Node::File(file)
        } else {
            Node::Other
        })
    }

    /// What one name of this folder is; `None` when there is nothing.
    pub fn facts(&self, name: &OsStr) -> io::Result<Option<Facts>> {
        let stat = match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Whiteout,
            _ => Kind::Other,
        };
        Ok(Some(Facts {
            kind,
            mode: stat.st_mode & 0o7777,
            bytes: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_ns: stat
                .st_mtime
                .saturating_mul(1_000_000_000)
                .saturating_add(stat.st_mtime_nsec as i64),
        }))
    }

    /// What a symbolic link in this folder says.
    pub fn link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(readlinkat(&self.0, name, Vec::new())?.into_bytes()))
    }

    /// The folder that holds what is at a relative path, and the path's last name. `None` when there is no such folder,
    /// or a link on the way.
    pub fn parent_of<'a>(&self, path: &'a Path) -> io::Result<Option<(Self, &'a OsStr)>> {
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
        };
        match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            None => Ok(Some((Self(self.0.try_clone()?), name))),
            Some(parent) => match self.node_beneath(parent)? {
                Some(Node::Folder(folder)) => Ok(Some((folder, name))),
                _ => Ok(None),
            },
        }
    }

    /// Whether this folder has an extended attribute with this value.
    pub fn has_attribute(&self, name: &str, value: &[u8]) -> bool {
        let mut buffer = [0; 8];
        fgetxattr(&self.0, name, &mut buffer).is_ok_and(|length| buffer.get(..length) == Some(value))
    }

    /// The names in this folder, sorted; more than `limit` of them are an error.
    pub fn names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == limit {
                return Err(io::Error::other(format!("more than {limit} names in one folder")));
            }
            names.push(OsStr::from_bytes(name).to_owned());
        }
        names.sort();
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

/// Changing what is in a folder. Nothing is written through a link: whatever stands at a name is replaced.
impl Folder {
    /// Puts a file in the place of whatever file or link has this name, in one step: others see the old one or the new.
    pub fn replace_file(
        &self,
        name: &OsStr,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.in_one_step(name, |temporary| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&self.0, temporary, flags, Mode::from_raw_mode(0o600))?);
            write(&mut file)?;
            self.own(&file)?;
            fchmod(&file, Mode::from_raw_mode(mode))?;
            file.sync_all()
        })
    }

    /// Puts a symbolic link in the place of whatever file or link has this name.
    pub fn replace_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.in_one_step(name, |temporary| Ok(symlinkat(target, &self.0, temporary)?))
    }

    /// Removes a file or a link; one that is not there is no error.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(fsync(&self.0)?),
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the permission bits of a file.
    pub fn set_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        match self.node(name)? {
            Node::File(file) => {
                fchmod(&file, Mode::from_raw_mode(mode))?;
                file.sync_all()
            }
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "it is no file")),
        }
    }

    /// Makes what stands in an overlay's upper layer for something that was deleted.
    pub fn make_whiteout(&self, name: &OsStr) -> io::Result<()> {
        Ok(mknodat(&self.0, name, FileType::CharacterDevice, Mode::empty(), 0)?)
    }

    /// Removes a folder in which nothing is.
    pub fn remove_empty_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder in which there are only folders, down to this depth. A file in it is an error.
    pub fn remove_empty_tree(&self, name: &OsStr, depth_max: usize) -> io::Result<()> {
        if let Node::Folder(folder) = self.node(name)?
            && depth_max > 0
        {
            for inner in folder.names(NAMES_MAX)? {
                folder.remove_empty_tree(&inner, depth_max - 1)?;
            }
        }
        self.remove_empty_folder(name)
    }

    /// Opens the folder at a relative path and makes what is missing of it. A link or a file on the way is an error.
    pub fn make_folders(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
            };
            folder = match folder.node(name)? {
                Node::Folder(inner) => inner,
                Node::Missing => folder.make_folder(name)?,
                _ => {
                    let why = format!("{} stands where a folder is needed", name.display());
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
                }
            };
        }
        Ok(folder)
    }

    fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let safe = openat(&self.0, name, flags, Mode::empty()).map_err(io::Error::from).and_then(|made| {
            self.own(&made)?;
            fsync(&self.0)?;
            Ok(Self(made))
        });
        if safe.is_err() {
            // Or the next one to need it would take it for safe. One in which something is stays.
            let _ = self.remove_empty_folder(name);
        }
        safe
    }

    /// As root, what we make belongs to whom this folder belongs to.
    fn own(&self, made: impl std::os::fd::AsFd) -> io::Result<()> {
        if rustix::process::geteuid().is_root() {
            let folder = fstat(&self.0)?;
            let (user, group) =
                (rustix::fs::Uid::from_raw(folder.st_uid), rustix::fs::Gid::from_raw(folder.st_gid));
            fchown(made, Some(user), Some(group))?;
        }
        Ok(())
    }

    fn in_one_step(&self, name: &OsStr, make: impl FnOnce(&OsStr) -> io::Result<()>) -> io::Result<()> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let temporary = OsString::from(format!(".airlock-{}-{number}.tmp", std::process::id()));
        // One of this name can only be what a process with our id left behind when it was killed.
        let _ = unlinkat(&self.0, &temporary, AtFlags::empty());
        let made = make(&temporary).and_then(|()| Ok(renameat(&self.0, &temporary, &self.0, name)?));
        if made.is_err() {
            let _ = unlinkat(&self.0, &temporary, AtFlags::empty());
            return made;
        }
        Ok(fsync(&self.0)?)
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
        rustix::fs::mknodat(&folder.0, "pipe", rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .unwrap();
        assert!(matches!(folder.node(OsStr::new("pipe")).unwrap(), Node::Other));
    }
}
