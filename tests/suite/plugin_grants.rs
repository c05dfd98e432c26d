//! Grants over LSP: asked once, kept, asked again for more, and "denied" says how to get it.

use crate::desk::ready_in;
use crate::sandboxed::{Called, call, results, text};
use airlock::plugins::Place;
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::editor::{Editor, Home};
use airlock_tests::guests::{install, probe_with};
use airlock_tests::plugin_desk::PluginDesk;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::path::PathBuf;

fn plugins(home: &Home) -> PathBuf {
    home.config().join("airlock/plugins")
}

/// A turn in which the model makes one call, and the user is asked and answers.
async fn call_and_answer(
    editor: &Editor,
    claude: &ScriptedClaude,
    session: &str,
    tool: &str,
    input: Value,
    answer: &str,
) -> (Value, Called) {
    let id = format!("toolu_{}", claude.requests().len());
    claude.push(Reply::calls(&id, tool, input)).push("I see.");
    editor.prompt(session, "go on").await;
    let question = editor.next_server_request("airlock/permission").await;
    let asked = question.params.clone();
    question.respond(json!({"optionId": answer}));
    let updates = editor.updates_until_turn_end(session).await;
    let block = results(claude).pop().expect("a result");
    (asked, Called { result: text(&block), is_error: block["is_error"] == true, updates })
}

