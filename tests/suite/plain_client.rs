//! Airlock in an editor that knows nothing of the extension. That no `airlock/*` message reaches it is seen to by the
//! editor itself: a message that no test reads fails that test.

use crate::desk::configure;
use airlock_tests::editor::{Editor, EditorOptions, Home, ServerRequest};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::PathBuf;

/// LSP's answer to a request that a client does not know.
const METHOD_NOT_FOUND: i64 = -32601;

/// A plain editor with one document open.
async fn plain(claude: &ScriptedClaude, home: &Home) -> Editor {
    let editor = Editor::ready(EditorOptions::new(claude).home(home).without_extension()).await;
    editor.ignore("$/progress");
    editor.open(&home.file_uri("a.rs"), "fn unsaved() {}\nfn more() {}\n");
    editor
}

fn argument(home: &Home) -> Value {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}});
    let diagnostic = json!({"range": range, "severity": 1, "message": "never used"});
    json!({"uri": home.file_uri("a.rs"), "range": range, "diagnostics": [diagnostic]})
}

async fn run(editor: &Editor, command: &str, argument: Value) {
    let params = json!({"command": command, "arguments": [argument]});
    assert_eq!(editor.expect("workspace/executeCommand", params).await, Value::Null);
}

/// The file of a `window/showDocument`.
fn file_of(request: &ServerRequest) -> PathBuf {
    assert_eq!(request.params["takeFocus"], true);
    PathBuf::from(request.params["uri"].as_str().unwrap().strip_prefix("file://").unwrap())
}

fn titles(request: &ServerRequest) -> Vec<&str> {
    let actions = request.params["actions"].as_array().unwrap();
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_answer_is_a_document_that_the_editor_opens() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["Remove it.", "It is **never** used."]);
    let editor = plain(&claude, &home).await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let shown = editor.next_server_request("window/showDocument").await;
    let file = file_of(&shown);
    assert_eq!(file.extension().unwrap(), "md");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Remove it.\n");
    shown.respond(json!({"success": true}));
    let words = claude.requests()[0].last_user_text();
    assert!(words.contains("<context file=\"a.rs\" lines=\"1-1\">\nfn unsaved() {}\n</context>"), "{words}");
    assert!(words.contains("line 1: error: never used"), "{words}");

    run(&editor, "airlock.explain", argument(&home)).await;
    let shown = editor.next_server_request("window/showDocument").await;
    assert_eq!(file_of(&shown), file, "one document a conversation");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Remove it.\n\n---\n\nIt is **never** used.\n");
    shown.respond(json!({"success": true}));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_to_ask_is_chosen_from_a_message() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("It does nothing.");
    let editor = plain(&claude, &home).await;
    // Dismissed, and an answer that was not offered: nothing happens.
    for answer in [Value::Null, json!({"title": "Fly"})] {
        run(&editor, "airlock.ask", argument(&home)).await;
        editor.next_server_request("window/showMessageRequest").await.respond(answer);
    }
    run(&editor, "airlock.ask", argument(&home)).await;
    let question = editor.next_server_request("window/showMessageRequest").await;
    assert_eq!(titles(&question), ["Explain", "Review", "Write a question…"]);
    question.respond(json!({"title": "Explain"}));
    let shown = editor.next_server_request("window/showDocument").await;
    assert_eq!(std::fs::read_to_string(file_of(&shown)).unwrap(), "It does nothing.\n");
    shown.respond(json!({"success": true}));
    assert!(claude.requests()[0].last_user_text().contains("Explain this."));
    assert_eq!(claude.requests().len(), 1);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_question_of_ones_own_is_written_in_a_document_and_asked_when_it_is_saved() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("Because.");
    let editor = plain(&claude, &home).await;
    run(&editor, "airlock.ask", argument(&home)).await;
    let question = editor.next_server_request("window/showMessageRequest").await;
    question.respond(json!({"title": "Write a question…"}));
    let shown = editor.next_server_request("window/showDocument").await;
    let uri = shown.params["uri"].as_str().unwrap().to_owned();
    let file = file_of(&shown);
    let hint = std::fs::read_to_string(&file).unwrap();
    shown.respond(json!({"success": true}));
    let saved = || editor.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    editor.open(&uri, &hint);
    // Nothing is written yet, so nothing is asked.
    saved();
    let written = format!("{hint}Why is\nit there?\n");
    // The file is the newest: Helix may tell of the last change after the save.
    editor.change(&uri, 2, json!([{"text": format!("{hint}Why is\nit there")}]));
    std::fs::write(file, &written).unwrap();
    saved();
    editor.change(&uri, 3, json!([{"text": written}]));
    let shown = editor.next_server_request("window/showDocument").await;
    assert_eq!(std::fs::read_to_string(file_of(&shown)).unwrap(), "Because.\n");
    shown.respond(json!({"success": true}));
    // It was asked; saving it again does not ask it again.
    saved();
    editor.notify("textDocument/didSave", json!({"textDocument": {"uri": home.file_uri("a.rs")}}));
    editor.expect("textDocument/codeAction", nothing(&home)).await;
    let words = claude.requests()[0].last_user_text();
    assert!(words.contains("fn unsaved() {}") && words.ends_with("Why is\nit there?\n"), "{words}");
    assert!(!words.contains("<!--"), "{words}");
    assert_eq!(claude.requests().len(), 1);
    editor.shutdown().await;
    claude.finish();
}

