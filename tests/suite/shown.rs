//! What a user has seen of a conversation, in a form in which two showings can be compared.

use serde_json::Value;

/// One thing that was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Said(String),
    Thought(String),
    Called(String),
    /// A call's id, how it ended and what it said.
    Ended(String, String, String),
    /// Something that a second showing tells otherwise; it stands between what is said before and after it.
    Other,
}

/// What these updates show. Pieces of one text are one.
pub fn seen(updates: &[Value]) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for update in updates {
        let text = |field: &str| update.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let next = match update["kind"].as_str() {
            Some("agent_message_chunk") => Seen::Said(text("text")),
            Some("agent_thought_chunk") => Seen::Thought(text("text")),
            Some("tool_call") => Seen::Called(text("toolCallId")),
            Some("tool_call_update") if update["status"] != "in_progress" => {
                Seen::Ended(text("toolCallId"), text("status"), text("output"))
            }
            _ => Seen::Other,
        };
        match (all.last_mut(), next) {
            (Some(Seen::Said(before)), Seen::Said(more))
            | (Some(Seen::Thought(before)), Seen::Thought(more)) => {
                before.push_str(&more);
            }
            (_, next) => all.push(next),
        }
    }
    all.retain(|seen| *seen != Seen::Other);
    // Calls that run side by side end in any order.
    let kind = |seen: &Seen| matches!(seen, Seen::Ended(..));
    for ends in all.chunk_by_mut(|one, next| kind(one) && kind(next)) {
        ends.sort();
    }
    all
}

/// Calls whose end is not known because the session was interrupted.
pub fn is_interrupted(seen: &Seen) -> bool {
    matches!(seen, Seen::Ended(_, _, output) if output.contains("the session was interrupted"))
}

/// Panics unless `again` shows what `before` showed, except for the message that was not finished.
///
/// A call of which only the beginning was saved is shown as interrupted, whatever was seen of its end.
pub fn assert_shown_again(before: &[Seen], again: &[Seen]) {
    let interrupted = |id: &str| {
        again.iter().any(|seen| is_interrupted(seen) && matches!(seen, Seen::Ended(call, ..) if call == id))
    };
    let saved = |seen: &&Seen| !matches!(seen, Seen::Ended(id, ..) if interrupted(id));
    let before: Vec<&Seen> = before.iter().filter(saved).collect();
    let again: Vec<&Seen> = again.iter().filter(saved).collect();
    let same = before.iter().zip(&again).take_while(|(before, again)| before == again).count();
    let (missing, more) = (&before[same..], &again[same..]);
    let explained = match (missing, more) {
        // One message may be missing: what it said, and its calls, but no result of a call.
        (missing, []) => missing.iter().all(|seen| !matches!(seen, Seen::Ended(..))),
        // What was saved need not have reached the user.
        ([], _) => true,
        ([Seen::Said(begun)], [Seen::Said(whole), ..])
        | ([Seen::Thought(begun)], [Seen::Thought(whole), ..]) => whole.starts_with(begun),
        // Some of the calls that ran side by side.
        (missing, more) => missing.iter().all(|seen| matches!(seen, Seen::Ended(..)) && more.contains(seen)),
    };
    assert!(explained, "what was shown before the kill:\n{before:#?}\nand what is shown again:\n{again:#?}");
    for call in again.iter().filter_map(|seen| if let Seen::Called(id) = seen { Some(id) } else { None }) {
        let ended = |seen: &&Seen| matches!(seen, Seen::Ended(id, ..) if id == call);
        assert!(interrupted(call) || again.iter().any(ended), "the call {call} is shown without its end");
    }
}
