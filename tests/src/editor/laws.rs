//! What must hold for the stream of a server's messages, whatever a test asks: checked as each arrives.

use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// What was seen so far.
#[derive(Default)]
pub(super) struct Laws {
    last_seq: HashMap<String, u64>,
    ended_turns: HashSet<(String, String)>,
    /// Sessions that the test asked to load: they may begin anew.
    loading: HashSet<String>,
}

impl Laws {
    /// The test asks for a session to be loaded: numbers and turns of one that was closed count anew.
    pub(super) fn load(&mut self, session: &str) {
        self.loading.insert(session.to_owned());
    }

    /// Looks at a message; an error says which law it breaks.
    pub(super) fn check(&mut self, message: &Value) -> Result<(), String> {
        if message["method"] != "airlock/session/update" {
            return Ok(());
        }
        let params = &message["params"];
        let (Some(session), Some(seq)) = (params["sessionId"].as_str(), params["seq"].as_u64()) else {
            return Err(format!("an update has a session and a number: {params}"));
        };
        if seq == 1 && self.loading.remove(session) {
            self.last_seq.remove(session);
            self.ended_turns.retain(|(ended, _)| ended != session);
        }
        if let Some(last) = self.last_seq.insert(session.to_owned(), seq)
            && seq != last + 1
        {
            return Err(format!("update {seq} of {session} follows update {last}: {params}"));
        }
        let update = &params["update"];
        if update["kind"] == "turn_end" {
            let turn = update["turnId"].as_str().unwrap_or_default().to_owned();
            if !self.ended_turns.insert((session.to_owned(), turn)) {
                return Err(format!("a turn of {session} ended twice: {params}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn update(session: &str, seq: u64, update: Value) -> Value {
        json!({"method": "airlock/session/update", "params": {"sessionId": session, "seq": seq, "update": update}})
    }

    #[test]
    fn a_gap_or_a_repetition_breaks_the_law_within_its_session_only() {
        let mut laws = Laws::default();
        let notice = || json!({"kind": "notice"});
        assert_eq!(laws.check(&update("a", 1, notice())), Ok(()));
        assert_eq!(laws.check(&update("b", 7, notice())), Ok(()));
        assert_eq!(laws.check(&update("a", 2, notice())), Ok(()));
        assert!(laws.check(&update("a", 4, notice())).is_err());
        assert!(laws.check(&update("b", 7, notice())).is_err());
    }

    #[test]
    fn a_session_that_is_loaded_counts_anew_once() {
        let mut laws = Laws::default();
        let end = || json!({"kind": "turn_end", "turnId": "t"});
        assert_eq!(laws.check(&update("a", 1, end())), Ok(()));
        laws.load("a");
        assert_eq!(laws.check(&update("a", 1, end())), Ok(()));
        assert!(laws.check(&update("a", 1, end())).is_err());
    }

    #[test]
    fn a_turn_ends_once() {
        let mut laws = Laws::default();
        let end = || json!({"kind": "turn_end", "turnId": "t"});
        assert_eq!(laws.check(&update("a", 1, end())), Ok(()));
        assert_eq!(laws.check(&update("b", 1, end())), Ok(()));
        assert!(laws.check(&update("a", 2, end())).is_err());
    }
}
