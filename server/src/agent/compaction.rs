//! Makes room in the model's window: what is old becomes a summary, what is recent is kept word for word.
//!
//! The new beginning is one message of text. Blocks with signatures cannot be moved into another conversation, so
//! the recent part is kept as a transcript.

use super::turn::trying_again;
use crate::claude::{
    Claude, Failure, MessageRequest, MessageStream, StopCause, StreamEvent, TokenUsage, ToolSpec, retry,
};
use crate::conversation::{Block, Message, ResultPart, Role};
use crate::limits::{
    BYTES_PER_TOKEN, COMPACT_KEEP_PERCENT, COMPACT_MUST_REACH_PERCENT, COMPACT_RESULT_MAX_BYTES,
};
use std::sync::Arc;

/// Everything that a compaction needs.
pub(super) struct Compactor<'a> {
    pub(super) claude: &'a Arc<Claude>,
    pub(super) model: &'a str,
    pub(super) max_tokens: u64,
    pub(super) system: &'a str,
    pub(super) tools: &'a [ToolSpec],
    pub(super) adaptive_thinking: bool,
    pub(super) conversation: &'a [Message],
    pub(super) context_used: u64,
    pub(super) context_size: u64,
    pub(super) retries_max: u32,
    /// Tells the user what goes wrong on the way.
    pub(super) tell: &'a (dyn Fn(String) + Send + Sync),
}

/// What came of asking for a summary.
pub(super) struct Summarised {
    /// The conversation's new beginning and how many tokens it is, roughly; or why it would not help.
    pub(super) beginning: Result<(Message, u64), String>,
    /// What was spent in any case.
    pub(super) usage: TokenUsage,
}

const REQUEST: &str = "The conversation has become too long and will go on from a summary. Write that summary now, for \
    yourself: the task and what the user asked for, decisions and their reasons, what was done to which files, what \
    commands showed, what is left to do, and everything the user said about how to work. Names, paths and numbers \
    exactly. Call no tools.";

impl Compactor<'_> {
    /// Asks the model for a summary and makes the new beginning of it.
    pub(super) async fn compact(&self) -> Result<Summarised, String> {
        let (summary, usage) = self
            .summary()
            .await
            .map_err(|failure| format!("the conversation could not be summarised: {}", failure.message))?;
        Ok(Summarised { beginning: self.beginning(&summary), usage })
    }

    fn beginning(&self, summary: &str) -> Result<(Message, u64), String> {
        let keep_bytes = self.context_size * BYTES_PER_TOKEN * COMPACT_KEEP_PERCENT / 100;
        let beginning = new_beginning(summary, &recent(self.conversation, keep_bytes as usize));
        let context_used = beginning.estimated_tokens();
        // What an almost empty window held is small enough, however little of it was old.
        let small = context_used * 100 < self.context_size * COMPACT_KEEP_PERCENT * 2;
        if !small && context_used * 100 > self.context_used * COMPACT_MUST_REACH_PERCENT {
            return Err("summarising the conversation would free nothing: start anew with /clear".to_owned());
        }
        Ok((beginning, context_used))
    }

    /// First with the conversation as it is, which the prompt cache knows; where that is too long, with its end only.
    async fn summary(&self) -> Result<(String, TokenUsage), Failure> {
        let mut messages = self.conversation.to_vec();
        messages.push(Message::user(REQUEST));
        match self.ask(&messages, self.tools).await {
            Err(failure) if failure.too_long => {
                let room_bytes = self.context_size * BYTES_PER_TOKEN / 2;
                let end = recent(self.conversation, room_bytes as usize);
                self.ask(
                    &[Message::user(format!("<conversation>\n{end}\n</conversation>\n\n{REQUEST}"))],
                    &[],
                )
                .await
            }
            result => result,
        }
    }

    async fn ask(&self, messages: &[Message], tools: &[ToolSpec]) -> Result<(String, TokenUsage), Failure> {
        let request = MessageRequest {
            model: self.model,
            max_tokens: self.max_tokens,
            system: self.system,
            tools,
            messages,
            adaptive_thinking: self.adaptive_thinking,
        };
        for attempt in 0.. {
            let result = match self.claude.ask(&request).await {
                Ok(stream) => read(stream).await,
                Err(failure) => Err(failure),
            };
            match result {
                Err(failure) => match retry::delay(&failure, attempt, self.retries_max, 0.5) {
                    Some(delay) => {
                        (self.tell)(trying_again(&failure, delay, attempt + 1, self.retries_max));
                        tokio::time::sleep(delay).await;
                    }
                    None => return Err(failure),
                },
                done => return done,
            }
        }
        Err(Failure::lasting("gave up"))
    }
}

