//! A session with a real sandbox in which a test says what the agent does, a tool call at a time.

use crate::editor::{Editor, EditorOptions, Home};
use crate::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

/// A session in an editor of its own.
pub struct Workbench {
    /// What says what the agent does.
    pub claude: ScriptedClaude,
    /// Where the user sits.
    pub editor: Editor,
    /// Its id.
    pub session: String,
    calls: Cell<u32>,
    /// What was listed last, as verdicts carry it.
    displayed: RefCell<Option<Value>>,
}

impl Workbench {
    /// In a home of its own.
    pub async fn new() -> Self {
        Self::with(|options| options).await
    }

    /// The same, with other options.
    pub async fn with(change: impl FnOnce(EditorOptions) -> EditorOptions) -> Self {
        let claude = ScriptedClaude::start().await;
        let editor = Editor::ready(change(EditorOptions::new(&claude).with_sandbox())).await;
        editor.ignore("$/progress");
        let session = editor.new_session().await;
        Self { claude, editor, session, calls: Cell::new(0), displayed: RefCell::default() }
    }

    /// Goes on with a session that was kept, in an editor of its own.
    pub async fn again(home: &Home, session: &str) -> Self {
        let claude = ScriptedClaude::start().await;
        let editor = Editor::ready(EditorOptions::new(&claude).home(home).with_sandbox()).await;
        editor.ignore("$/progress");
        editor.expect("airlock/session/load", json!({"sessionId": session})).await;
        // The ids of earlier calls are in its history already.
        static AGAIN: AtomicU32 = AtomicU32::new(1);
        let (calls, displayed) =
            (Cell::new(1000 * AGAIN.fetch_add(1, Ordering::Relaxed)), RefCell::default());
        Self { claude, editor, session: session.to_owned(), calls, displayed }
    }

    /// Has the agent make a call, and gives what it got back.
    pub async fn call(&self, tool: &str, input: Value) -> String {
        self.call_with_updates(tool, input).await.0
    }

    /// The same, with the updates of the turn.
    pub async fn call_with_updates(&self, tool: &str, input: Value) -> (String, Vec<Value>) {
        self.calls.set(self.calls.get() + 1);
        let id = format!("toolu_{}", self.calls.get());
        self.claude.push(Reply::calls(&id, tool, input)).push("Done.");
        let updates = self.editor.turn(&self.session, "go on").await;
        let requests = self.claude.requests();
        let messages = requests.last().expect("a request").messages();
        let mut blocks =
            messages.iter().rev().flat_map(|message| message["content"].as_array().into_iter().flatten());
        let result = blocks.find(|block| block["tool_use_id"] == *id).expect("the call's result");
        let parts = result["content"].as_array().into_iter().flatten();
        (parts.filter_map(|part| part["text"].as_str()).collect(), updates)
    }

    /// Has the agent make a call that must be an error, and gives what it was told.
    pub async fn refused(&self, tool: &str, input: Value) -> String {
        let said = self.call(tool, input.clone()).await;
        let requests = self.claude.requests();
        let block = &requests.last().expect("a request").messages().last().expect("a message")["content"][0];
        assert_eq!(block["is_error"], true, "{tool} {input}: {said}");
        said
    }

    /// What a command said, without the line about its end.
    pub async fn bash(&self, command: &str) -> String {
        let result = self.call("bash", json!({"command": command})).await;
        match result.rsplit_once("[exit code ") {
            Some((said, _)) => said.to_owned(),
            None => panic!("{command}: {result}"),
        }
    }

    /// What waits for review.
    pub async fn changes(&self) -> Vec<Value> {
        let list = self.editor.expect("airlock/changes/list", json!({"sessionId": self.session})).await;
        *self.displayed.borrow_mut() = Some(displayed(&list));
        list["changes"].as_array().expect("changes").clone()
    }

    /// A selection with what was listed last, as a client sends it that displays that.
    pub async fn selection(&self, mut selection: Value) -> Value {
        if self.displayed.borrow().is_none() {
            self.changes().await;
        }
        let displayed = self.displayed.borrow().clone().expect("a list");
        let part = if selection == json!({}) { "list" } else { "shown" };
        selection[part] = displayed[part].clone();
        selection["sessionId"] = json!(self.session);
        selection
    }

    /// Accepts or rejects, as somebody who was shown what was listed last.
    pub async fn review(&self, verb: &str, selection: Value) -> Value {
        let params = self.selection(selection).await;
        let pending = self.editor.start_request(&format!("airlock/changes/{verb}"), params);
        let outcome = self.editor.response(pending).await.expect("an outcome");
        // How much is left is told when it changed, before the answer.
        if !outcome["done"].as_array().expect("paths").is_empty() {
            self.editor.updates_until(&self.session, "changes").await;
        }
        outcome
    }

    /// What the user has in a file.
    pub fn on_disk(&self, path: &str) -> String {
        std::fs::read_to_string(self.editor.home().workspace().join(path)).expect("a file")
    }

    /// Ends the editor; the scripted Claude was asked all that it was to be asked.
    pub async fn end(self) {
        self.editor.shutdown().await;
        self.claude.finish();
    }
}

/// What a verdict about this list carries.
pub fn displayed(list: &Value) -> Value {
    let changes = list["changes"].as_array().expect("changes").iter();
    let digest =
        |change: &Value| (change["path"].as_str().expect("a path").to_owned(), change["digest"].clone());
    json!({"list": list["digest"], "shown": changes.map(digest).collect::<serde_json::Map<_, _>>()})
}
