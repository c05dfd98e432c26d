//! A session's updates on their way to the front end.
//!
//! Numbered without gaps. When the front end is slow, neighbouring pieces of text become one; nothing is lost.
//! A turn waits for room before it takes more from the model, so what waits here is bounded.

use super::update::{ToolCallProgress, Update};
use crate::limits::OUTBOX_MAX_BYTES;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A queue of updates with one reader.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<State>,
    arrived: Notify,
    taken: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Update>,
    bytes: usize,
    /// The number of the last update that was taken.
    seq: u64,
    /// The reader has come back for more, so the last one is out.
    all_delivered: bool,
    closed: bool,
}

impl Outbox {
    /// Adds an update.
    pub fn push(&self, update: Update) {
        let mut state = self.state();
        state.all_delivered = false;
        let State { waiting, bytes, .. } = &mut *state;
        let rest = match waiting.back_mut() {
            Some(last) if are_pieces_of_one(last, &update) => {
                // Counted as it will be when it is taken: the sum must come back to nothing.
                *bytes -= weight_bytes(last);
                let rest = join(last, update);
                *bytes += weight_bytes(last);
                rest
            }
            _ => Some(update),
        };
        *bytes += rest.as_ref().map_or(0, weight_bytes);
        waiting.extend(rest);
        drop(state);
        self.arrived.notify_one();
    }

    /// The next update and its number; `None` when the outbox is closed and empty. One reader only.
    pub async fn next(&self) -> Option<(u64, Update)> {
        loop {
            {
                let mut state = self.state();
                if let Some(update) = state.waiting.pop_front() {
                    state.bytes -= weight_bytes(&update);
                    state.seq += 1;
                    let seq = state.seq;
                    drop(state);
                    self.taken.notify_waiters();
                    return Some((seq, update));
                }
                state.all_delivered = true;
                self.taken.notify_waiters();
                if state.closed {
                    return None;
                }
            }
            self.arrived.notified().await;
        }
    }

    /// Waits until little enough is waiting.
    pub async fn room(&self) {
        self.until(|state| state.bytes < OUTBOX_MAX_BYTES).await;
    }

    /// Waits until the reader has dealt with everything.
    pub async fn delivered(&self) {
        self.until(|state| state.waiting.is_empty() && state.all_delivered).await;
    }

    /// No more will come: the reader is told once it has taken what there is.
    pub fn close(&self) {
        self.state().closed = true;
        self.arrived.notify_one();
    }

    async fn until(&self, mut condition: impl FnMut(&State) -> bool) {
        loop {
            let taken = self.taken.notified();
            tokio::pin!(taken);
            taken.as_mut().enable();
            if condition(&self.state()) {
                return;
            }
            taken.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether they may be joined. Other kinds are not weighed again: a tool call's input may be large.
fn are_pieces_of_one(last: &Update, next: &Update) -> bool {
    let joins = matches!(
        last,
        Update::AgentMessageChunk { .. } | Update::AgentThoughtChunk { .. } | Update::ToolCallUpdate(_)
    );
    joins && std::mem::discriminant(last) == std::mem::discriminant(next)
}

/// Joins an update to the one before it where they are pieces of the same text; gives it back where not.
fn join(last: &mut Update, next: Update) -> Option<Update> {
    match (last, next) {
        (Update::AgentMessageChunk { text }, Update::AgentMessageChunk { text: more })
        | (Update::AgentThoughtChunk { text }, Update::AgentThoughtChunk { text: more }) => {
            text.push_str(&more);
            None
        }
        (Update::ToolCallUpdate(last), Update::ToolCallUpdate(next)) => join_output(last, next),
        (_, next) => Some(next),
    }
}

fn join_output(last: &mut ToolCallProgress, next: ToolCallProgress) -> Option<Update> {
    let same = last.tool_call_id == next.tool_call_id && last.status == next.status;
    if !same || last.exit_code.is_some() || next.exit_code.is_some() {
        return Some(Update::ToolCallUpdate(next));
    }
    match (&mut last.output, next.output) {
        (Some(output), Some(more)) => output.push_str(&more),
        (output, more) => *output = more.or(output.take()),
    }
    None
}

fn weight_bytes(update: &Update) -> usize {
    const FIXED: usize = 64;
    FIXED
        + match update {
            Update::UserMessage { text }
            | Update::AgentMessageChunk { text }
            | Update::AgentThoughtChunk { text }
            | Update::Notice { text, .. } => text.len(),
            Update::ToolCallUpdate(progress) => progress.output.as_ref().map_or(0, String::len),
            Update::ToolCall(call) => call.title.len() + call.input.to_string().len(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::update::{NoticeLevel, ToolCallStatus};
    use pretty_assertions::assert_eq;
    use std::sync::Arc;

    fn chunk(text: &str) -> Update {
        Update::AgentMessageChunk { text: text.into() }
    }

    fn output(id: &str, text: &str) -> Update {
        let status = ToolCallStatus::InProgress;
        Update::ToolCallUpdate(ToolCallProgress {
            tool_call_id: id.into(),
            status,
            output: Some(text.into()),
            exit_code: None,
        })
    }

    #[tokio::test]
    async fn a_slow_reader_gets_everything_in_order_without_gaps() {
        let outbox = Outbox::default();
        let notice = Update::Notice { level: NoticeLevel::Info, text: "n".into() };
        for update in [
            chunk("a"),
            chunk("b"),
            notice.clone(),
            chunk("c"),
            output("1", "x"),
            output("1", "y"),
            output("2", "z"),
        ] {
            outbox.push(update);
        }
        outbox.close();
        let mut got = Vec::new();
        while let Some(update) = outbox.next().await {
            got.push(update);
        }
        assert_eq!(
            got,
            [(1, chunk("ab")), (2, notice), (3, chunk("c")), (4, output("1", "xy")), (5, output("2", "z"))]
        );
    }

    #[tokio::test]
    async fn a_writer_waits_for_room_and_goes_on_when_there_is_some() {
        let outbox = Arc::new(Outbox::default());
        outbox.push(chunk(&"x".repeat(OUTBOX_MAX_BYTES)));
        let writer = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.room().await }
        });
        tokio::task::yield_now().await;
        assert!(!writer.is_finished());
        outbox.next().await;
        writer.await.unwrap();
    }

    /// Each joined piece once left a few bytes in the count, and a long session ended in a wait without end.
    #[tokio::test]
    async fn an_empty_outbox_has_room_however_many_pieces_were_joined_in_it() {
        let outbox = Outbox::default();
        for _ in 0..2 * OUTBOX_MAX_BYTES / 64 {
            outbox.push(chunk("x"));
            outbox.push(output("1", "y"));
            outbox.push(output("1", "z"));
            outbox.next().await;
            outbox.next().await;
        }
        outbox.push(chunk("x"));
        for _ in 0..2 * OUTBOX_MAX_BYTES / 64 {
            outbox.push(chunk("x"));
        }
        outbox.next().await;
        assert!(futures::FutureExt::now_or_never(outbox.room()).is_some());
    }

    #[tokio::test]
    async fn delivered_means_that_the_reader_came_back() {
        let outbox = Arc::new(Outbox::default());
        outbox.push(chunk("x"));
        let waiter = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.delivered().await }
        });
        outbox.next().await;
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished(), "taken is not delivered");
        let reader = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.next().await }
        });
        waiter.await.unwrap();
        outbox.close();
        assert_eq!(reader.await.unwrap(), None);
    }
}
