//! Histories as a torn disk or somebody's editor may leave them.

use crate::json::has_fractions;
use airlock::agent::history::{Entry, Line, Loaded, repair};
use airlock::agent::usage::Ledger;
use airlock::conversation::{Block, Message, Role};
use std::collections::BTreeSet;

/// Whatever the file holds, what is loaded is a conversation that the API takes, and it is the same when it is loaded
/// again. A torn end changes nothing.
pub fn history(bytes: &[u8]) {
    let loaded = Loaded::from_bytes(bytes);
    let whole = &bytes[..loaded.whole_bytes];
    assert!(whole.is_empty() || whole.ends_with(b"\n"));
    assert_eq!(Loaded::from_bytes(whole), loaded, "a torn line counts");
    let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    assert!(loaded.lost_lines + loaded.usage.len() <= lines);

    is_accepted(&loaded.conversation);
    assert_eq!(loaded.to_append.as_slice(), {
        let end = loaded.conversation.len() - usize::from(loaded.to_append.is_some());
        &loaded.conversation[end..]
    });
    assert_eq!(repair(loaded.conversation.clone()), (loaded.conversation.clone(), None), "mended at once");

    let mut ledger = Ledger::default();
    for usage in &loaded.usage {
        ledger.record(&usage.model, &usage.tokens(), None);
    }
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let line =
        |message: &Message| serde_json::to_string(&Line { at, entry: Entry::Message(message.clone()) });
    let written: String = loaded.conversation.iter().map(|message| line(message).unwrap() + "\n").collect();
    if loaded.conversation.iter().all(is_written_as_it_is) {
        let again = Loaded::from_bytes(written.as_bytes());
        assert_eq!(
            (again.conversation, again.lost_lines),
            (loaded.conversation, 0),
            "written and loaded again"
        );
    }
}

/// Not so: numbers with a fraction, and objects that had a key twice.
fn is_written_as_it_is(message: &Message) -> bool {
    let is_same = |block: &Block| {
        let written = serde_json::to_value(block).unwrap();
        !has_fractions(&written) && serde_json::from_value::<Block>(written).unwrap() == *block
    };
    message.content.iter().all(is_same)
}

/// The API's rules: the user begins, nothing is empty, and what a message calls, the next one answers, first of all.
fn is_accepted(conversation: &[Message]) {
    assert!(conversation.first().is_none_or(|message| message.role == Role::User), "the user begins");
    let mut open: Vec<&str> = Vec::new();
    for message in conversation {
        assert!(!message.content.is_empty(), "an empty message");
        assert!(!message.content.iter().any(Block::is_blank), "a block that says nothing");
        let answers: Vec<&str> = message.content.iter().filter_map(answered).collect();
        let first: Vec<&str> = message.content.iter().map_while(answered).collect();
        assert_eq!(answers, first, "results come first");
        let (wanted, given): (BTreeSet<_>, BTreeSet<_>) = (open.iter().collect(), answers.iter().collect());
        assert_eq!((wanted, open.len()), (given, answers.len()), "one result for each call, and no other");
        open = message.tool_use_ids().collect();
        assert!(open.is_empty() || message.role == Role::Assistant, "only the model calls");
        let ids: BTreeSet<_> = open.iter().collect();
        assert_eq!(ids.len(), open.len(), "two calls of one id");
    }
    assert!(open.is_empty(), "a call without a result");
}

fn answered(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}
