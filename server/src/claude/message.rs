//! A message from the bytes of its stream, in any split.
//!
//! Pure: bytes in, events out. Whatever happens, [`MessageDecoder::salvage`] gives what had arrived.

use super::failure::Failure;
use super::sse::{SseDecoder, SseEvent};
use super::wire::{Delta, Event, WireUsage};
use crate::conversation::Block;
use crate::limits::{MESSAGE_BLOCKS_MAX, MESSAGE_DEPTH_MAX, MESSAGE_MAX_BYTES, TOOL_INPUT_MAX_BYTES};
use serde_json::{Value, json};

/// What the stream brought.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A piece of text.
    Text(String),
    /// A piece of thinking.
    Thinking(String),
    /// A tool call, whole.
    ToolUse {
        /// The API's id of the call.
        id: String,
        /// The tool.
        name: String,
        /// What the tool is given.
        input: Value,
        /// Why the input cannot be used.
        defect: Option<String>,
    },
    /// The message is complete.
    Finished(Received),
    /// The API broke the message off.
    Failed(Failure),
}

/// A complete message.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// What it says.
    pub content: Vec<Block>,
    /// Why it ended.
    pub stop: StopCause,
    /// What it used.
    pub usage: TokenUsage,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// It was done.
    EndTurn,
    /// It wants tools to run.
    ToolUse,
    /// The answer reached `max_tokens`.
    MaxTokens,
    /// A stop sequence.
    StopSequence,
    /// It wants to be asked again with what it said so far.
    PauseTurn,
    /// It declined.
    Refusal,
    /// The window is full.
    ContextExceeded,
    /// One that this version does not know.
    Unknown(String),
}

/// Token counts of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Sent and not cached.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Read from the prompt cache.
    pub cache_read: u64,
    /// Written to the prompt cache.
    pub cache_write: u64,
}

impl TokenUsage {
    /// What the conversation fills of the window, this message included.
    pub fn context(&self) -> u64 {
        // The numbers are somebody else's.
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }
}

/// A block under construction.
enum Draft {
    Text(String),
    Thinking {
        thinking: String,
        signature: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: String,
    },
    /// Complete as it started: redacted thinking, and kinds that we do not know.
    Whole(Value),
}

