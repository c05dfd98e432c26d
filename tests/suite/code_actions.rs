//! Code actions, and the commands behind them in an editor that knows the extension.

use crate::desk::{ready, ready_in, ready_with};
use airlock_tests::editor::{Editor, EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// An editor that takes code actions, not only commands.
fn modern(claude: &ScriptedClaude) -> EditorOptions {
    EditorOptions::new(claude).capabilities(|capabilities| {
        let kinds = json!({"codeActionKind": {"valueSet": ["", "quickfix", "refactor"]}});
        capabilities["textDocument"] = json!({"codeAction": {"codeActionLiteralSupport": kinds}});
    })
}

fn selection(end_line: u32) -> Value {
    json!({"start": {"line": 0, "character": 0}, "end": {"line": end_line, "character": 0}})
}

fn diagnostic(message: &str) -> Value {
    json!({"range": selection(1), "severity": 1, "message": message})
}

async fn actions(editor: &Editor, range: Value, context: Value) -> Vec<Value> {
    let document = json!({"uri": editor.home().file_uri("a.rs")});
    let params = json!({"textDocument": document, "range": range, "context": context});
    let answer = editor.expect("textDocument/codeAction", params).await;
    answer.as_array().expect("a list").clone()
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_selection_can_be_asked_about_and_each_diagnostic_fixed_and_explained() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_with(modern(&claude)).await;
    let nothing = actions(&editor, selection(0), json!({"diagnostics": []})).await;
    assert_eq!(nothing, Vec::<Value>::new());
    let asked = actions(&editor, selection(2), json!({"diagnostics": []})).await;
    assert_eq!(titles(&asked), ["Ask Airlock…"]);
    assert_eq!(asked[0]["kind"], "refactor.airlock.ask");
    let argument = json!({"uri": editor.home().file_uri("a.rs"), "range": selection(2)});
    assert_eq!(asked[0]["command"]["command"], "airlock.ask");
    assert_eq!(asked[0]["command"]["arguments"], json!([argument]));

    let diagnostics = json!({"diagnostics": [diagnostic("one"), diagnostic("two")]});
    let all = actions(&editor, selection(2), diagnostics).await;
    let (fix, explain) = ("Fix with Airlock", "Explain with Airlock");
    assert_eq!(titles(&all), [fix, explain, fix, explain, "Ask Airlock…"]);
    assert_eq!(all[2]["diagnostics"], json!([diagnostic("two")]));
    assert_eq!(all[2]["command"]["arguments"][0]["diagnostics"], json!([diagnostic("two")]));
    assert_eq!(
        all[4]["command"]["arguments"][0]["diagnostics"],
        json!([diagnostic("one"), diagnostic("two")])
    );
    editor.shutdown().await;
}

#[tokio::test]
async fn only_what_the_editor_asks_for_is_offered() {
    let claude = ScriptedClaude::start().await;
    let editor = ready_with(modern(&claude)).await;
    for (only, expected) in [
        (json!(["quickfix"]), &["Fix with Airlock", "Explain with Airlock"][..]),
        (json!(["refactor"]), &["Ask Airlock…"]),
        (json!(["refactor.airlock"]), &["Ask Airlock…"]),
        (json!(["refactor.air"]), &[]),
        (json!(["refactor.airlock.ask.more"]), &[]),
        (json!(["source.organizeImports"]), &[]),
        (json!([""]), &["Fix with Airlock", "Explain with Airlock", "Ask Airlock…"]),
        (json!([]), &[]),
    ] {
        let context = json!({"diagnostics": [diagnostic("x")], "only": only});
        assert_eq!(titles(&actions(&editor, selection(1), context).await), expected, "{only}");
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn an_old_editor_gets_commands() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let context = json!({"diagnostics": [diagnostic("x")]});
    let commands = actions(&editor, selection(0), context).await;
    assert_eq!(titles(&commands), ["Fix with Airlock", "Explain with Airlock"]);
    for command in &commands {
        assert!(command["command"].is_string() && command["arguments"][0]["uri"].is_string(), "{command}");
        assert_eq!(command.get("kind"), None);
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn every_question_that_is_announced_runs_and_gives_its_session_and_turn() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["one", "two", "three"]);
    let editor = Editor::start(EditorOptions::new(&claude).home(&home));
    let announced = editor.initialize().await["capabilities"]["executeCommandProvider"]["commands"].clone();
    let expected = ["airlock.ask", "airlock.fix", "airlock.explain", "airlock.accept", "airlock.reject"];
    assert_eq!(announced, json!(expected));
    editor.ignore("$/progress");
    let uri = home.file_uri("a.rs");
    editor.open(&uri, "unsaved line\nmore\n");
    let mut session = Value::Null;
    for (command, answer) in [("airlock.fix", "one"), ("airlock.explain", "two"), ("airlock.ask", "three")] {
        let mut argument = json!({"uri": uri, "range": selection(1), "diagnostics": [diagnostic("wrong")]});
        if command == "airlock.ask" {
            argument["prompt"] = json!("why?");
        }
        let params = json!({"command": command, "arguments": [argument]});
        let begun = editor.expect("workspace/executeCommand", params).await;
        let id = begun["sessionId"].as_str().unwrap();
        assert!(session.is_null() || session == begun["sessionId"], "one session a folder");
        let updates = editor.updates_until_turn_end(id).await;
        assert_eq!(agent_text(&updates), answer);
        assert_eq!(updates.last().unwrap()["turnId"], begun["turnId"]);
        session = begun["sessionId"].clone();
        let words = claude.requests().pop().unwrap().last_user_text();
        assert!(words.contains("unsaved line\n</context>"), "{words}");
        assert!(words.contains("line 1: error: wrong"), "{words}");
    }
    assert!(claude.requests()[2].last_user_text().contains("why?"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_command_may_name_its_session() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["one", "two"]);
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "hi").await;
    let argument = |session: &str| json!({"uri": home.file_uri("a"), "prompt": "and?", "sessionId": session});
    let params = json!({"command": "airlock.ask", "arguments": [argument(&session)]});
    let begun = editor.expect("workspace/executeCommand", params).await;
    assert_eq!(begun["sessionId"], session);
    editor.updates_until_turn_end(&session).await;
    assert_eq!(claude.requests()[1].messages().len(), 3);
    let params = json!({"command": "airlock.ask", "arguments": [argument("nonsense")]});
    let refused = editor.request("workspace/executeCommand", params).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("no open session \"nonsense\""), "{refused}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn two_questions_at_once_about_one_folder_share_its_session() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let gate = Gate::new();
    claude.push(Reply::says("one").gate(&gate));
    let editor = ready_in(&claude, &home).await;
    let ask = |words: &str| {
        let argument = json!({"uri": home.file_uri("a"), "prompt": words});
        editor.start_request(
            "workspace/executeCommand",
            json!({"command": "airlock.ask", "arguments": [argument]}),
        )
    };
    let asked = [ask("first"), ask("second")];
    let mut begun = Vec::new();
    let mut refused = Vec::new();
    for request in asked {
        match editor.response(request).await {
            Ok(turn) => begun.push(turn),
            Err(error) => refused.push(error),
        }
    }
    assert!(refused[0]["message"].as_str().unwrap().contains("a turn is in work"), "{refused:?}");
    gate.open();
    editor.updates_until_turn_end(begun[0]["sessionId"].as_str().unwrap()).await;
    assert_eq!((begun.len(), refused.len(), claude.requests().len()), (1, 1, 1));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_is_no_command_or_no_argument_is_refused_with_what_is_wanted() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    for (params, part) in [
        (json!({"command": "airlock.fly", "arguments": []}), "airlock.explain"),
        (json!({"command": "airlock.fix", "arguments": []}), "{uri, range?"),
        (json!({"command": "airlock.fix"}), "{uri, range?"),
        (json!({"command": "airlock.fix", "arguments": [{"uri": 7}]}), "{uri, range?"),
        (json!({"command": "airlock.fix", "arguments": ["a", "b"]}), "{uri, range?"),
    ] {
        let refused = editor.request("workspace/executeCommand", params).await.unwrap_err();
        assert_eq!(refused["code"], -32602);
        assert!(refused["message"].as_str().unwrap().contains(part), "{refused}");
    }
    editor.shutdown().await;
}
