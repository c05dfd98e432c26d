//! The lines of a history file.

use crate::claude::{TokenUsage, ToolSpec};
use crate::conversation::Message;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub entry: Entry,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// The session begins. Written with the first prompt.
    Session(Header),
    /// A message.
    Message(Message),
    /// What the last message of the model used.
    Usage(UsageEntry),
    /// The user chose another model.
    Model {
        /// Its name.
        model: String,
    },
    /// The conversation was compacted: from here on it begins with this message.
    Compacted {
        /// The new beginning.
        message: Message,
    },
    /// The session goes on in another file, which the user loaded.
    ContinuedIn {
        /// The other session's id.
        id: String,
    },
    /// A kind of line that this version does not know.
    #[serde(other)]
    Unknown,
}

/// What stays the same for a whole session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The form of this file.
    pub version: u32,
    /// The beginning of the first prompt.
    pub title: String,
    /// The model at the beginning.
    pub model: String,
    /// The system prompt. Kept, because another one would void the prompt cache and the model's thinking.
    pub system: String,
    /// The tools, in their order, for the same reason.
    pub tools: Vec<ToolSpec>,
}

impl Header {
    /// The form that this version writes.
    pub const VERSION: u32 = 1;
}

/// Tokens of one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageEntry {
    /// The model that used them.
    pub model: String,
    /// See [`TokenUsage`].
    pub input: u64,
    /// See [`TokenUsage`].
    pub output: u64,
    /// See [`TokenUsage`].
    pub cache_read: u64,
    /// See [`TokenUsage`].
    pub cache_write: u64,
}

impl UsageEntry {
    /// The tokens of one message of a model.
    pub fn new(model: &str, usage: TokenUsage) -> Self {
        let TokenUsage { input, output, cache_read, cache_write } = usage;
        Self { model: model.to_owned(), input, output, cache_read, cache_write }
    }

    /// The tokens.
    pub fn tokens(&self) -> TokenUsage {
        let Self { input, output, cache_read, cache_write, .. } = *self;
        TokenUsage { input, output, cache_read, cache_write }
    }
}
