//! The symbolic links that git tracks, from a repository's index. They can be anywhere, and to look for them everywhere
//! would cost more the larger the workspace is.

use crate::limits::PROTECTED_INDEX_MAX_BYTES;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The kinds of objects that names stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

/// What is known of a file besides its name, before the hash.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
/// The bits of a mode that say what something is, and those of a link.
const KIND_BITS: u32 = 0o170_000;
const LINK_BITS: u32 = 0o120_000;
/// There are two more bytes of flags.
const EXTENDED: u16 = 0x4000;
const NAME_MAX_BYTES: u64 = 64 << 10;

/// The links in an index, by their paths from the top of the repository.
pub(super) fn links(index: impl Read, hash: Hash) -> io::Result<Vec<PathBuf>> {
    let mut index =
        Index { bytes: BufReader::with_capacity(64 << 10, index.take(PROTECTED_INDEX_MAX_BYTES)) };
    let [signature, version, count] = [index.number()?, index.number()?, index.number()?];
    if signature.to_be_bytes() != *b"DIRC" || !(2..=4).contains(&version) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not an index of git"));
    }
    let hash_bytes = if hash == Hash::Sha1 { 20 } else { 32 };
    let (mut links, mut name) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let mut facts = [0; STAT_BYTES + 32 + 2];
        let facts = &mut facts[..STAT_BYTES + hash_bytes + 2];
        index.bytes.read_exact(facts)?;
        let mode =
            u32::from_be_bytes([facts[MODE_AT], facts[MODE_AT + 1], facts[MODE_AT + 2], facts[MODE_AT + 3]]);
        let mut read = facts.len();
        let flags = u16::from_be_bytes([facts[read - 2], facts[read - 1]]);
        if flags & EXTENDED != 0 {
            index.skip(2)?;
            read += 2;
        }
        // The fourth version says only what is other than in the name before.
        let same = if version == 4 { name.len().saturating_sub(index.varint()?) } else { 0 };
        name.truncate(same);
        let added = index.bytes.by_ref().take(NAME_MAX_BYTES).read_until(0, &mut name)?;
        if name.pop() != Some(0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a name without an end"));
        }
        if version < 4 {
            // Zeros fill up eight bytes, the one behind the name included.
            index.skip((read + added).next_multiple_of(8) - (read + added))?;
        }
        if mode & KIND_BITS == LINK_BITS {
            links.push(PathBuf::from(OsString::from_vec(name.clone())));
        }
    }
    Ok(links)
}

struct Index<R: Read> {
    bytes: BufReader<io::Take<R>>,
}

impl<R: Read> Index<R> {
    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.bytes.read_exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn skip(&mut self, bytes: usize) -> io::Result<()> {
        let mut rest = [0; 8];
        self.bytes.read_exact(&mut rest[..bytes])
    }

    /// A number as git's packs have it.
    fn varint(&mut self) -> io::Result<usize> {
        let mut number = 0_usize;
        // No name is longer.
        for _ in 0..4 {
            let mut byte = [0];
            self.bytes.read_exact(&mut byte)?;
            number = (number << 7) + usize::from(byte[0] & 0x7f);
            if byte[0] & 0x80 == 0 {
                return Ok(number);
            }
            number += 1;
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "a length without an end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_index_is_too_odd(version in 0_u8..6, count in 0_u8..4, rest in vec(0_u8..4, 0..300), sha256: bool) {
            let index = [&b"DIRC\0\0\0"[..], &[version, 0, 0, 0, count], &rest].concat();
            let hash = if sha256 { Hash::Sha256 } else { Hash::Sha1 };
            if let Ok(links) = links(&index[..], hash) {
                prop_assert!(links.len() <= usize::from(count));
            }
        }
    }
}
