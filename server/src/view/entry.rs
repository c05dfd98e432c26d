//! What is at a path: on the user's side, in the agent's view, or when both last agreed.

use crate::limits::{VIEW_CONTENT_MAX_BYTES, VIEW_FILE_MAX_BYTES};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Node, read_bounded};
use crate::storage::confined::check_wanted;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, LazyLock};

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
        /// The SHA-256 of the SHA-256 of each 64 KiB of it.
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
            let mut digest = LargeDigest::default();
            bytes.chunks(LARGE_CHUNK_BYTES).for_each(|chunk| digest.add(chunk));
            return digest.finish();
        }
        Self::Whole(bytes.into())
    }

    fn read(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let bytes = metadata.len();
        if bytes > VIEW_FILE_MAX_BYTES {
            // Known by when it was changed, for reading it may take for ever: one with nothing in it can be of any size.
            // Not by its last change of any kind, for a change of its name is one.
            let digest =
                format!("not read: {} {}.{}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
            return Ok(Self::Large { bytes, digest });
        }
        if bytes <= VIEW_CONTENT_MAX_BYTES as u64 {
            match read_bounded(file.try_clone()?, VIEW_CONTENT_MAX_BYTES) {
                // It grew while it was read.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => file.rewind()?,
                read => return Ok(Self::Whole(read?.into())),
            }
        }
        Self::large(&file, bytes)
    }

    /// A file that is too large to be held. Holes in it cost nothing.
    fn large(file: &File, bytes: u64) -> io::Result<Self> {
        let mut digest = LargeDigest::default();
        let mut chunk = vec![0; LARGE_CHUNK_BYTES];
        while digest.bytes < bytes {
            check_wanted()?;
            let at = digest.bytes;
            match seek(file, SeekFrom::Data(at)) {
                Ok(data) => digest.add_zeros(data.min(bytes)),
                Err(Errno::NXIO) => digest.add_zeros(bytes),
                // The disk doesn't tell.
                Err(_) => {}
            }
            if digest.bytes > at {
                continue;
            }
            let length = usize::try_from(bytes - at).unwrap_or(usize::MAX).min(LARGE_CHUNK_BYTES);
            let read = read_whole(&mut chunk[..length], |rest, done| file.read_at(rest, at + done))?;
            digest.add(&chunk[..read]);
            if read < length {
                break;
            }
        }
        Ok(digest.finish())
    }

    /// Copies a file, and says whether it was this.
    pub fn is_what_is_copied(&self, mut file: File, mut to: impl Write) -> io::Result<bool> {
        if self.len() > VIEW_FILE_MAX_BYTES {
            return Err(too_large());
        }
        let mut digest = LargeDigest::default();
        let mut chunk = vec![0; LARGE_CHUNK_BYTES];
        loop {
            let read = read_whole(&mut chunk, |rest, _| file.read(rest))?;
            digest.add(&chunk[..read]);
            // One that grows has no end, as far as anybody can wait for it.
            if digest.bytes > self.len() {
                return Ok(false);
            }
            to.write_all(&chunk[..read])?;
            if read < chunk.len() {
                return Ok(digest.finish() == *self);
            }
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

    /// What tells it from others of its size.
    pub fn digest(&self) -> String {
        match self {
            Self::Whole(bytes) => digest(bytes),
            Self::Large { digest, .. } => digest.clone(),
        }
    }
}

const LARGE_CHUNK_BYTES: usize = 64 << 10;

/// The digest of a large content, chunk by chunk, so that a hole of any size is known without reading it.
#[derive(Default)]
struct LargeDigest {
    hasher: Sha256,
    /// Of which all chunks but the last are whole.
    bytes: u64,
}

impl LargeDigest {
    /// The next chunk.
    fn add(&mut self, chunk: &[u8]) {
        if !chunk.is_empty() {
            self.hasher.update(Sha256::digest(chunk));
            self.bytes += chunk.len() as u64;
        }
    }

    /// All whole chunks of nothing but zeros before this place.
    fn add_zeros(&mut self, until: u64) {
        static ZEROS: LazyLock<[u8; 32]> = LazyLock::new(|| Sha256::digest([0; LARGE_CHUNK_BYTES]).into());
        for _ in 0..until.saturating_sub(self.bytes) / LARGE_CHUNK_BYTES as u64 {
            self.hasher.update(*ZEROS);
            self.bytes += LARGE_CHUNK_BYTES as u64;
        }
    }

    fn finish(self) -> Content {
        Content::Large { bytes: self.bytes, digest: hex(&self.hasher.finalize()) }
    }
}

/// Reads until this is full or the file ends; `read` takes what is still empty and how much was read before.
fn read_whole(
    chunk: &mut [u8],
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut done = 0;
    while done < chunk.len() {
        match read(&mut chunk[done..], done as u64) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
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
