//! A SHA-256, as people and the trust store write it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of parts, each of which is set apart from the next: `ab`, `c` is not `a`, `bc`.
    pub(super) fn of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The digest of a file's content.
    pub(super) fn of_file(content: &[u8]) -> Self {
        Self::of([b"file".as_slice(), content])
    }

    /// The digest of a link: what it says, not where it leads.
    pub(super) fn of_link(target: &[u8]) -> Self {
        Self::of([b"link".as_slice(), target])
    }

    /// Its bytes as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_parts_are_cut_and_what_they_are_counts() {
        let of = |parts: [&str; 2]| Digest::of(parts.map(str::as_bytes));
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(Digest::of_file(b"x"), Digest::of_link(b"x"));
        assert_eq!(Digest::of_file(b"x").as_str().len(), 64);
    }
}
