//! What is at a path: on the user's side, in the agent's view, or when both last agreed.

use crate::limits::{VIEW_CONTENT_MAX_BYTES, VIEW_FILE_MAX_BYTES};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Node, read_bounded};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A file.
    File(FileEntry),
    /// A symbolic link and what it says.
    Link(OsString),
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// A file's content and permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its content.
    pub content: Content,
    /// Permission bits.
    pub mode: u32,
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All of it.
    Whole(Arc<[u8]>),
    /// Too large to be held.
    Large {
        /// Its size.
        bytes: u64,
        /// The SHA-256 of it.
        digest: String,
    },
}

/// The permission bits that count as a change.
const MODE_MASK: u32 = 0o777;

impl Entry {
    /// What is at a path below a folder. No link is followed: what lies behind one is not there.
    pub fn at(folder: &Folder, path: &WorkspacePath) -> io::Result<Self> {
        match folder.parent_of(path.as_path())? {
            Some((parent, name)) => Self::of(parent.node(name)?),
            None => Ok(Self::Missing),
        }
    }

    /// A file with this content.
    pub fn file(content: &[u8], mode: u32) -> Self {
        Self::File(FileEntry { content: Content::of(content), mode: mode & MODE_MASK })
    }

    /// What was opened.
    pub fn of(node: Node) -> io::Result<Self> {
        Ok(match node {
            Node::Missing => Self::Missing,
            Node::Folder(_) => Self::Folder,
            Node::Link(target) => Self::Link(target),
            Node::Other => Self::Other,
            Node::File(file) => Self::File(FileEntry {
                mode: file.metadata()?.mode() & MODE_MASK,
                content: Content::read(file)?,
            }),
        })
    }
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        if bytes.len() > VIEW_CONTENT_MAX_BYTES {
            return Self::Large { bytes: bytes.len() as u64, digest: digest(bytes) };
        }
        Self::Whole(bytes.into())
    }

    fn read(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let bytes = metadata.len();
        if bytes > VIEW_FILE_MAX_BYTES {
            // Known by when it was changed, for reading it may take for ever: one with nothing in it can be of any size.
            let digest = format!("not read: {}.{}", metadata.ctime(), metadata.ctime_nsec());
            return Ok(Self::Large { bytes, digest });
        }
        if bytes <= VIEW_CONTENT_MAX_BYTES as u64 {
            match read_bounded(file.try_clone()?, VIEW_CONTENT_MAX_BYTES) {
                // It grew while it was read.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => file.rewind()?,
                read => return Ok(Self::Whole(read?.into())),
            }
        }
        Self::pass(file, io::sink(), VIEW_FILE_MAX_BYTES)
    }

    /// Copies a file that is too large to be held, and gives what that was. One that does not end, as far as anybody can
    /// wait for it, is an error.
    fn pass(mut file: impl Read, mut to: impl Write, bytes_max: u64) -> io::Result<Self> {
        let (mut hasher, mut bytes) = (Sha256::new(), 0);
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                return Ok(Self::Large { bytes, digest: hex(&hasher.finalize()) });
            }
            bytes += read as u64;
            if bytes > bytes_max {
                return Err(too_large());
            }
            hasher.update(&chunk[..read]);
            to.write_all(&chunk[..read])?;
        }
    }

    /// Copies a file, and says whether it was this.
    pub fn is_what_is_copied(&self, file: File, to: impl Write) -> io::Result<bool> {
        if self.len() > VIEW_FILE_MAX_BYTES {
            return Err(too_large());
        }
        match Self::pass(file, to, self.len()) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(false),
            passed => Ok(passed? == *self),
        }
    }

    /// Its size.
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Large { bytes, .. } => *bytes,
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The SHA-256 of it.
    pub fn digest(&self) -> String {
        match self {
            Self::Whole(bytes) => digest(bytes),
            Self::Large { digest, .. } => digest.clone(),
        }
    }
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it is larger than {} MiB", VIEW_FILE_MAX_BYTES >> 20),
    )
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
