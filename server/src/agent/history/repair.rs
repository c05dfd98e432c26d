//! Makes a conversation one that the API accepts, whatever was lost of it.

use crate::conversation::{Block, Message, ResultPart, Role};
use std::collections::HashSet;

const LOST: &str = "the session was interrupted before this tool finished; what it did is not known";

/// The conversation with a result for every call and a call for every result, and the message that had to be put
/// at its end for that, if one had to.
pub fn repair(messages: Vec<Message>) -> (Vec<Message>, Option<Message>) {
    let mut whole: Vec<Message> = Vec::with_capacity(messages.len());
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message.role {
            Role::Assistant => {
                let message = fit_calls(message);
                whole.extend(results_for(&mut open));
                open = message.tool_use_ids().map(str::to_owned).collect();
                // A conversation begins with the user.
                if !whole.is_empty() && !message.content.is_empty() {
                    whole.push(message);
                } else {
                    open.clear();
                }
            }
            Role::User => {
                let message = fit_answers(message, &open);
                if message.content.is_empty() {
                    continue;
                }
                let answered: HashSet<&str> = message.content.iter().filter_map(answered_call).collect();
                let missing: Vec<String> =
                    open.iter().filter(|id| !answered.contains(id.as_str())).cloned().collect();
                let mut message = message.clone();
                message.content.splice(0..0, missing.iter().map(|id| lost(id)));
                open.clear();
                whole.push(message);
            }
        }
    }
    let end = results_for(&mut open);
    whole.extend(end.clone());
    (whole, end)
}

/// Drops what the model never says, a second call of the same id, and blocks that say nothing.
fn fit_calls(mut message: Message) -> Message {
    let mut called = HashSet::new();
    message.content.retain(|block| match block {
        Block::ToolUse { id, .. } => called.insert(id.clone()),
        Block::ToolResult { .. } => false,
        block => !block.is_blank(),
    });
    message
}

/// Puts results first, one for each open call; drops all others, calls, and blocks that say nothing.
fn fit_answers(mut message: Message, open: &[String]) -> Message {
    let mut answered = HashSet::new();
    message.content.retain(|block| match block {
        Block::ToolUse { .. } => false,
        Block::ToolResult { tool_use_id: id, .. } => open.contains(id) && answered.insert(id.clone()),
        block => !block.is_blank(),
    });
    message.content.sort_by_key(|block| answered_call(block).is_none());
    message
}

fn answered_call(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

fn results_for(open: &mut Vec<String>) -> Option<Message> {
    if open.is_empty() {
        return None;
    }
    let content = open.drain(..).map(|id| lost(&id)).collect();
    Some(Message { role: Role::User, content })
}

fn lost(id: &str) -> Block {
    Block::ToolResult { tool_use_id: id.to_owned(), content: vec![ResultPart::text(LOST)], is_error: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn calls(ids: &[String]) -> Message {
        let call = |id: &String| Block::ToolUse { id: id.clone(), name: "bash".into(), input: json!({}) };
        Message::assistant(ids.iter().map(call).collect())
    }

    fn results(ids: &[String]) -> Message {
        let result =
            |id: &String| Block::ToolResult { tool_use_id: id.clone(), content: vec![], is_error: false };
        Message { role: Role::User, content: ids.iter().map(result).collect() }
    }

    /// The API's rule: what a message calls, the next answers, first of all.
    fn accepted(messages: &[Message]) -> bool {
        let first_is_user = messages.first().is_none_or(|message| message.role == Role::User);
        let answered = messages.iter().enumerate().all(|(position, message)| {
            let mut open: Vec<&str> = message.tool_use_ids().collect();
            let next = messages.get(position + 1);
            let answers: Vec<&str> =
                next.iter().flat_map(|next| next.content.iter().map_while(answered_call)).collect();
            open.sort_unstable();
            let mut sorted = answers.clone();
            sorted.sort_unstable();
            open == sorted
        });
        first_is_user && answered && messages.iter().all(|message| !message.content.is_empty())
    }

    #[test]
    fn a_whole_conversation_is_left_as_it_is() {
        let ids = ["1".to_owned(), "2".to_owned()];
        let messages =
            vec![Message::user("a"), calls(&ids), results(&ids), Message::assistant(vec![Block::text("b")])];
        assert_eq!(repair(messages.clone()), (messages, None));
    }

    #[test]
    fn calls_at_the_end_get_results_to_be_appended() {
        let ids = ["1".to_owned()];
        let (whole, end) = repair(vec![Message::user("a"), calls(&ids)]);
        assert!(accepted(&whole) && end.is_some_and(|end| whole.last() == Some(&end)));
    }

    #[test]
    fn results_come_first_and_each_call_has_one() {
        let ids = ["1".to_owned(), "2".to_owned()];
        let mut answers = vec![Block::text("and"), Block::text(" ")];
        answers.extend(results(&["2".to_owned(), "2".to_owned(), "3".to_owned()]).content);
        let mut twice = calls(&ids);
        twice.content.extend(calls(&ids).content);
        let (whole, _) =
            repair(vec![Message::user("a"), twice, Message { role: Role::User, content: answers }]);
        assert!(accepted(&whole), "{whole:?}");
        assert_eq!((whole[1].content.len(), whole[2].content.len()), (2, 3));
    }

    #[test]
    fn calls_of_the_user_and_results_of_the_model_are_left_out() {
        let ids = ["1".to_owned()];
        let content = |mut message: Message| {
            message.content.push(Block::text("so"));
            message.content
        };
        let (whole, end) = repair(vec![
            Message { role: Role::User, content: content(calls(&ids)) },
            Message { role: Role::Assistant, content: content(results(&ids)) },
        ]);
        assert_eq!(whole, [Message::user("so"), Message::assistant(vec![Block::text("so")])]);
        assert_eq!(end, None);
    }

    proptest! {
        #[test]
        fn whatever_lines_are_lost_the_api_accepts_the_rest(
            rounds in prop::collection::vec(0usize..4, 1..6), lost_lines in prop::collection::vec(any::<bool>(), 20),
        ) {
            let mut messages = vec![Message::user("go")];
            for (round, count) in rounds.iter().enumerate() {
                let ids: Vec<String> = (0..*count).map(|call| format!("{round}.{call}")).collect();
                messages.extend(if ids.is_empty() {
                    [Message::assistant(vec![Block::text("so")]), Message::user("go on")]
                } else {
                    [calls(&ids), results(&ids)]
                });
            }
            prop_assert!(accepted(&messages));
            let rest: Vec<Message> =
                messages.into_iter().zip(lost_lines).filter_map(|(message, lost)| (!lost).then_some(message)).collect();
            let (whole, _) = repair(rest);
            prop_assert!(accepted(&whole), "{whole:?}");
        }
    }
}
