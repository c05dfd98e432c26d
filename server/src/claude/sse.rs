//! Server-sent events from bytes in any split.
//!
//! A pure decoder of the WHATWG event-stream format: lines end with `\n`, `\r` or `\r\n`, also when the two bytes
//! arrive apart; a line that begins with a colon is a comment; an event ends at an empty line.

use crate::limits::SSE_EVENT_MAX_BYTES;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's name; `message` when it has none.
    pub name: String,
    /// Its data lines, joined by newlines.
    pub data: String,
}

/// One event was larger than the limit.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {SSE_EVENT_MAX_BYTES} bytes")]
pub struct EventTooLarge;

/// Collects bytes into events.
#[derive(Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
    /// The last byte was `\r`: a `\n` that follows belongs to it.
    after_return: bool,
    at_start: bool,
    started: bool,
    /// Lines that ended so far.
    lines: u64,
}

impl SseDecoder {
    /// How many lines ended so far, comments too: each is a sign of life.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Takes the next bytes; complete events are pushed to `events`.
    pub fn feed(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLarge> {
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > SSE_EVENT_MAX_BYTES {
                return Err(EventTooLarge);
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        self.lines += 1;
        let line = std::mem::take(&mut self.line);
        self.at_start = !std::mem::replace(&mut self.started, true);
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if self.at_start => rest,
            _ => &line,
        };
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            // Comments have an empty field name; `id` and `retry` mean nothing here.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        Some(SseEvent { name: if name.is_empty() { "message".to_owned() } else { name }, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let (mut decoder, mut events) = (SseDecoder::default(), Vec::new());
        for chunk in chunks {
            decoder.feed(chunk, &mut events).unwrap();
        }
        events
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn the_format_is_read_as_the_standard_says() {
        let stream =
            "\u{feff}: hello\nevent: a\ndata: 1\ndata:2\nid: 7\n\nevent: ignored\n\ndata\n\ndata:  x\r\n\r\n";
        assert_eq!(
            decode(&[stream.as_bytes()]),
            [event("a", "1\n2"), event("message", ""), event("message", " x")]
        );
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_it_is_kept() {
        let mut decoder = SseDecoder::default();
        let megabyte = vec![b'x'; 1 << 20];
        let refused = (0..64).position(|_| decoder.feed(&megabyte, &mut Vec::new()).is_err());
        assert_eq!(refused, Some(SSE_EVENT_MAX_BYTES >> 20));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            text in "(data: ?[aä€😀]{0,3}|event: b|:c|)?(\r\n|\n|\r)((data: ?[aä€😀]{0,3}|event: b|:c|)(\r\n|\n|\r)){0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(decode(&chunks), decode(&[bytes]));
            prop_assert_eq!(decode(&single), decode(&[bytes]));
        }
    }
}
