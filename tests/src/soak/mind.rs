//! What the model says in each conversation, and whether it is told again what it heard and said before.

use super::says::Say;
use crate::scripted_claude::{Received, Reply, extends};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clones are the same mind.
#[derive(Clone, Default)]
pub(super) struct Mind(Arc<Mutex<Thoughts>>);

#[derive(Default)]
struct Thoughts {
    /// By the mark in their first message.
    conversations: HashMap<String, Conversation>,
    faults: Vec<String>,
}

#[derive(Default)]
struct Conversation {
    /// What it says next.
    says: VecDeque<Say>,
    /// What both sides know: every later request must begin with it.
    agreed: Vec<Value>,
    /// What was said last, when all of it was.
    said: Option<Vec<Value>>,
    tools: Vec<String>,
}

/// The mark of the conversation with a number.
pub(super) fn mark(number: usize) -> String {
    format!("[soak {number:05}]")
}

impl Mind {
    /// What is said in the next turn of a conversation; what is left of the last one is forgotten.
    pub(super) fn prepare(&self, mark: &str, says: Vec<Say>) {
        self.thoughts().conversations.entry(mark.to_owned()).or_default().says = says.into();
    }

    /// A turn is over: well, when all that was said last was heard.
    pub(super) fn turn_ended(&self, mark: &str, well: bool) {
        let mut thoughts = self.thoughts();
        let Some(conversation) = thoughts.conversations.get_mut(mark) else { return };
        if let Some(content) = conversation.said.take().filter(|_| well) {
            conversation.agreed.push(json!({"role": "assistant", "content": content}));
        }
    }

    pub(super) fn answer(&self, request: &Received) -> Option<Reply> {
        let mut thoughts = self.thoughts();
        let Some(mark) = mark_in(&request.first_user_text()) else {
            thoughts.faults.push(format!("the model was asked by nobody: {:?}", request.messages().first()));
            return None;
        };
        let conversation = thoughts.conversations.entry(mark.clone()).or_default();
        if request.last_user_text().contains("will go on from a summary") {
            // Where the summary is taken, everything before it goes.
            (conversation.agreed, conversation.said) = (Vec::new(), None);
            return Some(Reply::says(&format!("{mark} was about little.")));
        }
        let mut faults = Vec::new();
        if let Err(why) = extends(&conversation.agreed, request.messages()) {
            faults.push(format!("the conversation {mark} was told otherwise than before: {why}"));
        }
        let tools = names(&request.body["tools"]);
        if !tools.starts_with(&conversation.tools) {
            let before = &conversation.tools;
            faults.push(format!("the tools of {mark} were {before:?} and are {tools:?}"));
        }
        (conversation.tools, conversation.agreed) = (tools, request.messages().to_vec());
        let say = conversation.says.pop_front().unwrap_or_else(|| Say::whole(Reply::says("Done.")));
        conversation.said = say.is_whole.then(|| say.reply.content());
        thoughts.faults.extend(faults);
        Some(say.reply)
    }

    pub(super) fn is_well(&self) -> bool {
        self.thoughts().faults.is_empty()
    }

    pub(super) fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut self.thoughts().faults)
    }

    fn thoughts(&self) -> MutexGuard<'_, Thoughts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark_in(text: &str) -> Option<String> {
    let begin = text.find("[soak ")?;
    let length = text[begin..].find(']')?;
    Some(text[begin..=begin + length].to_owned())
}

fn names(tools: &Value) -> Vec<String> {
    let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Instant;

    fn asked(messages: Value) -> Received {
        let body = json!({"messages": messages});
        Received { headers: BTreeMap::new(), body, at: Instant::now(), status: 200 }
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": [{"type": "text", "text": text}]})
    }

    fn assistant(text: &str) -> Value {
        json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn an_answer_that_was_heard_and_is_not_told_again_is_a_fault() {
        let mind = Mind::default();
        let first = user("[soak 00001] go");
        mind.answer(&asked(json!([first])));
        mind.turn_ended("[soak 00001]", true);
        mind.answer(&asked(json!([first, assistant("Done."), user("and?")])));
        assert!(mind.is_well());
        mind.turn_ended("[soak 00001]", true);
        mind.answer(&asked(json!([
            first,
            assistant("Done."),
            user("and?"),
            assistant("Other."),
            user("so?")
        ])));
        assert!(mind.take_faults()[0].contains("message 3 was rewritten"));
    }

    #[test]
    fn an_answer_that_was_broken_off_may_be_kept_in_part() {
        let mind = Mind::default();
        let first = user("[soak 00001] go");
        mind.answer(&asked(json!([first])));
        mind.turn_ended("[soak 00001]", false);
        mind.answer(&asked(json!([first, assistant("Do"), user("and?")])));
        assert!(mind.is_well());
        mind.answer(&asked(json!([user("[soak 00001] something else")])));
        assert!(!mind.is_well());
    }
}
