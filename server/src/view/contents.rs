//! Contents of files, each under its digest: what was kept twice is there once.

use super::entry::{Content, digest};
use crate::limits::VIEW_CONTENT_MAX_BYTES;
use crate::storage;
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

/// A folder of them.
#[derive(Clone)]
pub struct Contents(PathBuf);

impl Contents {
    /// Those in this folder, which need not be there.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// One of this size. One that is damaged is not there; one that is too large is known by its digest alone.
    pub(super) fn get(&self, wanted: &str, bytes: u64) -> Option<Content> {
        if bytes > VIEW_CONTENT_MAX_BYTES as u64 {
            return Some(Content::Large { bytes, digest: wanted.to_owned() });
        }
        let read = storage::read_bytes(&self.path(wanted), VIEW_CONTENT_MAX_BYTES).ok().flatten()?;
        (digest(&read) == wanted).then(|| Content::Whole(read.into()))
    }

    pub(super) fn keep(&self, digest: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(digest);
        if storage::read_bytes(&path, VIEW_CONTENT_MAX_BYTES).is_ok_and(|kept| kept.as_deref() == Some(bytes))
        {
            return Ok(());
        }
        storage::make_private_folder(path.parent().unwrap_or(&self.0))?;
        storage::write_private(&path, bytes)
    }

    /// Removes all but these.
    pub fn prune(&self, used: &HashSet<String>) -> io::Result<()> {
        for digest in self.digests()? {
            if !used.contains(&digest) {
                storage::remove(&self.path(&digest))?;
            }
        }
        Ok(())
    }

    /// The digest of each.
    pub fn digests(&self) -> io::Result<Vec<String>> {
        let mut digests = Vec::new();
        for begin in storage::names_with_prefix(&self.0, "")? {
            let ends = storage::names_with_prefix(&self.0.join(&begin), "")?;
            digests.extend(ends.iter().map(|end| format!("{begin}{end}")));
        }
        Ok(digests)
    }

    pub(super) fn path(&self, digest: &str) -> PathBuf {
        let (folder, name) = digest.split_at(digest.len().min(2));
        self.0.join(folder).join(name)
    }
}
