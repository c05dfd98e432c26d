//! What happens in a session, as text for a terminal. Pure: updates in, text out.
//!
//! Architecture invariant: foreign text is neutral, and only the model's answer begins at the left edge. Thoughts,
//! output and the like have something of ours before each line, so they cannot pass for anything else.

use super::calls::Calls;
use super::line_prefix::{LinePrefix, with_prefix};
use super::paint::Paint;
use super::words;
use crate::agent::update::{NoticeLevel, StopReason, Update, UsageReport};
use crate::neutral::{Neutral, neutral};
use std::time::Instant;

/// What has been written so far, as far as it matters for what comes next.
pub(super) struct Transcript {
    paint: Paint,
    detail: Detail,
    columns: Option<usize>,
    block: Block,
    line_open: bool,
    filter: Neutral,
    thought: LinePrefix,
    calls: Calls,
    usage: Option<UsageReport>,
}

/// What stands before a line of thought.
const THOUGHT: &str = "· ";

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    All,
    /// Not the answer, which goes elsewhere, and nothing that only a person in front of it wants to see.
    Notes,
}

/// What was written last. Blocks of another kind are a line apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Nothing,
    Answer,
    Thought,
    Calls,
    Notes,
    User,
}

impl Transcript {
    pub(super) fn new(paint: Paint, detail: Detail) -> Self {
        Self {
            paint,
            detail,
            columns: None,
            block: Block::Nothing,
            line_open: false,
            filter: Neutral::default(),
            thought: LinePrefix::new(THOUGHT, None),
            calls: Calls::new(paint),
            usage: None,
        }
    }

    /// What to write for an update that arrived at this moment.
    pub(super) fn show(&mut self, update: &Update, now: Instant) -> String {
        match update {
            Update::AgentMessageChunk { .. }
            | Update::AgentThoughtChunk { .. }
            | Update::UserMessage { .. }
                if self.detail == Detail::Notes =>
            {
                String::new()
            }
            Update::AgentMessageChunk { text } => self.stream(Block::Answer, text),
            Update::AgentThoughtChunk { text } => self.stream(Block::Thought, text),
            Update::UserMessage { text } => self.user(text),
            Update::ToolCall(call) => self.begin(Block::Calls) + &self.calls.start(call),
            Update::ToolCallUpdate(progress) => {
                let text = self.calls.progress(progress, now);
                if text.is_empty() { text } else { self.begin(Block::Calls) + &text }
            }
            Update::Usage(report) => {
                self.usage = Some(*report);
                String::new()
            }
            Update::Sandbox { state, isolation, detail } => {
                let detail = detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
                self.note(NoticeLevel::Info, &(words::sandbox(*state, *isolation) + &detail))
            }
            Update::Changes { count: 0, .. } | Update::Commands { .. } | Update::Model { .. } => {
                String::new()
            }
            Update::Changes { count, files } => self
                .note(NoticeLevel::Info, &format!("{} to review: /review", words::changes(*count, *files))),
            Update::Notice { level, text } => self.note(*level, text),
            Update::TurnEnd { stop_reason, error, .. } => self.turn_end(*stop_reason, error.as_deref()),
        }
    }

    /// The terminal's width, which may change at any time.
    pub(super) fn set_columns(&mut self, columns: Option<usize>) {
        self.columns = columns;
        self.calls.set_columns(columns);
    }

    /// Something that the user should know.
    pub(super) fn note(&mut self, level: NoticeLevel, untrusted_text: &str) -> String {
        let text = neutral(untrusted_text);
        let mut lines = text.trim_end_matches('\n').lines();
        let first = lines.next().unwrap_or_default();
        let label = match level {
            NoticeLevel::Info => self.paint.dim("note:"),
            NoticeLevel::Warning => self.paint.doubtful("warning:"),
            NoticeLevel::Error => self.paint.bad("error:"),
        };
        let rest = lines.map(|line| format!("  {line}\n")).collect::<String>();
        self.begin(Block::Notes) + &format!("{label} {first}\n{rest}")
    }

    /// What the user said, where the terminal does not show it yet.
    pub(super) fn user(&mut self, untrusted_text: &str) -> String {
        let said = with_prefix("> ", self.columns, &neutral(untrusted_text));
        self.begin(Block::User) + &self.paint.bold(&said)
    }

    /// The user has typed something: the terminal shows it, and the cursor is in a new line.
    pub(super) fn typed(&mut self) {
        self.block = Block::User;
        self.line_open = false;
    }

    /// Ends the line and the block, so that something else may write.
    pub(super) fn break_off(&mut self) -> String {
        let end = self.end_block();
        self.block = Block::Nothing;
        end
    }

    fn stream(&mut self, block: Block, untrusted_text: &str) -> String {
        let mut out = self.begin(block);
        let text = self.filter.push(untrusted_text);
        if text.is_empty() {
            return out;
        }
        self.line_open = !text.ends_with('\n');
        match block {
            Block::Thought => out.push_str(&self.paint.dim(&self.thought.push(&text))),
            _ => out.push_str(&text),
        }
        out
    }

    /// Begins a block, or goes on with it.
    fn begin(&mut self, block: Block) -> String {
        if block == self.block {
            return String::new();
        }
        let mut out = self.end_block();
        if self.block != Block::Nothing && self.detail == Detail::All {
            out.push('\n');
        }
        self.block = block;
        self.thought = LinePrefix::new(THOUGHT, self.columns);
        out
    }

    fn end_block(&mut self) -> String {
        let mut out = self.filter.finish().to_owned();
        if !out.is_empty() || self.line_open {
            out.push('\n');
        }
        self.line_open = false;
        out
    }

    fn turn_end(&mut self, stop_reason: StopReason, error: Option<&str>) -> String {
        self.calls.forget();
        let mut out = String::new();
        match (error, words::ending(stop_reason)) {
            (Some(error), _) => out.push_str(&self.note(NoticeLevel::Error, error)),
            (None, Some(ending)) => {
                out.push_str(&self.begin(Block::Notes));
                out.push_str(&self.paint.doubtful(ending));
                out.push('\n');
            }
            (None, None) => {}
        }
        if let (Some(report), Detail::All) = (self.usage.take(), self.detail) {
            out.push_str(&self.begin(Block::Notes));
            out.push_str(&self.paint.dim(&words::usage(&report)));
            out.push('\n');
        }
        out.push_str(&self.break_off());
        out
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