fn nothing(home: &Home) -> Value {
    let start = json!({"line": 0, "character": 0});
    let range = json!({"start": start, "end": start});
    json!({"textDocument": {"uri": home.file_uri("a.rs")}, "range": range, "context": {"diagnostics": []}})
}

#[tokio::test]
async fn permission_is_asked_with_a_message_and_its_buttons() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let same = |id| Reply::calls(id, "bash", json!({"command": "ls"}));
    claude.replies(["toolu_1", "toolu_2", "toolu_3"].map(same)).push("Enough.");
    let editor = plain(&claude, &home).await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let question = editor.next_server_request("window/showMessageRequest").await;
    assert_eq!(titles(&question), ["Continue", "Continue, do not ask again", "Stop"]);
    let message = question.params["message"].as_str().unwrap();
    assert!(message.contains("the same call 3 times") && message.contains("$ ls"), "{message}");
    question.respond(json!({"title": "Continue"}));
    let shown = editor.next_server_request("window/showDocument").await;
    assert!(std::fs::read_to_string(file_of(&shown)).unwrap().ends_with("Enough.\n"));
    shown.respond(json!({"success": true}));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_opens_no_documents_is_told_the_answer_and_its_place() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    // It says that it cannot; or it says nothing, and is asked.
    for window in [json!({"showDocument": {"support": false}}), json!({})] {
        claude.push("Remove it.");
        let says_so = window["showDocument"].is_object();
        let options = EditorOptions::new(&claude).home(&home).without_extension();
        let editor = Editor::ready(options.capabilities(|it| it["window"] = window)).await;
        run(&editor, "airlock.fix", argument(&home)).await;
        if !says_so {
            editor.next_server_request("window/showDocument").await.refuse(METHOD_NOT_FOUND, "unknown");
        }
        let message = editor.next_notification("window/showMessage").await;
        let text = message["message"].as_str().unwrap();
        assert!(text.starts_with("Airlock: Remove it.\n\n["), "{text}");
        let file = text.split('[').nth(1).unwrap().trim_end_matches(']');
        assert_eq!(std::fs::read_to_string(file).unwrap(), "Remove it.\n");
        editor.shutdown().await;
    }
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_never_answers_still_gets_the_next_answer() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    configure(&home, "config.toml", "permission_timeout_s = 1\n");
    let same = |id| Reply::calls(id, "bash", json!({"command": "ls"}));
    claude.push("one").replies(["toolu_1", "toolu_2", "toolu_3"].map(same)).push("three");
    let editor = plain(&claude, &home).await;
    editor.answer_by_hand("window/workDoneProgress/create");
    editor.ignore("window/workDoneProgress/create");
    run(&editor, "airlock.fix", argument(&home)).await;
    let first = editor.next_server_request("window/showDocument").await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let permission = editor.next_server_request("window/showMessageRequest").await;
    assert_eq!(&editor.next_notification("$/cancelRequest").await["id"], permission.id());
    assert_eq!(editor.next_notification("window/logMessage").await["message"], "stopped");
    let second = editor.next_server_request("window/showDocument").await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let third = editor.next_server_request("window/showDocument").await;
    assert!(std::fs::read_to_string(file_of(&third)).unwrap().ends_with("three\n"));
    for late in [first, second, third] {
        late.respond(json!({"success": true}));
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn two_questions_at_once_go_to_one_session() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.otherwise(|_| Some(Reply::says("wait").silence()));
    let editor = plain(&claude, &home).await;
    let start = || {
        let params = json!({"command": "airlock.fix", "arguments": [argument(&home)]});
        editor.start_request("workspace/executeCommand", params)
    };
    for request in [start(), start()] {
        editor.response(request).await.unwrap();
    }
    let busy = editor.next_notification("window/showMessage").await;
    assert!(busy["message"].as_str().unwrap().contains("a turn is in work"), "{busy}");
    claude.wait_for_requests(1).await;
    editor.ignore("window/logMessage");
    editor.ignore("window/showDocument");
    editor.shutdown().await;
    assert_eq!(claude.requests().len(), 1);
}