async fn command(claude: &ScriptedClaude, home: &Home, arguments: &[&str]) -> String {
    let command = AirlockCommand::new(claude, arguments).with_home(home);
    let output = command.process().output().await.expect("airlock starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[tokio::test]
async fn it_is_asked_once_and_kept_for_the_next_session() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let tools = probe_with(&["kv_set", "kv_get", "editor"]);
    install(&plugins(&home), "probe", "[wants]\nkv = true\neditor = true", &tools);
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let set = json!({"key": "a", "value": "kept"});
    let (asked, called) = call_and_answer(&editor, &claude, &session, "kv_set", set, "grant").await;
    assert!(asked["title"].as_str().unwrap().contains("probe asks for: editor, kv"), "{asked}");
    assert!(asked["detail"].as_str().unwrap().contains("kv — keep a small store"), "{asked}");
    assert!(asked["detail"].as_str().unwrap().contains("sha256"), "{asked}");
    assert_eq!(asked["toolCallId"], "toolu_0");
    assert_eq!((called.result.as_str(), called.is_error), ("kept", false));
    let got = call(&editor, &claude, &session, "kv_get", json!({"key": "a"})).await;
    assert_eq!(got.result, "kept");
    editor.shutdown().await;
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let got = call(&editor, &claude, &session, "kv_get", json!({"key": "a"})).await;
    assert_eq!(got.result, "kept", "the grant and the store outlive the process");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_refusal_is_denied_by_name_and_not_asked_again_until_the_user_grants_it() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    install(&plugins(&home), "probe", "[wants]\nkv = true", &probe_with(&["kv_get", "exec"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (_, called) = call_and_answer(&editor, &claude, &session, "kv_get", json!({"key": "a"}), "no").await;
    assert!(called.is_error);
    assert!(called.result.contains("denied: the plugin probe has no grant kv"), "{}", called.result);
    assert!(called.result.contains("`airlock plugin grant probe kv`"), "{}", called.result);
    let again = call(&editor, &claude, &session, "kv_get", json!({"key": "a"})).await;
    assert!(again.result.contains("denied"), "{}", again.result);
    // What is not asked for is denied as well, and says whose turn it is.
    let other = call(&editor, &claude, &session, "exec", json!({"command": "true"})).await;
    assert!(other.result.contains("no grant exec, and does not ask for it"), "{}", other.result);
    let said = command(&claude, &home, &["plugin", "grant", "probe", "kv"]).await;
    assert!(said.contains("It asks for, and has:\n  kv"), "{said}");
    let now = call(&editor, &claude, &session, "kv_get", json!({"key": "a"})).await;
    assert_eq!((now.result.as_str(), now.is_error), ("null", false));
    let said = command(&claude, &home, &["plugin", "revoke", "probe"]).await;
    assert!(said.contains("It asks for, and does not have:\n  kv"), "{said}");
    let revoked = call(&editor, &claude, &session, "kv_get", json!({"key": "a"})).await;
    assert!(revoked.result.contains("denied"), "{}", revoked.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_changed_component_asks_again_only_when_it_wants_more() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    install(&plugins(&home), "probe", "[wants]\nkv = true", &probe_with(&["kv_get"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let key = || json!({"key": "a"});
    let (_, called) = call_and_answer(&editor, &claude, &session, "kv_get", key(), "grant").await;
    assert_eq!(called.result, "null");
    // Another component that wants the same.
    install(&plugins(&home), "probe", "[wants]\nkv = true", &probe_with(&["kv_get", "echo"]));
    let same = call(&editor, &claude, &session, "kv_get", key()).await;
    assert_eq!(same.result, "null");
    // And one that wants more.
    let more = "[wants]\nkv = true\nhttp = [{origin = \"https://api.example.com\", methods = [\"POST\"]}]";
    install(&plugins(&home), "probe", more, &probe_with(&["kv_get", "http"]));
    let (asked, called) = call_and_answer(&editor, &claude, &session, "kv_get", key(), "no").await;
    let title = asked["title"].as_str().unwrap();
    assert!(title.contains("asks for more than before: http:https://api.example.com"), "{asked}");
    assert!(asked["detail"].as_str().unwrap().contains("POST"), "{asked}");
    assert_eq!(called.result, "null", "what it had it still has");
    let denied = call(&editor, &claude, &session, "http", json!({"url": "https://api.example.com/"})).await;
    assert!(denied.result.contains("no grant http:https://api.example.com"), "{}", denied.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn the_agent_cannot_write_its_own_grants() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let folder = install(&plugins(&home), "probe", "[wants]\nkv = true", &probe_with(&["kv_get"]));
    // A plugin's folder says nothing about what it was granted, whatever stands there.
    std::fs::write(folder.join("grants.json"), "{\"version\":1}").unwrap();
    home.write(".airlock/grants.json", "{\"version\":1}");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (_, called) = call_and_answer(&editor, &claude, &session, "kv_get", json!({"key": "a"}), "no").await;
    assert!(called.result.contains("denied"), "{}", called.result);
    editor.shutdown().await;
    claude.finish();
}

#[test]
fn a_renamed_plugin_has_no_grants_of_the_old_name() {
    let desk = PluginDesk::new();
    let (wants, component) = ("[wants]\nkv = true", probe_with(&["kv_get"]));
    let plugin = desk.install("probe", wants, &component);
    let grants = desk.plugins().grants();
    grants.grant(&plugin, &plugin.manifest.asks).unwrap();
    // The same component elsewhere is the same plugin, as long as it has that name.
    let elsewhere = install(&desk.home().join("elsewhere"), "probe", wants, &component);
    let same = desk.plugins().open(&Place::User(elsewhere)).unwrap();
    assert_eq!(grants.granted(&same), plugin.manifest.asks);
    let copied = desk.install("other", wants, &component);
    assert!(grants.granted(&copied).is_empty(), "{:?}", grants.granted(&copied));
    std::fs::write(
        plugin.place.folder().join("plugin.toml"),
        format!("name = \"other\"\nversion = \"0.1.0\"\n{wants}"),
    )
    .unwrap();
    let renamed = desk.plugins().open(&plugin.place).unwrap();
    assert_eq!(renamed.name(), "other");
    assert!(grants.granted(&renamed).is_empty(), "{:?}", grants.granted(&renamed));
}

#[test]
fn grants_of_a_newer_version_are_left_as_they_are() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "[wants]\nkv = true", &probe_with(&["kv_get"]));
    let file = desk.home().join("state/grants.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let newer = "{\"version\": 2, \"shelves\": []}";
    std::fs::write(&file, newer).unwrap();
    let grants = desk.plugins().grants();
    let why = grants.grant(&plugin, &plugin.manifest.asks).unwrap_err();
    assert!(why.contains("another version of airlock wrote it: use that one"), "{why}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), newer);
    assert!(grants.granted(&plugin).is_empty());
}

#[tokio::test]
async fn a_line_of_the_question_shows_all_that_is_in_it() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let folder = install(&plugins(&home), "probe", "", &probe_with(&["kv_get"]));
    let manifest = "name = \"probe\"\nversion = \"1\\u202e\\u200b2\"\n[wants]\nkv = true\nhttp = [{origin = \"http://127.0.0.1:9\"}]";
    std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let key = json!({"key": "a"});
    let (asked, _) = call_and_answer(&editor, &claude, &session, "kv_get", key, "no").await;
    let detail = asked["detail"].as_str().unwrap();
    assert!(!detail.contains(['\u{202e}', '\u{200b}']), "{detail:?}");
    assert!(detail.contains("without encryption, in your own network"), "{detail}");
    editor.shutdown().await;
    claude.finish();
}