/// The events whose data must be readable; `message` is one without a name.
const KNOWN_EVENTS: [&str; 7] = [
    "message",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// How a piece is told, where it is.
type Announce = fn(String) -> StreamEvent;

/// Builds a message from its stream.
#[derive(Default)]
pub struct MessageDecoder {
    sse: SseDecoder,
    drafts: Vec<Draft>,
    done: Vec<Option<Block>>,
    stop: Option<StopCause>,
    usage: TokenUsage,
    size_bytes: usize,
    ended: bool,
}

impl MessageDecoder {
    /// Takes the next bytes of the stream. After `Finished` or `Failed` nothing more comes out.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut frames = Vec::new();
        let fed = self.sse.feed(bytes, &mut frames);
        let mut events = Vec::new();
        for frame in frames {
            if self.ended {
                return events;
            }
            let event = self.take(&frame).unwrap_or_else(|failure| Some(StreamEvent::Failed(failure)));
            self.ended |= matches!(event, Some(StreamEvent::Finished(_) | StreamEvent::Failed(_)));
            events.extend(event);
        }
        if let (Err(error), false) = (fed, self.ended) {
            self.ended = true;
            events.push(StreamEvent::Failed(Failure::passing(error.to_string())));
        }
        events
    }

    /// How many lines of the stream ended so far.
    pub fn lines(&self) -> u64 {
        self.sse.lines()
    }

    /// What was used so far, as far as it was told.
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// The blocks that can be kept when the stream ended early: text as far as it came, thinking that is sealed.
    /// Tool calls are left out, for they must not run.
    pub fn salvage(self) -> Vec<Block> {
        let drafts = self.drafts.into_iter().zip(self.done);
        let blocks = drafts.filter_map(|(draft, done)| done.or_else(|| draft.unfinished()));
        blocks.filter(|block| !block.is_blank() && !matches!(block, Block::ToolUse { .. })).collect()
    }

    fn take(&mut self, frame: &SseEvent) -> Result<Option<StreamEvent>, Failure> {
        if frame.name == "error" {
            return Err(Failure::from_event(&frame.data));
        }
        let event = match serde_json::from_str(&frame.data) {
            Ok(event) => event,
            // A kind of event that this version does not know may hold anything.
            Err(_) if !KNOWN_EVENTS.contains(&frame.name.as_str()) => Event::Unknown,
            Err(error) => {
                let text = format!("the API sent an event that cannot be read: {error}");
                return Err(Failure::passing(text));
            }
        };
        match event {
            Event::MessageStart { message } => self.usage.update(&message.usage),
            Event::ContentBlockStart { index, content_block } => return self.start(index, content_block),
            Event::ContentBlockDelta { index, delta } => return self.delta(index, delta),
            Event::ContentBlockStop { index } => return self.finish_block(index),
            Event::MessageDelta { delta, usage } => {
                self.stop = delta.stop_reason.map(StopCause::from).or(self.stop.take());
                self.usage.update(&usage.unwrap_or_default());
            }
            Event::MessageStop => return Ok(Some(StreamEvent::Finished(self.finish()))),
            Event::Error => return Err(Failure::from_event(&frame.data)),
            Event::Unknown => {}
        }
        Ok(None)
    }

    fn start(&mut self, index: usize, block: Value) -> Result<Option<StreamEvent>, Failure> {
        if index != self.drafts.len() || index >= MESSAGE_BLOCKS_MAX {
            return Err(Failure::passing("the API sent content blocks out of order"));
        }
        if is_too_deep(&block) {
            let text = format!("the API sent a content block that is nested deeper than {MESSAGE_DEPTH_MAX}");
            return Err(Failure::passing(text));
        }
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (draft, event) = match block.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => (Draft::Text(text("text")), Some(StreamEvent::Text(text("text")))),
            "thinking" => {
                let draft = Draft::Thinking { thinking: text("thinking"), signature: text("signature") };
                (draft, Some(StreamEvent::Thinking(text("thinking"))))
            }
            "tool_use" if self.drafts.iter().any(|draft| draft.is_call(&text("id"))) => {
                return Err(Failure::passing("the API sent two calls with one id"));
            }
            "tool_use" => (Draft::ToolUse { id: text("id"), name: text("name"), input: String::new() }, None),
            "tool_result" => {
                return Err(Failure::passing("the API sent a result of a call, which is ours to send"));
            }
            _ => (Draft::Whole(block), None),
        };
        self.drafts.push(draft);
        self.done.push(None);
        Ok(event.filter(|event| !matches!(event, StreamEvent::Text(text) | StreamEvent::Thinking(text) if text.is_empty())))
    }

    fn delta(&mut self, index: usize, delta: Delta) -> Result<Option<StreamEvent>, Failure> {
        let open = self.done.get(index).is_some_and(Option::is_none);
        let Some(draft) = self.drafts.get_mut(index).filter(|_| open) else {
            return Err(Failure::passing("the API sent a piece of a content block that is not open"));
        };
        let (target, piece, event): (_, _, Option<Announce>) = match (draft, delta) {
            (Draft::Text(text), Delta::TextDelta { text: piece }) => (text, piece, Some(StreamEvent::Text)),
            (Draft::Thinking { thinking, .. }, Delta::ThinkingDelta { thinking: piece }) => {
                (thinking, piece, Some(StreamEvent::Thinking))
            }
            (Draft::Thinking { signature, .. }, Delta::SignatureDelta { signature: piece }) => {
                (signature, piece, None)
            }
            (Draft::ToolUse { input, .. }, Delta::InputJsonDelta { partial_json }) => {
                (input, partial_json, None)
            }
            _ => return Ok(None),
        };
        self.size_bytes += piece.len();
        if self.size_bytes > MESSAGE_MAX_BYTES {
            return Err(Failure::lasting(format!("the answer is larger than {MESSAGE_MAX_BYTES} bytes")));
        }
        target.push_str(&piece);
        Ok(event.filter(|_| !piece.is_empty()).map(|event| event(piece)))
    }

    fn finish_block(&mut self, index: usize) -> Result<Option<StreamEvent>, Failure> {
        let (Some(draft), Some(done)) = (self.drafts.get_mut(index), self.done.get_mut(index)) else {
            return Err(Failure::passing("the API ended a content block that it never began"));
        };
        if done.is_some() {
            // A call would be made twice, with one id.
            return Err(Failure::passing("the API ended a content block twice"));
        }
        let (block, event) = draft.finish();
        *done = Some(block);
        Ok(event)
    }

    fn finish(&mut self) -> Received {
        let drafts = std::mem::take(&mut self.drafts).into_iter().zip(std::mem::take(&mut self.done));
        let blocks = drafts.filter_map(|(draft, done)| done.or_else(|| draft.unfinished()));
        Received {
            content: blocks.filter(|block| !block.is_blank()).collect(),
            stop: self.stop.take().unwrap_or(StopCause::EndTurn),
            usage: self.usage,
        }
    }
}

