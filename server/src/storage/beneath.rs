//! Looking below a folder without following a link.
//!
//! Each name is opened relative to the handle of its folder, so a folder that is swapped for a link in between
//! leads nowhere. Nothing here waits: a pipe or device in a file's place is reported, not read.

use rustix::fs::{Dir, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

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
                let target = readlinkat(&self.0, name, Vec::new())?;
                return Ok(Node::Link(OsString::from_vec(target.into_bytes())));
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

    /// Opens what is at a relative path, following no link on the way.
    pub fn node_at(&self, path: &Path) -> io::Result<Node> {
        let mut components = path.components().peekable();
        let mut inner: Option<Self> = None;
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
            };
            let node = inner.as_ref().unwrap_or(self).node(name)?;
            if components.peek().is_none() {
                return Ok(node);
            }
            match node {
                Node::Folder(folder) => inner = Some(folder),
                Node::Link(target) => return Ok(Node::Link(target)),
                _ => return Ok(Node::Missing),
            }
        }
        Ok(Node::Missing)
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
