//! The tool calls of one message: which run when, and their results in one message.
//!
//! Calls that only read run side by side; one that changes something waits for those before it and runs alone.

use super::effect::Effect;
use super::event::{CallEnd, ToolCall};
use crate::agent::update::{ToolCallProgress, ToolCallStatus, Update};
use crate::conversation::{Block, Message, ResultPart, Role};
use crate::limits::{MESSAGE_IMAGES_MAX_BYTES, TOOL_CALLS_AT_ONCE_MAX};

pub(super) struct Batch {
    calls: Vec<ToolCall>,
    ends: Vec<Option<CallEnd>>,
    /// Calls before this one have been started.
    next: usize,
    /// What the images in their answers take.
    image_bytes: usize,
}

impl Batch {
    pub(super) fn new(calls: Vec<ToolCall>) -> Self {
        let ends = calls.iter().map(|_| None).collect();
        Self { calls, ends, next: 0, image_bytes: 0 }
    }

    pub(super) fn is_running(&self) -> bool {
        self.ends[..self.next].iter().any(Option::is_none)
    }

    pub(super) fn is_done(&self) -> bool {
        self.ends.iter().all(Option::is_some)
    }

    /// Starts the next group. Calls whose input is broken end at once, without running.
    pub(super) fn start_next(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while !self.is_running() && self.next < self.calls.len() {
            let first = self.next;
            let alike = self.calls[first..].iter().take_while(|call| call.reads_only);
            let alike = alike.take(TOOL_CALLS_AT_ONCE_MAX).count();
            self.next = first + alike.max(1);
            for index in first..self.next {
                let call = self.calls[index].clone();
                match &call.defect {
                    Some(defect) => effects.extend(self.finished(index, broken(defect))),
                    None => {
                        effects.push(self.progress(index, ToolCallStatus::InProgress, None, None));
                        effects.push(Effect::RunTool { index, call });
                    }
                }
            }
        }
        effects
    }

    pub(super) fn progressed(&self, index: usize, output: String) -> Option<Effect> {
        let running = index < self.next && self.ends[index].is_none();
        running.then(|| self.progress(index, ToolCallStatus::InProgress, Some(output), None))
    }

    pub(super) fn finished(&mut self, index: usize, mut end: CallEnd) -> Option<Effect> {
        if index >= self.next || self.ends[index].is_some() {
            return None;
        }
        for part in &mut end.content {
            self.make_room_for(part);
        }
        let status = if end.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let shown = self.progress(index, status, end.unseen.clone(), end.exit_code);
        self.ends[index] = Some(end);
        Some(shown)
    }

    /// An image too many becomes words: a message that the API refuses for its size would be sent again for ever.
    fn make_room_for(&mut self, part: &mut ResultPart) {
        let ResultPart::Image { data, .. } = part else { return };
        if self.image_bytes + data.len() <= MESSAGE_IMAGES_MAX_BYTES {
            self.image_bytes += data.len();
            return;
        }
        let most = MESSAGE_IMAGES_MAX_BYTES >> 20;
        *part = ResultPart::text(format!(
            "[an image is left out: those of one message may have {most} MiB together; look at it by itself]"
        ));
    }

    /// Ends every call that has not ended, as an error.
    pub(super) fn stop(&mut self, why: &str) -> Vec<Effect> {
        self.next = self.calls.len();
        (0..self.calls.len()).filter_map(|index| self.finished(index, broken(why))).collect()
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = (&ToolCall, &CallEnd)> {
        self.calls.iter().zip(self.ends.iter().flatten())
    }

    /// All results, in the order of the calls, as one user message.
    pub(super) fn into_results(self) -> Message {
        let pairs = self.calls.into_iter().zip(self.ends);
        let results = pairs.map(|(call, end)| {
            let end = end.unwrap_or_else(|| broken("not run"));
            Block::ToolResult { tool_use_id: call.id, content: end.content, is_error: end.is_error }
        });
        Message { role: Role::User, content: results.collect() }
    }

    fn progress(
        &self,
        index: usize,
        status: ToolCallStatus,
        output: Option<String>,
        exit_code: Option<i32>,
    ) -> Effect {
        let tool_call_id = self.calls[index].id.clone();
        Effect::Show(Update::ToolCallUpdate(ToolCallProgress { tool_call_id, status, output, exit_code }))
    }
}

fn broken(why: &str) -> CallEnd {
    CallEnd {
        content: vec![ResultPart::text(why)],
        unseen: Some(why.to_owned()),
        is_error: true,
        exit_code: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn reading(calls: usize) -> Batch {
        let call = |number| ToolCall {
            id: format!("{number}"),
            name: "read_file".to_owned(),
            input: Value::Null,
            defect: None,
            title: String::new(),
            reads_only: true,
        };
        Batch::new((0..calls).map(call).collect())
    }

    fn started(effects: &[Effect]) -> usize {
        effects.iter().filter(|effect| matches!(effect, Effect::RunTool { .. })).count()
    }

    #[test]
    fn only_so_many_calls_run_at_once_and_all_of_them_in_the_end() {
        let mut batch = reading(TOOL_CALLS_AT_ONCE_MAX + 2);
        assert_eq!(started(&batch.start_next()), TOOL_CALLS_AT_ONCE_MAX);
        (0..TOOL_CALLS_AT_ONCE_MAX).for_each(|index| drop(batch.finished(index, broken("done"))));
        assert_eq!(started(&batch.start_next()), 2);
    }

    #[test]
    fn images_that_no_request_could_carry_are_left_out_and_the_model_is_told() {
        let mut batch = reading(4);
        batch.start_next();
        let image = || ResultPart::Image {
            media_type: "image/png".to_owned(),
            data: "A".repeat(MESSAGE_IMAGES_MAX_BYTES / 3),
        };
        for index in 0..4 {
            batch.finished(index, CallEnd { content: vec![image()], ..broken("") });
        }
        let Message { content, .. } = batch.into_results();
        let is_image = |block: &Block| {
            let Block::ToolResult { content, .. } = block else { panic!("{block:?}") };
            match &content[0] {
                ResultPart::Image { .. } => true,
                ResultPart::Text { text } => !text.contains("left out"),
            }
        };
        assert_eq!(content.iter().map(is_image).collect::<Vec<_>>(), [true, true, true, false]);
    }
}
