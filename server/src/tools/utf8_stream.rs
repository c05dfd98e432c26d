//! Text from bytes that arrive in pieces: what is no UTF-8 is repaired, and a character is never cut in two.

/// Decodes one stream.
#[derive(Default)]
pub(super) struct Utf8Stream {
    /// The beginning of a character whose end has not come yet.
    pending: Vec<u8>,
}

impl Utf8Stream {
    /// The text of the next piece.
    pub(super) fn take(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let keep = incomplete_at_end(&self.pending);
        let rest = self.pending.split_off(self.pending.len() - keep);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
    }

    /// What is left when the stream has ended.
    pub(super) fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}

/// How many bytes at the end may be the beginning of a character.
fn incomplete_at_end(bytes: &[u8]) -> usize {
    for length in 1..=bytes.len().min(3) {
        let first = bytes[bytes.len() - length];
        let needs = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            // The middle of a character: look further back.
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if needs > length { length } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_split_of_any_bytes_gives_the_text_of_the_whole(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0xe2), Just(0x82), Just(0xac), Just(0xf0), Just(0x9f)], 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let at = cut.index(bytes.len() + 1);
            let mut stream = Utf8Stream::default();
            let mut text = stream.take(&bytes[..at]);
            text.push_str(&stream.take(&bytes[at..]));
            text.push_str(&stream.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
