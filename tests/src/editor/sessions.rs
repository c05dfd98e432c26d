//! Airlock's own methods, as an editor with the extension uses them.

use super::wire::Wire;
use serde_json::{Value, json};

impl Wire {
    /// A new session's id.
    pub async fn new_session(&self) -> String {
        let session = self.expect("airlock/session/new", json!({})).await;
        id_in(&session, "sessionId")
    }

    /// A prompt's turn.
    pub async fn prompt(&self, session: &str, text: &str) -> String {
        let params = json!({"sessionId": session, "text": text});
        id_in(&self.expect("airlock/session/prompt", params).await, "turnId")
    }

    /// A prompt that is sent again while the session is busy with another one.
    pub async fn prompt_until_taken(&self, session: &str, text: &str) -> String {
        let busy = |error: &Value| error["message"].as_str().is_some_and(|why| why.contains("in work"));
        loop {
            let params = json!({"sessionId": session, "text": text});
            match self.request("airlock/session/prompt", params).await {
                Ok(begun) => return id_in(&begun, "turnId"),
                Err(error) => assert!(busy(&error), "{error}\n{}", self.report()),
            }
        }
    }

    /// Prompts, and gives the updates up to the turn's end.
    pub async fn turn(&self, session: &str, text: &str) -> Vec<Value> {
        let turn = self.prompt(session, text).await;
        let updates = self.updates_until_turn_end(session).await;
        let end = updates.last().expect("a turn's end");
        assert_eq!(end["turnId"], turn, "another turn ended: {end}");
        updates
    }

    /// Asks for the end of the turn in work.
    pub fn cancel(&self, session: &str) {
        self.notify("airlock/session/cancel", json!({"sessionId": session}));
    }

    /// The session's next update, without its number; that numbers have no gaps is checked as they arrive.
    pub async fn next_update(&self, session: &str) -> Value {
        let fits = |message: &Value| {
            message["method"] == "airlock/session/update" && message["params"]["sessionId"] == session
        };
        self.next(&format!("an update of {session}"), fits).await["params"]["update"].take()
    }

    /// The session's updates up to the first of this kind, and that one.
    pub async fn updates_until(&self, session: &str, kind: &str) -> Vec<Value> {
        let mut updates = Vec::new();
        loop {
            let update = self.next_update(session).await;
            let last = update["kind"] == kind;
            updates.push(update);
            if last {
                return updates;
            }
        }
    }

    /// The session's updates up to the end of a turn, and that one.
    pub async fn updates_until_turn_end(&self, session: &str) -> Vec<Value> {
        self.updates_until(session, "turn_end").await
    }

    /// Sends a request that must succeed.
    pub async fn expect(&self, method: &str, params: Value) -> Value {
        match self.request(method, params).await {
            Ok(result) => result,
            Err(error) => panic!("{method} failed: {error}\n{}", self.report()),
        }
    }

    /// Opens a document.
    pub fn open(&self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "plaintext", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Changes a document.
    pub fn change(&self, uri: &str, version: i64, changes: Value) {
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }
}

/// What the agent said in these updates.
pub fn agent_text(updates: &[Value]) -> String {
    let said = |update: &&Value| update["kind"] == "agent_message_chunk";
    updates.iter().filter(said).filter_map(|update| update["text"].as_str()).collect()
}

/// The kinds of these updates, in order.
pub fn kinds(updates: &[Value]) -> Vec<&str> {
    updates.iter().filter_map(|update| update["kind"].as_str()).collect()
}

fn id_in(result: &Value, field: &str) -> String {
    match result[field].as_str() {
        Some(id) => id.to_owned(),
        None => panic!("no `{field}` in {result}"),
    }
}