impl Draft {
    /// The block when its end has come; a tool call is announced.
    fn finish(&mut self) -> (Block, Option<StreamEvent>) {
        match self {
            Self::Text(text) => (Block::Text { text: std::mem::take(text) }, None),
            Self::Thinking { thinking, signature } => {
                let (thinking, signature) = (std::mem::take(thinking), std::mem::take(signature));
                (Block::Thinking { thinking, signature }, None)
            }
            Self::ToolUse { id, name, input } => {
                let (input, defect) = tool_input(input);
                let block = Block::ToolUse { id: id.clone(), name: name.clone(), input: input.clone() };
                (block, Some(StreamEvent::ToolUse { id: id.clone(), name: name.clone(), input, defect }))
            }
            Self::Whole(value) => {
                let block =
                    serde_json::from_value(value.clone()).unwrap_or_else(|_| Block::Other(value.clone()));
                (block, None)
            }
        }
    }

    fn is_call(&self, wanted: &str) -> bool {
        matches!(self, Self::ToolUse { id, .. } if id == wanted)
    }

    /// What can be kept of a block whose end never came.
    fn unfinished(self) -> Option<Block> {
        match self {
            Self::Text(text) => Some(Block::Text { text }),
            Self::Thinking { .. } | Self::ToolUse { .. } | Self::Whole(_) => None,
        }
    }
}

/// The input of a call. The API wants an object back, so one that is none is wrapped, and the defect told.
fn tool_input(text: &str) -> (Value, Option<String>) {
    if text.len() > TOOL_INPUT_MAX_BYTES {
        let note = format!(
            "the input was larger than {TOOL_INPUT_MAX_BYTES} bytes: split the work into smaller calls"
        );
        return (json!({"too_large": text.len()}), Some(note));
    }
    if text.trim().is_empty() {
        return (json!({}), None);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(input) if is_too_deep(&input) => {
            let note = format!("the input was nested deeper than {MESSAGE_DEPTH_MAX}: make it flatter");
            (json!({"too_deep": text}), Some(note))
        }
        Ok(input) if input.is_object() => (input, None),
        Ok(other) => (json!({"not_an_object": other}), Some("the input must be a JSON object".to_owned())),
        Err(error) => (json!({"not_json": text}), Some(format!("the input was not valid JSON: {error}"))),
    }
}

/// Whether it could not be read again from the history, where it stands deeper than it did in the stream.
fn is_too_deep(value: &Value) -> bool {
    fn reaches(value: &Value, depth: usize) -> bool {
        match value {
            _ if depth > MESSAGE_DEPTH_MAX => true,
            Value::Array(values) => values.iter().any(|value| reaches(value, depth + 1)),
            Value::Object(fields) => fields.values().any(|value| reaches(value, depth + 1)),
            _ => false,
        }
    }
    reaches(value, 0)
}

impl TokenUsage {
    fn update(&mut self, wire: &WireUsage) {
        self.input = wire.input_tokens.unwrap_or(self.input);
        self.output = wire.output_tokens.unwrap_or(self.output);
        self.cache_read = wire.cache_read_input_tokens.unwrap_or(self.cache_read);
        self.cache_write = wire.cache_creation_input_tokens.unwrap_or(self.cache_write);
    }
}

impl From<String> for StopCause {
    fn from(wire: String) -> Self {
        match wire.as_str() {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ContextExceeded,
            _ => Self::Unknown(wire),
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
