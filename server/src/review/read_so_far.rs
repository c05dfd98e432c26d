//! How much of the agent's work a list or a checkpoint may read: a sandbox can make more than a machine can hold, at no cost of its own.

use super::change::Change;
use crate::limits::{CHANGES_HELD_MAX_BYTES, CHANGES_LARGE_MAX_BYTES, VIEW_FILE_MAX_BYTES};
use crate::view::{Content, Entry, FileEntry};

/// What was read for one. It holds all of that but what is too large to be held.
#[derive(Default)]
pub(super) struct ReadSoFar {
    held_bytes: u64,
    large_bytes: u64,
}

impl ReadSoFar {
    pub(super) fn add(&mut self, change: &Change) {
        self.add_entry(&change.user);
        self.add_entry(&change.agent);
    }

    pub(super) fn add_entry(&mut self, entry: &Entry) {
        match entry {
            Entry::File(FileEntry { content: Content::Whole(bytes), .. }) => {
                self.held_bytes += bytes.len() as u64;
            }
            // A larger one was not read.
            Entry::File(FileEntry { content: Content::Large { bytes, .. }, .. })
                if *bytes <= VIEW_FILE_MAX_BYTES =>
            {
                self.large_bytes += bytes;
            }
            _ => {}
        }
    }

    pub(super) fn is_enough(&self) -> bool {
        self.held_bytes > CHANGES_HELD_MAX_BYTES || self.large_bytes > CHANGES_LARGE_MAX_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::WorkspacePath;
    use crate::view::Agreed;

    fn change(agent: Entry) -> Change {
        let path = WorkspacePath::parse("a").unwrap();
        Change::between(&path, &Agreed::On(Entry::Missing), Entry::Missing, agent).unwrap()
    }

    #[test]
    fn a_list_stops_before_it_holds_or_reads_too_much() {
        let held = change(Entry::file(&vec![0; 1 << 20], 0o644));
        let mut read = ReadSoFar::default();
        (0..CHANGES_HELD_MAX_BYTES >> 20).for_each(|_| read.add(&held));
        assert!(!read.is_enough());
        read.add(&held);
        assert!(read.is_enough());

        let large = |bytes| {
            let content = Content::Large { bytes, digest: "x".to_owned() };
            change(Entry::File(FileEntry { content, mode: 0o644 }))
        };
        let mut read = ReadSoFar::default();
        read.add(&large(u64::MAX));
        (0..CHANGES_LARGE_MAX_BYTES / VIEW_FILE_MAX_BYTES)
            .for_each(|_| read.add(&large(VIEW_FILE_MAX_BYTES)));
        assert!(!read.is_enough());
        read.add(&large(VIEW_FILE_MAX_BYTES));
        assert!(read.is_enough());
    }
}
