//! Tool calls as text: a line when one begins, its output below, a line when it has ended.

use super::excerpt::Excerpt;
use super::line_prefix::with_prefix;
use super::paint::Paint;
use super::words;
use crate::agent::update::{ToolCallProgress, ToolCallStarted, ToolCallStatus};
use crate::neutral::neutral_line;
use std::time::Instant;

/// The calls that have not ended.
pub(super) struct Calls {
    paint: Paint,
    columns: Option<usize>,
    open: Vec<Call>,
    /// Whose lines were written last.
    last: Option<String>,
}

struct Call {
    id: String,
    title: String,
    output: Excerpt,
    /// `None`: it has not begun to run, or that was long ago.
    running_since: Option<Instant>,
}

impl Calls {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, columns: None, open: Vec::new(), last: None }
    }

    pub(super) fn set_columns(&mut self, columns: Option<usize>) {
        self.columns = columns;
    }

    /// A call was made.
    pub(super) fn start(&mut self, call: &ToolCallStarted) -> String {
        let title = if call.title.is_empty() { &call.name } else { &call.title };
        let call = Call::new(&call.tool_call_id, title);
        let line = format!("● {}\n", self.paint.bold(&call.title));
        self.last = Some(call.id.clone());
        self.open.push(call);
        line
    }

    /// A call went on or ended.
    pub(super) fn progress(&mut self, progress: &ToolCallProgress, now: Instant) -> String {
        let mut call = match self.open.iter().position(|call| call.id == progress.tool_call_id) {
            Some(index) => self.open.remove(index),
            None => Call::new(&progress.tool_call_id, "an earlier call"),
        };
        let mut lines = progress.output.as_ref().map_or_else(Vec::new, |output| call.output.push(output));
        if progress.status == ToolCallStatus::InProgress {
            call.running_since.get_or_insert(now);
            let text = self.output(&call, &lines);
            self.open.push(call);
            return text;
        }
        lines.extend(std::mem::take(&mut call.output).finish());
        self.output(&call, &lines) + &self.end(&call, progress, now)
    }

    /// The turn is over, and with it every call.
    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.last = None;
    }

    fn output(&mut self, call: &Call, lines: &[String]) -> String {
        if lines.is_empty() {
            return String::new();
        }
        let mut text = self.heading(call);
        for line in lines {
            text.push_str(&self.paint.dim(&with_prefix("  ", self.columns, line)));
        }
        text
    }

    /// Calls may run side by side; then it is said whose lines follow.
    fn heading(&mut self, call: &Call) -> String {
        if self.last.as_ref() == Some(&call.id) {
            return String::new();
        }
        self.last = Some(call.id.clone());
        format!("○ {}\n", self.paint.dim(&call.title))
    }

    fn end(&mut self, call: &Call, progress: &ToolCallProgress, now: Instant) -> String {
        let mut text = self.heading(call);
        let exit = progress.exit_code.map(|code| format!("exit {code}"));
        let took = call.running_since.map(|since| words::duration(now.saturating_duration_since(since)));
        let mark = match progress.status {
            ToolCallStatus::Failed => self.paint.bad("failed"),
            _ => self.paint.good("ok"),
        };
        text.push_str("  ");
        text.push_str(&mark);
        for part in exit.into_iter().chain(took) {
            text.push_str(&self.paint.dim(&format!(" · {part}")));
        }
        text.push('\n');
        text
    }
}

impl Call {
    fn new(id: &str, title: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: neutral_line(title),
            output: Excerpt::default(),
            running_since: None,
        }
    }
}
