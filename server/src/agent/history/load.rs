//! Reads a history back.

use super::entry::{Entry, Header, Line, UsageEntry};
use super::repair::repair;
use crate::conversation::Message;

/// What a history file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// What stays the same for the whole session; `None` when nothing was said yet.
    pub header: Option<Header>,
    /// The conversation as the API gets it: since the last compaction, and whole.
    pub conversation: Vec<Message>,
    /// Everything that was ever said, to show it again.
    pub transcript: Vec<Message>,
    /// A message that must be appended so that the conversation is whole.
    pub to_append: Option<Message>,
    /// The model that was last chosen.
    pub model: Option<String>,
    /// Tokens of every message.
    pub usage: Vec<UsageEntry>,
    /// What the conversation fills of the window, roughly, when it was compacted and no message came since.
    pub compacted_to: Option<u64>,
    /// The session goes on in this one.
    pub continued_in: Option<String>,
    /// Lines that could not be read.
    pub lost_lines: usize,
    /// How much of the file is whole lines; what follows is a torn one.
    pub whole_bytes: usize,
}

impl Loaded {
    /// Takes a file's bytes. A line that cannot be read is counted and left out.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut loaded = Self::default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        loaded.whole_bytes = whole;
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => loaded.take(line.entry),
                Err(_) => loaded.lost_lines += 1,
            }
        }
        let (conversation, to_append) = repair(std::mem::take(&mut loaded.conversation));
        loaded.conversation = conversation;
        // Else the user would see calls that never end.
        loaded.transcript.extend(to_append.clone());
        loaded.to_append = to_append;
        loaded
    }

    /// The model that answered last, or would have.
    pub fn last_model(&self) -> Option<&str> {
        self.model.as_deref().or(self.header.as_ref().map(|header| header.model.as_str()))
    }

    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Session(header) => {
                self.header = Some(header);
                // What it went on with was gone, and the user began here after all.
                self.continued_in = None;
            }
            Entry::Message(message) => {
                self.transcript.push(message.clone());
                self.conversation.push(message);
            }
            Entry::Usage(usage) => {
                self.usage.push(usage);
                self.compacted_to = None;
            }
            Entry::Model { model } => self.model = Some(model),
            Entry::Compacted { message } => {
                self.compacted_to = Some(message.estimated_tokens());
                self.conversation = vec![message];
            }
            Entry::ContinuedIn { id } => self.continued_in = Some(id),
            Entry::Unknown => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Block;
    use pretty_assertions::assert_eq;

    fn file(entries: &[Entry]) -> Vec<u8> {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let lines = entries
            .iter()
            .map(|entry| serde_json::to_string(&Line { at, entry: entry.clone() }).unwrap() + "\n");
        lines.collect::<String>().into_bytes()
    }

    #[test]
    fn wherever_the_file_is_cut_only_the_torn_line_is_lost() {
        let messages =
            [Message::user("eins"), Message::assistant(vec![Block::text("zwei €")]), Message::user("drei")];
        let bytes = file(&messages.clone().map(Entry::Message));
        for cut in 0..=bytes.len() {
            let loaded = Loaded::from_bytes(&bytes[..cut]);
            let whole_lines = bytes[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(loaded.conversation, messages[..whole_lines], "cut at {cut}");
            assert_eq!(loaded.lost_lines, 0);
        }
    }

    #[test]
    fn a_compacted_conversation_begins_anew_and_the_transcript_does_not() {
        let entries = [
            Entry::Message(Message::user("old")),
            Entry::Compacted { message: Message::user("summary") },
            Entry::Message(Message::assistant(vec![Block::text("new")])),
        ];
        let loaded = Loaded::from_bytes(&file(&entries));
        assert_eq!(loaded.conversation[0], Message::user("summary"));
        assert_eq!((loaded.conversation.len(), loaded.transcript.len()), (2, 2));
    }

    #[test]
    fn a_call_that_was_interrupted_is_shown_with_its_end() {
        let call =
            Block::ToolUse { id: "1".into(), name: "bash".into(), input: serde_json::Value::default() };
        let messages = [Message::user("go"), Message::assistant(vec![call])];
        let loaded = Loaded::from_bytes(&file(&messages.map(Entry::Message)));
        assert_eq!(loaded.transcript, loaded.conversation);
        assert_eq!(loaded.transcript.last(), loaded.to_append.as_ref());
    }

    #[test]
    fn a_line_of_a_later_version_and_a_broken_one_do_not_stop_it() {
        let mut bytes = b"{\"at\":\"1970-01-01T00:00:00Z\",\"type\":\"hologram\"}\nnonsense\n".to_vec();
        bytes.extend(file(&[Entry::Message(Message::user("hi"))]));
        let loaded = Loaded::from_bytes(&bytes);
        assert_eq!((loaded.conversation.len(), loaded.lost_lines), (1, 1));
    }
}
