//! Which reply a request gets: first what was scripted for such a request, then the queue, then the fallback.

use super::received::Received;
use super::reply::Reply;
use std::collections::VecDeque;

type Predicate = Box<dyn Fn(&Received) -> bool + Send>;
type Fallback = Box<dyn FnMut(&Received) -> Option<Reply> + Send>;

#[derive(Default)]
pub(super) struct Script {
    rules: Vec<Rule>,
    queue: VecDeque<Reply>,
    fallback: Option<Fallback>,
}

/// A reply for one request that fits.
struct Rule {
    what: String,
    fits: Predicate,
    reply: Reply,
}

impl Script {
    pub(super) fn push(&mut self, reply: Reply) {
        self.queue.push_back(reply);
    }

    pub(super) fn rule(&mut self, what: String, fits: Predicate, reply: Reply) {
        self.rules.push(Rule { what, fits, reply });
    }

    pub(super) fn otherwise(&mut self, fallback: Fallback) {
        self.fallback = Some(fallback);
    }

    /// Takes the reply for this request; each is given once.
    pub(super) fn take(&mut self, request: &Received) -> Option<Reply> {
        if let Some(index) = self.rules.iter().position(|rule| (rule.fits)(request)) {
            return Some(self.rules.remove(index).reply);
        }
        if let Some(reply) = self.queue.pop_front() {
            return Some(reply);
        }
        self.fallback.as_mut()?(request)
    }

    /// What was scripted and never asked for, in words.
    pub(super) fn unused(&self) -> Vec<String> {
        let rules = self.rules.iter().map(|rule| format!("the reply on {}", rule.what));
        let queue = self.queue.iter().map(|reply| format!("a reply in the queue: {:?}", reply.content()));
        rules.chain(queue).collect()
    }
}
