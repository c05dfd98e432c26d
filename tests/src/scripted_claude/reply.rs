//! What the scripted Claude says to one request: written by the test, block by block.
//!
//! A block stays open until the next one begins, so [`Reply::more`] and [`Reply::gate`] can stand inside it:
//! `Reply::says("Hel").gate(&gate).more("lo")`.

use super::fault::ApiError;
use super::gate::Gate;
use super::usage::Usage;
use serde_json::Value;

/// One answer, streamed or an error.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) steps: Vec<Step>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Usage,
    pub(super) error: Option<ApiError>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) held: Option<Gate>,
    pub(super) delivery: Delivery,
}

/// What happens in a stream, in the test's words.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Text(Vec<String>),
    Thinking { text: String, signature: String },
    RedactedThinking(String),
    ToolUse { id: String, name: String, json: Vec<String> },
    More(String),
    EndBlock,
    Ping,
    Event(String, Value),
    Gate(Gate),
    Error(ApiError),
    Silence,
}

/// How the bytes travel.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    pub(super) one_byte_chunks: bool,
    pub(super) unknowns: bool,
    pub(super) crlf: bool,
    pub(super) mute: bool,
    pub(super) endless: bool,
    pub(super) cut: Option<Cut>,
}

/// Where and how the stream ends too early.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cut {
    /// The connection breaks: the client sees an error.
    Abort(usize),
    /// The body ends as if it were whole.
    End(usize),
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::says(text)
    }
}

/// Beginnings.
impl Reply {
    /// An answer without content so far.
    #[allow(clippy::new_without_default, reason = "an empty answer is no sensible default")]
    pub fn new() -> Self {
        Self {
            steps: Vec::new(),
            stop_reason: None,
            usage: Usage::default(),
            error: None,
            headers: Vec::new(),
            held: None,
            delivery: Delivery::default(),
        }
    }

    /// An answer of one text.
    pub fn says(text: &str) -> Self {
        Self::new().text(text)
    }

    /// An answer of one tool call.
    pub fn calls(id: &str, name: &str, input: Value) -> Self {
        Self::new().tool_use(id, name, input)
    }

    /// An error instead of an answer. Its type and message follow from the status; see [`Reply::error`].
    pub fn status(status: u16) -> Self {
        let mut reply = Self::new();
        reply.error = Some(ApiError::of_status(status));
        reply
    }

    /// The headers, and then nothing until the client hangs up.
    pub fn silent() -> Self {
        let mut reply = Self::new();
        reply.delivery.mute = true;
        reply
    }
}

/// Content.
impl Reply {
    /// A text block in one piece.
    pub fn text(self, text: &str) -> Self {
        self.text_in([text])
    }

    /// A text block that arrives in these pieces.
    pub fn text_in<'a>(self, pieces: impl IntoIterator<Item = &'a str>) -> Self {
        self.step(Step::Text(pieces.into_iter().map(str::to_owned).collect()))
    }

    /// A thinking block. An empty text is what a model sends when thinking is not displayed.
    pub fn thinking(self, text: &str, signature: &str) -> Self {
        self.step(Step::Thinking { text: text.to_owned(), signature: signature.to_owned() })
    }

    /// A thinking block that only the API can read.
    pub fn redacted_thinking(self, data: &str) -> Self {
        self.step(Step::RedactedThinking(data.to_owned()))
    }

    /// A tool call. Its input arrives as the API sends it: an empty piece first, then the JSON in two pieces.
    pub fn tool_use(self, id: &str, name: &str, input: Value) -> Self {
        let json = input.to_string();
        let middle = json.floor_char_boundary(json.len() / 2);
        let (head, tail) = json.split_at(middle);
        self.tool_use_in(id, name, ["", head, tail])
    }

    /// A tool call whose input arrives in these pieces of JSON text, whole or not.
    pub fn tool_use_in<'a>(self, id: &str, name: &str, pieces: impl IntoIterator<Item = &'a str>) -> Self {
        self.step(Step::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            json: pieces.into_iter().map(str::to_owned).collect(),
        })
    }

    /// One more piece of the open block: of its text, its thinking, or its input's JSON.
    pub fn more(self, piece: &str) -> Self {
        self.step(Step::More(piece.to_owned()))
    }

    /// Closes the open block here, and not only when the next one begins.
    pub fn end_block(self) -> Self {
        self.step(Step::EndBlock)
    }

    /// Why the message ends. Without this: `tool_use` if a tool is called, else `end_turn`.
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop_reason = Some(reason.to_owned());
        self
    }

    /// Tokens read and written, without the cache's.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        (self.usage.input, self.usage.output) = (input, output);
        self
    }

    /// Tokens read from the cache and written to it.
    pub fn cached(mut self, read: u64, creation: u64) -> Self {
        (self.usage.cache_read, self.usage.cache_creation) = (read, creation);
        self
    }
}

/// Time, noise and faults.
impl Reply {
    /// Waits here, after what was scripted so far, until the gate is opened.
    pub fn gate(self, gate: &Gate) -> Self {
        self.step(Step::Gate(gate.clone()))
    }

    /// Waits before anything is answered, the status line included.
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.held = Some(gate.clone());
        self
    }

    /// A `ping` event.
    pub fn ping(self) -> Self {
        self.step(Step::Ping)
    }

    /// Any event at all, for what the API may send one day.
    pub fn event(self, name: &str, data: Value) -> Self {
        self.step(Step::Event(name.to_owned(), data))
    }

    /// Sprinkles events, deltas and fields that no client knows over the stream.
    pub fn unknowns(mut self) -> Self {
        self.delivery.unknowns = true;
        self
    }

    /// Lines end in `\r\n`.
    pub fn crlf(mut self) -> Self {
        self.delivery.crlf = true;
        self
    }

    /// Each byte in an HTTP chunk of its own, each flushed.
    pub fn one_byte_chunks(mut self) -> Self {
        self.delivery.one_byte_chunks = true;
        self
    }

    /// Breaks the connection after so many bytes of the stream.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.delivery.cut = Some(Cut::Abort(bytes));
        self
    }

    /// Ends the body after so many bytes of the stream, as if that were all.
    pub fn end_after(mut self, bytes: usize) -> Self {
        self.delivery.cut = Some(Cut::End(bytes));
        self
    }

    /// Says nothing from here on, until the client hangs up.
    pub fn silence(self) -> Self {
        self.step(Step::Silence)
    }

    /// An `error` event, with which the stream ends.
    pub fn error_event(self, kind: &str, message: &str) -> Self {
        self.step(Step::Error(ApiError::new(200, kind, message)))
    }

    /// The error's type and message, for [`Reply::status`].
    pub fn error(mut self, kind: &str, message: &str) -> Self {
        let error = self.error.get_or_insert_with(|| ApiError::of_status(500));
        (error.kind, error.message) = (kind.to_owned(), message.to_owned());
        self
    }

    /// `error.details`, for [`Reply::status`].
    pub fn error_details(mut self, details: Value) -> Self {
        let error = self.error.get_or_insert_with(|| ApiError::of_status(500));
        error.details = Some(Box::new(details));
        self
    }

    /// The body of the error comes, but never its end, for [`Reply::status`].
    pub fn endless(mut self) -> Self {
        self.delivery.endless = true;
        self
    }

    /// A response header, such as `retry-after`.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
