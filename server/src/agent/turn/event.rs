//! What can happen to a turn: past participles.

use crate::claude::{Failure, message::Received};
use crate::conversation::{Block, Message, ResultPart};
use serde_json::Value;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The user said something. The first event of a turn.
    Prompted(Message),
    /// What the model can do is known, or assumed.
    ModelLearned {
        /// Tokens of the model's window.
        context_size: u64,
    },
    /// A piece of the answer.
    TextArrived(String),
    /// A piece of thinking.
    ThoughtArrived(String),
    /// A tool call, whole, in a message that is not.
    CallArrived(ToolCall),
    /// The message is whole.
    MessageArrived(Arrived),
    /// The request or its stream failed.
    RequestFailed {
        /// Why.
        failure: Failure,
        /// What can be kept of the answer.
        salvage: Vec<Block>,
        /// A random number between 0 and 1, for the backoff.
        jitter: f64,
    },
    /// The wait before another try is over.
    BackoffElapsed,
    /// A running tool said something.
    ToolProgressed {
        /// Which call of the message.
        index: usize,
        /// The next piece of its output.
        output: String,
    },
    /// A tool is done.
    ToolFinished {
        /// Which call of the message.
        index: usize,
        /// How it ended.
        end: CallEnd,
    },
    /// The user was asked about a call that repeats itself, and answered.
    RepeatsJudged(Verdict),
    /// The conversation was compacted, or could not be.
    Compacted(Compaction),
    /// The user wants the turn to stop.
    Cancelled {
        /// What can be kept of an answer that was arriving.
        salvage: Vec<Block>,
    },
}

/// A whole message of the model.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The message.
    pub message: Received,
    /// Why the session may spend no more, when that is so.
    pub over_budget: Option<String>,
}

/// A tool call that the model made.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The API's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the tool is given.
    pub input: Value,
    /// Why the input cannot be used; the tool does not run then.
    pub defect: Option<String>,
    /// The call in a few words.
    pub title: String,
    /// The tool changes nothing, so it may run beside others that change nothing.
    pub reads_only: bool,
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CallEnd {
    /// The answer to the model.
    pub content: Vec<ResultPart>,
    /// What of it the user has not seen yet.
    pub unseen: Option<String>,
    /// Whether it is an error.
    pub is_error: bool,
    /// The exit code, for commands.
    pub exit_code: Option<i32>,
}

/// What the user said about a call that repeats itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    GoOn,
    /// Go on, and do not ask again.
    GoOnForGood,
    /// Stop.
    Stop,
}

/// How a compaction went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// There is room again.
    Freed {
        /// What the conversation fills now, roughly.
        context_used: u64,
    },
    /// There is not, and why.
    Failed(String),
}
