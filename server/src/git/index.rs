//! A repository's index: what git tracks, without running git. It may be anybody's, so it is read with a limit.

use crate::limits::GIT_INDEX_MAX_BYTES;
use std::io::{self, BufRead, BufReader, Read};

/// The kinds of objects that names stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Of 20 bytes.
    Sha1,
    /// Of 32 bytes.
    Sha256,
}

impl Hash {
    fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// A path that git tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked<'a> {
    /// From the top of the repository.
    pub name: &'a [u8],
    /// What kind of file it is, and its permissions.
    pub mode: u32,
    /// The object that it is.
    pub object: &'a [u8],
    /// Its side of a merge, and what git was told to think of it.
    pub flags: [u16; 2],
}

impl Tracked<'_> {
    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode & 0o170_000 == 0o120_000
    }
}

/// What is known of a file besides its name, before the hash.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
/// There are two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// The flags that hold the length of a name, or that it is longer.
const NAME_BYTES: u16 = 0x0fff;
const NAME_MAX_BYTES: u64 = 64 << 10;

/// Shows every path that an index tracks, and gives what follows them.
pub fn read<R: Read>(
    index: R,
    hash: Hash,
    mut see: impl FnMut(Tracked<'_>),
) -> io::Result<BufReader<io::Take<R>>> {
    let mut index = Index { bytes: BufReader::with_capacity(64 << 10, index.take(GIT_INDEX_MAX_BYTES)) };
    let [signature, version, count] = [index.number()?, index.number()?, index.number()?];
    if signature.to_be_bytes() != *b"DIRC" || !(2..=4).contains(&version) {
        return Err(invalid("not an index of git"));
    }
    let hash_bytes = hash.bytes();
    let mut name = Vec::new();
    for _ in 0..count {
        let mut facts = [0; STAT_BYTES + 32 + 2];
        let facts = &mut facts[..STAT_BYTES + hash_bytes + 2];
        index.bytes.read_exact(facts)?;
        let mode =
            u32::from_be_bytes([facts[MODE_AT], facts[MODE_AT + 1], facts[MODE_AT + 2], facts[MODE_AT + 3]]);
        let mut read = facts.len();
        let flags = u16::from_be_bytes([facts[read - 2], facts[read - 1]]);
        let mut more = [0; 2];
        if flags & EXTENDED != 0 {
            index.bytes.read_exact(&mut more)?;
            read += 2;
        }
        // The fourth version says only what is other than in the name before.
        let same = if version == 4 { name.len().saturating_sub(index.varint()?) } else { 0 };
        name.truncate(same);
        let added = index.bytes.by_ref().take(NAME_MAX_BYTES).read_until(0, &mut name)?;
        if name.pop() != Some(0) {
            return Err(invalid("a name without an end"));
        }
        // One that is read with the wrong hash has another length, too.
        if name.len().min(usize::from(NAME_BYTES)) != usize::from(flags & NAME_BYTES) {
            return Err(invalid("a name of another length"));
        }
        if version < 4 {
            // Zeros fill up eight bytes, the one behind the name included.
            index.skip((read + added).next_multiple_of(8) - (read + added))?;
        }
        let object = &facts[STAT_BYTES..STAT_BYTES + hash_bytes];
        see(Tracked { name: &name, mode, object, flags: [flags & !NAME_BYTES, u16::from_be_bytes(more)] });
    }
    Ok(index.bytes)
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
        Err(invalid("a length without an end"))
    }
}

/// The names of the extensions, in what follows the paths.
pub fn extensions(mut rest: impl Read, hash: Hash) -> io::Result<Vec<[u8; 4]>> {
    let mut bytes = Vec::new();
    rest.read_to_end(&mut bytes)?;
    let hash_at = bytes.len().checked_sub(hash.bytes()).ok_or_else(|| invalid("no hash at its end"))?;
    let (mut names, mut left) = (Vec::new(), &bytes[..hash_at]);
    while let Some((head, after)) = left.split_first_chunk::<8>() {
        let [a, b, c, d, length @ ..] = *head;
        names.push([a, b, c, d]);
        let length = u32::from_be_bytes(length) as usize;
        left = after.get(length..).ok_or_else(|| invalid("an extension without an end"))?;
    }
    if left.is_empty() { Ok(names) } else { Err(invalid("an extension without a length")) }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
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
            let mut seen = 0;
            if let Ok(rest) = read(&index[..], hash, |_| seen += 1) {
                prop_assert_eq!(seen, count);
                let _ = extensions(rest, hash);
            }
        }
    }
}
