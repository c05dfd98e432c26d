//! Notices when the agent turns in circles: the same call with the same result, several times in a row.

use super::effect::RepeatedCall;
use super::event::{CallEnd, ToolCall};
use crate::conversation::ResultPart;
use serde_json::Value;

/// The last call and how often it has been seen in a row.
pub(super) struct Repeats {
    /// `None`: never ask.
    ask_at: Option<u32>,
    last: Option<(String, Value, Vec<ResultPart>)>,
    times: u32,
}

impl Repeats {
    pub(super) fn new(ask_at: Option<u32>) -> Self {
        Self { ask_at, last: None, times: 0 }
    }

    /// Takes the next call; tells when it is time to ask.
    pub(super) fn saw(&mut self, call: &ToolCall, end: &CallEnd) -> Option<RepeatedCall> {
        let ask_at = self.ask_at?;
        let same = self.last.as_ref().is_some_and(|(name, input, content)| {
            *name == call.name && *input == call.input && *content == end.content
        });
        if same {
            self.times += 1;
        } else {
            self.last = Some((call.name.clone(), call.input.clone(), end.content.clone()));
            self.times = 1;
        }
        (self.times >= ask_at).then(|| RepeatedCall { call: call.clone(), times: self.times })
    }

    pub(super) fn asks(&self) -> bool {
        self.ask_at.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.last = None;
        self.times = 0;
    }

    pub(super) fn never_ask(&mut self) {
        self.ask_at = None;
    }
}
