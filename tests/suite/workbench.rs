//! A session with a real sandbox in which a test says what the agent does, a tool call at a time.

use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::cell::Cell;

pub(crate) struct Workbench {
    pub(crate) claude: ScriptedClaude,
    pub(crate) editor: Editor,
    pub(crate) session: String,
    calls: Cell<u32>,
}

impl Workbench {
    pub(crate) async fn new() -> Self {
        Self::with(|options| options).await
    }

    pub(crate) async fn with(change: impl FnOnce(EditorOptions) -> EditorOptions) -> Self {
        let claude = ScriptedClaude::start().await;
        let editor = Editor::ready(change(EditorOptions::new(&claude).with_sandbox())).await;
        editor.ignore("$/progress");
        let session = editor.new_session().await;
        Self { claude, editor, session, calls: Cell::new(0) }
    }

    /// Goes on with a session that was kept, in an editor of its own.
    pub(crate) async fn again(home: &Home, session: &str) -> Self {
        let claude = ScriptedClaude::start().await;
        let editor = Editor::ready(EditorOptions::new(&claude).home(home).with_sandbox()).await;
        editor.ignore("$/progress");
        editor.expect("airlock/session/load", json!({"sessionId": session})).await;
        // The ids of earlier calls are in its history already.
        Self { claude, editor, session: session.to_owned(), calls: Cell::new(1000) }
    }

    /// Has the agent make a call, and gives what it got back.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> String {
        self.call_with_updates(tool, input).await.0
    }

    /// The same, with the updates of the turn.
    pub(crate) async fn call_with_updates(&self, tool: &str, input: Value) -> (String, Vec<Value>) {
        self.calls.set(self.calls.get() + 1);
        let id = format!("toolu_{}", self.calls.get());
        self.claude.push(Reply::calls(&id, tool, input)).push("Done.");
        let updates = self.editor.turn(&self.session, "go on").await;
        let requests = self.claude.requests();
        let messages = requests.last().expect("a request").messages();
        let mut blocks =
            messages.iter().rev().flat_map(|message| message["content"].as_array().into_iter().flatten());
        let result = blocks.find(|block| block["tool_use_id"] == *id).expect("the call's result");
        (result["content"][0]["text"].as_str().unwrap_or_default().to_owned(), updates)
    }

    /// What a command said, without the line about its end.
    pub(crate) async fn bash(&self, command: &str) -> String {
        let result = self.call("bash", json!({"command": command})).await;
        match result.rsplit_once("[exit code ") {
            Some((said, _)) => said.to_owned(),
            None => panic!("{command}: {result}"),
        }
    }

    pub(crate) async fn end(self) {
        self.editor.shutdown().await;
        self.claude.finish();
    }
}
