//! What tells two states of a file of git's apart: what it says, and not how it is written.

use super::entry::{Content, Entry, FileEntry, digest};
use super::git_paths::is_index;
use crate::git::index::{self, Hash};
use crate::paths::WorkspacePath;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// The same for two files that say the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    /// The file's size; 0 where that says nothing.
    pub(super) bytes: u64,
    says: String,
}

impl Print {
    /// That of what is at a path, where that is a file or a link.
    pub(super) fn of(path: &WorkspacePath, entry: &Entry) -> Option<Self> {
        match entry {
            Entry::Missing | Entry::Folder | Entry::Other => None,
            Entry::Link(target) => {
                Some(Self { bytes: 0, says: format!("link {}", digest(target.as_bytes())) })
            }
            Entry::File(FileEntry { content: Content::Whole(bytes), .. }) if is_index(path) => {
                [Hash::Sha1, Hash::Sha256]
                    .into_iter()
                    .find_map(|hash| tracked(bytes, hash).ok())
                    .or_else(|| Some(Self { bytes: 0, says: digest(bytes) }))
            }
            Entry::File(FileEntry { content, .. }) => {
                Some(Self { bytes: content.len(), says: content.digest() })
            }
        }
    }
}

/// What an index tracks. Whoever looks at the state of a repository writes its index, but only with what the files
/// looked like on the disk.
fn tracked(bytes: &[u8], hash: Hash) -> io::Result<Print> {
    let mut all = Sha256::new();
    let rest = index::read(bytes, hash, |tracked| {
        all.update((tracked.name.len() as u64).to_be_bytes());
        all.update(tracked.name);
        all.update(tracked.mode.to_be_bytes());
        all.update(tracked.object);
        all.update(tracked.flags.map(u16::to_be_bytes).concat());
    })?;
    // Git may not know what a file tracks without an extension that begins with a small letter: a part of it is elsewhere.
    if index::extensions(rest, hash)?.iter().any(|name| name[0].is_ascii_lowercase()) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let says: String = all.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Print { bytes: 0, says: format!("tracks {says}") })
}
