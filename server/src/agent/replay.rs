//! Shows a conversation again as the updates that it once gave.

use super::update::{ToolCallProgress, ToolCallStarted, ToolCallStatus, Update};
use crate::conversation::{Block, Message, ResultPart, Role};
use crate::tools::Registry;

/// The updates of one message.
pub(super) fn updates(message: &Message, tools: &Registry) -> Vec<Update> {
    match message.role {
        Role::Assistant => message.content.iter().filter_map(|block| of_model(block, tools)).collect(),
        Role::User => {
            let results = message.content.iter().filter_map(of_tool);
            // The user's own words are the last text; what stands before it was put there for the model.
            let words = message.content.iter().rev().find_map(|block| match block {
                Block::Text { text } => Some(Update::UserMessage { text: text.clone() }),
                _ => None,
            });
            results.chain(words).collect()
        }
    }
}

fn of_model(block: &Block, tools: &Registry) -> Option<Update> {
    match block {
        Block::Text { text } => Some(Update::AgentMessageChunk { text: text.clone() }),
        Block::Thinking { thinking, .. } if !thinking.is_empty() => {
            Some(Update::AgentThoughtChunk { text: thinking.clone() })
        }
        Block::ToolUse { id, name, input } => Some(Update::ToolCall(ToolCallStarted {
            tool_call_id: id.clone(),
            name: name.clone(),
            title: tools.title(name, input),
            input: input.clone(),
        })),
        _ => None,
    }
}

fn of_tool(block: &Block) -> Option<Update> {
    let Block::ToolResult { tool_use_id, content, is_error } = block else {
        return None;
    };
    let texts = content.iter().map(|part| match part {
        ResultPart::Text { text } => text.as_str(),
        ResultPart::Image { .. } => "[image]",
    });
    Some(Update::ToolCallUpdate(ToolCallProgress {
        tool_call_id: tool_use_id.clone(),
        status: if *is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed },
        output: Some(texts.collect::<Vec<_>>().join("\n")),
        exit_code: None,
    }))
}