async fn read(mut stream: MessageStream) -> Result<(String, TokenUsage), Failure> {
    loop {
        match stream.next().await {
            StreamEvent::Finished(message) if message.stop == StopCause::Refusal => {
                return Err(Failure::lasting("the model declined to write a summary"));
            }
            StreamEvent::Finished(message) => {
                let text = Message::assistant(message.content).text();
                if text.trim().is_empty() {
                    return Err(Failure::lasting("the model wrote no summary"));
                }
                return Ok((text, message.usage));
            }
            StreamEvent::Failed(failure) => return Err(failure),
            StreamEvent::Text(_) | StreamEvent::Thinking(_) | StreamEvent::ToolUse { .. } => {}
        }
    }
}

fn new_beginning(summary: &str, recent: &str) -> Message {
    Message::user(format!(
        "The conversation so far was summarised to make room.\n\n<summary>\n{}\n</summary>\n\n\
         Its end, word for word:\n\n<recent>\n{recent}\n</recent>\n\nGo on from there.",
        summary.trim()
    ))
}

/// The end of a conversation as text: the last message whole, and of those before it as many as fit.
fn recent(messages: &[Message], room_bytes: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut bytes = 0;
    for message in messages.iter().rev() {
        let part = transcript(message);
        bytes += part.len();
        if bytes > room_bytes && !parts.is_empty() {
            break;
        }
        parts.push(part);
    }
    parts.reverse();
    parts.join("\n")
}

fn transcript(message: &Message) -> String {
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "You",
    };
    let parts = message.content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(format!("{who}: {text}")),
        Block::ToolUse { name, input, .. } => Some(format!("{who} called {name}: {input}")),
        Block::ToolResult { content, .. } => {
            let text: String = content
                .iter()
                .map(|part| match part {
                    ResultPart::Text { text } => text.as_str(),
                    ResultPart::Image { .. } => "[image]",
                })
                .collect();
            let end = text.floor_char_boundary(COMPACT_RESULT_MAX_BYTES.min(text.len()));
            let cut = if end < text.len() { " […]" } else { "" };
            Some(format!("Result: {}{cut}", &text[..end]))
        }
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Other(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_last_message_is_kept_whole_and_older_ones_while_they_fit() {
        let messages =
            [Message::user("old ".repeat(50)), Message::user("middle"), Message::user("last ".repeat(20))];
        let kept = recent(&messages, 130);
        assert!(kept.contains("middle") && !kept.contains("old") && kept.ends_with(&"last ".repeat(20)));
        assert!(recent(&messages, 0).ends_with(&"last ".repeat(20)), "whole, even where it does not fit");
    }

    #[test]
    fn a_transcript_has_no_block_that_could_not_be_moved() {
        let blocks = vec![
            Block::Thinking { thinking: "secret".into(), signature: "s".into() },
            Block::text("so"),
            Block::ToolUse {
                id: "1".into(),
                name: "bash".into(),
                input: serde_json::json!({"command": "ls"}),
            },
        ];
        assert_eq!(transcript(&Message::assistant(blocks)), "You: so\nYou called bash: {\"command\":\"ls\"}");
    }
}
