//! What the suites of the sandbox share: calls in a session, what they gave, and what the user was told.

use crate::world::next_prompt_works;
use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// An editor with a real sandbox for each session.
pub async fn ready(options: EditorOptions) -> Editor {
    let editor = Editor::ready(options.with_sandbox()).await;
    editor.ignore("$/progress");
    editor
}

/// What a turn with one call gave.
pub struct Called {
    /// What the model was told.
    pub result: String,
    /// Whether it was told so as an error.
    pub is_error: bool,
    /// What the user saw.
    pub updates: Vec<Value>,
}

/// A turn in which the model makes one call and hears of its result.
pub async fn call(
    editor: &Editor,
    claude: &ScriptedClaude,
    session: &str,
    name: &str,
    input: Value,
) -> Called {
    let id = format!("toolu_{}", claude.requests().len());
    claude.push(Reply::calls(&id, name, input)).push("I see.");
    let updates = editor.turn(session, "go on").await;
    assert_eq!(updates.last().expect("a turn's end")["stopReason"], "end_turn", "{updates:#?}");
    let block = results(claude).pop().expect("a result");
    let is_error = block["is_error"] == true;
    Called { result: text(&block), is_error, updates }
}

/// The same with `bash`.
pub async fn bash(editor: &Editor, claude: &ScriptedClaude, session: &str, command: &str) -> Called {
    call(editor, claude, session, "bash", json!({"command": command})).await
}

/// What each tool call gave back to the model, in order.
pub fn results(claude: &ScriptedClaude) -> Vec<Value> {
    let requests = claude.requests();
    let messages = requests.last().expect("a request").messages().to_vec();
    let blocks =
        messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    blocks.filter(|block| block["type"] == "tool_result").collect()
}

/// The text of a result.
pub fn text(block: &Value) -> String {
    block["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

impl Called {
    /// What the user was told of the sandbox: each state, with what it is or why.
    pub fn told(&self) -> Vec<(String, String)> {
        let field = |update: &Value, name: &str| update[name].as_str().unwrap_or_default().to_owned();
        let sandbox = self.updates.iter().filter(|update| update["kind"] == "sandbox");
        sandbox.map(|update| (field(update, "state"), field(update, "detail"))).collect()
    }

    /// What the user was told when the sandbox came to this state.
    pub fn told_when(&self, state: &str) -> String {
        let found = self.told().into_iter().find(|(found, _)| found == state);
        found.unwrap_or_else(|| panic!("it was never {state}: {:#?}", self.updates)).1
    }

    /// The isolation that the user was told.
    pub fn isolation(&self) -> &str {
        let ready =
            self.updates.iter().find(|update| update["kind"] == "sandbox" && update["state"] == "ready");
        ready.unwrap_or_else(|| panic!("{:#?}", self.updates))["isolation"].as_str().unwrap_or_default()
    }
}

/// A `PATH` on which these programs come first: shell scripts, in a folder of the home.
pub fn path_with(home: &Home, programs: &[(&str, &str)]) -> String {
    let folder = home.path().join("programs");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, script) in programs {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("our own file");
    }
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("a PATH"))
}

/// The law of every sandbox that cannot be: the user is told why and what to do, the model is told, the conversation
/// goes on. Gives what the user was told.
pub async fn refused(options: EditorOptions, claude: &ScriptedClaude) -> String {
    let editor = ready(options).await;
    let session = editor.new_session().await;
    let called = bash(&editor, claude, &session, "echo never").await;
    // The start in the background may have failed before the call asked for another.
    let told = called.told().pop().expect("the user is told").1;
    assert!(called.is_error && called.result.contains(&told), "{} {told}", called.result);
    called.told_when("failed");
    assert!(called.told().iter().all(|(state, _)| state != "ready"), "{:?}", called.told());
    next_prompt_works(&editor, claude, &session).await;
    editor.shutdown().await;
    told
}

/// The server in a mount namespace of its own, in which root has mounted what this script says.
pub fn mounted(options: EditorOptions, script: &str) -> EditorOptions {
    let script = format!("set -e\n{script}\nexec \"$@\"");
    let binary = airlock_binary().to_str().expect("UTF-8");
    options.program("unshare", &["--mount", "sh", "-c", &script, "sh", binary, "lsp"])
}

/// What podman says.
pub fn podman(arguments: &[&str]) -> String {
    let output = Command::new("podman").args(arguments).output().expect("podman starts");
    assert!(output.status.success(), "podman {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// The container of a session.
pub fn container(session: &str, editor: &Editor) -> String {
    let filter = format!("label=airlock.session={session}");
    let format = "{{.ID}} {{index .Labels \"airlock.owner\"}}";
    let listed = podman(&["ps", "--filter", &filter, "--format", format]);
    let owner = format!(" {}@", editor.pid().expect("it runs"));
    let line = listed.lines().find(|line| line.contains(&owner)).expect("a container of this server");
    line.split(' ').next().expect("an id").to_owned()
}