#[tokio::test]
async fn what_goes_wrong_is_a_message() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push(Reply::status(401)).push(Reply::says("never").silence());
    let editor = plain(&claude, &home).await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let message = editor.next_notification("window/showMessage").await;
    assert_eq!(message["type"], 1);
    assert!(message["message"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{message}");

    run(&editor, "airlock.fix", argument(&home)).await;
    claude.wait_for_requests(2).await;
    run(&editor, "airlock.explain", argument(&home)).await;
    let busy = editor.next_notification("window/showMessage").await;
    assert!(busy["message"].as_str().unwrap().contains("a turn is in work"), "{busy}");
    editor.ignore("window/logMessage");
    editor.ignore("window/showDocument");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn cancelling_the_progress_stops_the_turn_and_shows_what_there_was() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push(Reply::says("Half an").silence());
    let editor = Editor::ready(EditorOptions::new(&claude).home(&home).without_extension()).await;
    run(&editor, "airlock.fix", argument(&home)).await;
    let begin = editor.next_notification("$/progress").await;
    assert_eq!(begin["value"]["kind"], "begin");
    claude.wait_for_requests(1).await;
    editor.notify("window/workDoneProgress/cancel", json!({"token": begin["token"]}));
    assert_eq!(editor.next_notification("$/progress").await["value"]["kind"], "end");
    assert_eq!(editor.next_notification("window/logMessage").await["message"], "stopped");
    // How much of the answer had arrived is a matter of luck; nothing else may follow.
    editor.ignore("window/showDocument");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_the_agent_changed_is_offered_shown_and_accepted() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("b.txt", "old\n");
    let bash = |id, command| Reply::calls(id, "bash", json!({"command": command}));
    claude.push(bash("toolu_1", "echo new > b.txt")).push("Changed.");
    claude.push(bash("toolu_2", "echo newer > b.txt; echo x > c.txt")).push("Again.");
    let options = EditorOptions::new(&claude).home(&home).without_extension().with_sandbox();
    let editor = Editor::ready(options).await;
    for method in ["$/progress", "window/logMessage"] {
        editor.ignore(method);
    }
    editor.open(&home.file_uri("a.rs"), "fn unsaved() {}\n");
    run(&editor, "airlock.fix", argument(&home)).await;
    editor.next_server_request("window/showDocument").await.respond(json!({"success": true}));
    let offer = editor.next_server_request("window/showMessageRequest").await;
    assert!(offer.params["message"].as_str().unwrap().contains("one file"), "{:?}", offer.params);
    assert_eq!(titles(&offer), ["Accept all", "Review", "Discard"]);
    offer.respond(json!({"title": "Review"}));
    let shown = editor.next_server_request("window/showDocument").await;
    let text = std::fs::read_to_string(file_of(&shown)).unwrap();
    assert_eq!(text, "--- b.txt\n+++ b.txt\n@@ line 1 @@\n-old\n+new\n");
    shown.respond(json!({"success": true}));
    let offer = editor.next_server_request("window/showMessageRequest").await;
    assert_eq!(std::fs::read_to_string(home.workspace().join("b.txt")).unwrap(), "old\n");
    offer.respond(json!({"title": "Accept all"}));

    run(&editor, "airlock.fix", argument(&home)).await;
    editor.next_server_request("window/showDocument").await.respond(json!({"success": true}));
    assert_eq!(std::fs::read_to_string(home.workspace().join("b.txt")).unwrap(), "new\n");
    let offer = editor.next_server_request("window/showMessageRequest").await;
    offer.respond(Value::Null);
    let reject = json!({"command": "airlock.reject", "arguments": [{"paths": ["b.txt"]}]});
    let outcome = editor.expect("workspace/executeCommand", reject).await;
    assert_eq!(outcome["done"], json!(["b.txt"]));
    assert_eq!(editor.next_notification("window/showMessage").await["message"], "Airlock: discarded: b.txt");
    let accept = json!({"command": "airlock.accept"});
    assert_eq!(editor.expect("workspace/executeCommand", accept).await["done"], json!(["c.txt"]));
    assert_eq!(editor.next_notification("window/showMessage").await["message"], "Airlock: accepted: c.txt");
    assert_eq!(std::fs::read_to_string(home.workspace().join("b.txt")).unwrap(), "new\n");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_cannot_ask_is_given_a_document_for_the_question_and_told_how_to_accept() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("b.txt", "old\n");
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo new > b.txt"}))).push("Changed.");
    let options = EditorOptions::new(&claude).home(&home).without_extension().with_sandbox();
    let editor = Editor::ready(options).await;
    for method in ["$/progress", "window/logMessage"] {
        editor.ignore(method);
    }
    editor.open(&home.file_uri("a.rs"), "fn unsaved() {}\n");
    run(&editor, "airlock.ask", argument(&home)).await;
    let unknown = |request: ServerRequest| request.refuse(METHOD_NOT_FOUND, "unknown");
    unknown(editor.next_server_request("window/showMessageRequest").await);
    let shown = editor.next_server_request("window/showDocument").await;
    let uri = shown.params["uri"].as_str().unwrap().to_owned();
    let file = file_of(&shown);
    shown.respond(json!({"success": true}));
    editor.open(&uri, "Change b.txt.\n");
    std::fs::write(file, "Change b.txt.\n").unwrap();
    editor.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    editor.next_server_request("window/showDocument").await.respond(json!({"success": true}));
    unknown(editor.next_server_request("window/showMessageRequest").await);
    let told = editor.next_notification("window/showMessage").await;
    let told = told["message"].as_str().unwrap();
    assert!(told.starts_with("Airlock changed one file.") && told.contains("airlock.accept"), "{told}");
    let accept = json!({"command": "airlock.accept"});
    assert_eq!(editor.expect("workspace/executeCommand", accept).await["done"], json!(["b.txt"]));
    assert_eq!(editor.next_notification("window/showMessage").await["message"], "Airlock: accepted: b.txt");
    assert_eq!(std::fs::read_to_string(home.workspace().join("b.txt")).unwrap(), "new\n");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn where_changes_wait_in_two_folders_none_is_taken_by_guessing() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let folders = [home.workspace(), home.path().join("other")];
    std::fs::create_dir(&folders[1]).unwrap();
    let options = EditorOptions::new(&claude).home(&home).without_extension().with_sandbox();
    let editor = Editor::ready(options).await;
    for method in ["$/progress", "window/logMessage"] {
        editor.ignore(method);
    }
    let uris = folders.each_ref().map(|folder| format!("file://{}", folder.display()));
    let added = json!([{"uri": uris[1], "name": "other"}]);
    editor.notify("workspace/didChangeWorkspaceFolders", json!({"event": {"added": added, "removed": []}}));
    let show =
        async || editor.next_server_request("window/showDocument").await.respond(json!({"success": true}));
    for (uri, id) in uris.iter().zip(["toolu_1", "toolu_2"]) {
        claude.push(Reply::calls(id, "bash", json!({"command": "echo new > b.txt"}))).push("Changed.");
        editor.open(&format!("{uri}/a.rs"), "fn unsaved() {}\n");
        run(&editor, "airlock.fix", json!({"uri": format!("{uri}/a.rs")})).await;
        show().await;
        editor.next_server_request("window/showMessageRequest").await.respond(Value::Null);
    }
    let is_accepted = || folders.each_ref().map(|folder| folder.join("b.txt").exists());
    let accept = json!({"command": "airlock.accept"});
    let refused = editor.request("workspace/executeCommand", accept.clone()).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("in more than one folder"), "{refused}");
    assert_eq!(is_accepted(), [false, false]);
    run(&editor, "airlock.ask", json!({"uri": format!("{}/a.rs", uris[1]), "prompt": "/accept"})).await;
    show().await;
    assert_eq!(is_accepted(), [false, true]);
    assert_eq!(editor.expect("workspace/executeCommand", accept).await["done"], json!(["b.txt"]));
    assert_eq!(editor.next_notification("window/showMessage").await["message"], "Airlock: accepted: b.txt");
    assert_eq!(is_accepted(), [true, true]);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_cannot_ask_for_permission_says_no_and_says_so() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let same = |id| Reply::calls(id, "bash", json!({"command": "ls"}));
    claude.replies(["toolu_1", "toolu_2", "toolu_3"].map(same));
    let editor = plain(&claude, &home).await;
    for method in ["window/showDocument", "window/logMessage"] {
        editor.ignore(method);
    }
    run(&editor, "airlock.fix", argument(&home)).await;
    editor.next_server_request("window/showMessageRequest").await.refuse(METHOD_NOT_FOUND, "unknown");
    let told = editor.next_notification("window/showMessage").await;
    assert!(told["message"].as_str().unwrap().contains("the answer to this was no"), "{told}");
    assert_eq!(told["type"], 2);
    editor.shutdown().await;
}
