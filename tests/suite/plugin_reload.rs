//! Plugins that come, change and break while a session runs.

use crate::desk::{notices, ready_in};
use crate::sandboxed::{call, results, text};
use airlock_tests::editor::{Home, agent_text};
use airlock_tests::guests::{crafted, install, probe, probe_with, replace};
use airlock_tests::plugin_desk::PluginDesk;
use airlock_tests::scripted_claude::{Gate, Received, Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::path::PathBuf;

fn plugins(home: &Home) -> PathBuf {
    home.config().join("airlock/plugins")
}

/// The tools that the model was told of in a request.
fn told(request: &Received) -> Vec<String> {
    let tools = request.body["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

const BUILT_IN: [&str; 6] = ["bash", "read_file", "write_file", "edit_file", "list_files", "search_files"];

#[tokio::test]
async fn a_new_tool_is_there_for_the_next_prompt_and_the_old_ones_keep_their_places() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    install(&plugins(&home), "probe", "", &probe_with(&["echo"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let first = call(&editor, &claude, &session, "echo", json!({"n": 1})).await;
    assert_eq!(first.result, "{\"n\":1}");
    install(&plugins(&home), "a-second", "", &probe_with(&["echo_second"]));
    install(&plugins(&home), "probe", "", &probe_with(&["echo_new", "echo"]));
    let second = call(&editor, &claude, &session, "echo_new", json!({"n": 2})).await;
    assert_eq!(second.result, "{\"n\":2}");
    assert_eq!(call(&editor, &claude, &session, "echo_second", json!({})).await.result, "{}");
    let requests = claude.requests();
    let mut expected: Vec<&str> = [BUILT_IN.as_slice(), &["echo"]].concat();
    assert_eq!(told(&requests[0]), expected);
    assert_eq!(told(&requests[1]), expected, "within a turn nothing changes");
    expected.extend(["echo_new", "echo_second"]);
    assert_eq!(told(&requests[2]), expected);
    let listed = agent_text(&editor.turn(&session, "/tools").await);
    assert!(listed.contains("`echo_second` Tries echo_second (plugin a-second)"), "{listed}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_broken_build_leaves_the_last_good_one_and_says_why() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let folder = install(&plugins(&home), "probe", "", &probe_with(&["echo"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    assert_eq!(call(&editor, &claude, &session, "echo", json!({"n": 1})).await.result, "{\"n\":1}");
    for (broken, word) in
        [(&b"half a comp"[..], "no WebAssembly component"), (&probe_with(&["echo"])[..9000], "damaged")]
    {
        replace(&folder.join("plugin.wasm"), broken);
        let after = call(&editor, &claude, &session, "echo", json!({"n": 2})).await;
        assert_eq!(after.result, "{\"n\":2}");
        let said = notices(&after.updates).join("\n");
        assert!(said.contains("the last good one goes on") && said.contains(word), "{said}");
        let quiet = call(&editor, &claude, &session, "echo", json!({"n": 3})).await;
        assert!(notices(&quiet.updates).is_empty(), "it was said once: {:?}", quiet.updates);
    }
    std::fs::write(folder.join("plugin.toml"), "name = \"probe\"\nversion = 1\n").unwrap();
    let after = call(&editor, &claude, &session, "echo", json!({"n": 4})).await;
    assert!(notices(&after.updates).join("\n").contains("plugin.toml"), "{:?}", after.updates);
    // A good one takes its place again.
    install(&plugins(&home), "probe", "", &probe_with(&["echo", "echo_mended"]));
    assert_eq!(call(&editor, &claude, &session, "echo_mended", json!({})).await.result, "{}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_tool_that_is_gone_keeps_its_place_and_says_so() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let folder = install(&plugins(&home), "probe", "", &probe_with(&["echo"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    assert_eq!(call(&editor, &claude, &session, "echo", json!({})).await.result, "{}");
    std::fs::remove_dir_all(folder).unwrap();
    let gone = call(&editor, &claude, &session, "echo", json!({})).await;
    assert!(gone.is_error && gone.result.contains("there is no tool \"echo\""), "{}", gone.result);
    let requests = claude.requests();
    assert_eq!(told(requests.last().unwrap()), told(&requests[0]));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn no_plugin_takes_the_name_of_another_tool() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("Hello.");
    install(&plugins(&home), "one", "", &probe_with(&["bash", "echo"]));
    install(&plugins(&home), "two", "", &probe_with(&["echo", "echo_two"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "hi").await;
    let said = notices(&updates).join("\n");
    assert!(
        said.contains("the tool \"bash\" is left out") && said.contains("the tool \"echo\" is left out"),
        "{said}"
    );
    let requests = claude.requests();
    assert_eq!(told(&requests[0]), [BUILT_IN.as_slice(), &["echo", "echo_two"]].concat());
    // A tool that is left out is nobody's.
    let listed = agent_text(&editor.turn(&session, "/tools").await);
    assert!(listed.contains("`echo` Tries echo (plugin one)"), "{listed}");
    let bash = listed.lines().find(|line| line.starts_with("- `bash`")).unwrap();
    assert!(!bash.contains("(plugin"), "{bash}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn slash_commands_of_plugins_stand_beside_the_others() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("Taken.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    // It carries no list, so it is asked: before the prompt that follows.
    install(&plugins(&home), "probe", "", airlock_tests::guests::probe());
    let updates = editor.turn(&session, "/probe the water").await;
    let commands: Vec<&Value> = updates.iter().filter(|update| update["kind"] == "commands").collect();
    let named = commands[0]["commands"].as_array().unwrap().iter().find(|command| command["name"] == "probe");
    assert_eq!(named.unwrap()["hint"], "[of what]");
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.trim_end().ends_with("Take a probe of the water."), "{asked}");
    let failed = editor.turn(&session, "/probe panic").await;
    let why = crate::desk::error_of(&failed);
    assert!(why.contains("the plugin probe failed in /probe") && why.contains("probe panics"), "{why}");
    let help = agent_text(&editor.turn(&session, "/help").await);
    assert!(help.contains("`/probe [of what]` Asks for a probe (plugin probe)"), "{help}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_workspaces_plugins_load_after_trust_and_only_as_they_were_trusted() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let own = home.workspace().join(".airlock/plugins");
    install(&own, "probe", "", &probe_with(&["echo"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let before = call(&editor, &claude, &session, "echo", json!({})).await;
    assert!(before.is_error && before.result.contains("there is no tool"), "{}", before.result);
    let (question, _) = crate::desk::trust(&editor, &session).await;
    assert!(
        question["detail"].as_str().unwrap().contains(".airlock/plugins/probe/plugin.wasm"),
        "{question}"
    );
    assert_eq!(call(&editor, &claude, &session, "echo", json!({"n": 1})).await.result, "{\"n\":1}");
    // Another component is not what was trusted.
    install(&own, "probe", "", &probe_with(&["echo", "echo_evil"]));
    let changed = call(&editor, &claude, &session, "echo_evil", json!({})).await;
    assert!(changed.is_error && changed.result.contains("there is no tool"), "{}", changed.result);
    assert!(
        notices(&changed.updates).join("\n").contains("changed since you trusted it"),
        "{:?}",
        changed.updates
    );
    assert_eq!(call(&editor, &claude, &session, "echo", json!({"n": 2})).await.result, "{\"n\":2}");
    crate::desk::trust(&editor, &session).await;
    assert_eq!(call(&editor, &claude, &session, "echo_evil", json!({})).await.result, "{}");
    editor.turn(&session, "/trust off").await;
    let off = call(&editor, &claude, &session, "echo", json!({})).await;
    assert!(off.is_error && off.result.contains("there is no tool"), "{}", off.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_fault_is_told_to_the_model_and_to_the_user() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    install(&plugins(&home), "probe", "", &probe_with(&["panic", "garbage", "error", "long_answer", "echo"]));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let panicked = call(&editor, &claude, &session, "panic", json!({"why": "of this"})).await;
    assert!(panicked.is_error);
    for said in [&panicked.result, &notices(&panicked.updates).join("\n")] {
        assert!(
            said.contains("the plugin probe failed in panic") && said.contains("the probe panics: of this"),
            "{said}"
        );
    }
    let garbage = call(&editor, &claude, &session, "garbage", json!({})).await;
    assert!(garbage.is_error && garbage.result.contains("no JSON"), "{}", garbage.result);
    let error = call(&editor, &claude, &session, "error", json!({"message": "short and stout"})).await;
    assert_eq!(error.result, "teapot: short and stout (the same call may work later)");
    let error = call(&editor, &claude, &session, "error", json!({"message": "z".repeat(200_000)})).await;
    assert!(error.is_error && error.result.len() < (64 << 10) + 100, "{}", error.result.len());
    let wrong = call(&editor, &claude, &session, "echo", json!({"n": "one"})).await;
    assert!(wrong.is_error && wrong.result.contains("schema"), "{}", wrong.result);
    let long = call(&editor, &claude, &session, "long_answer", json!({"bytes": 1_000_000})).await;
    assert!(!long.is_error && long.result.len() < (64 << 10) + 100, "{}", long.result.len());
    assert!(long.result.contains("bytes left out"));
    assert_eq!(call(&editor, &claude, &session, "echo", json!({"n": 1})).await.result, "{\"n\":1}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_plugin_that_begins_to_write_within_a_turn_waits_for_the_next_one() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let component = probe_with(&["exec"]);
    install(&plugins(&home), "probe", "", &component);
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let gate = Gate::new();
    let exec = |id: &str| Reply::calls(id, "exec", json!({"command": "true"}));
    claude.push(exec("toolu_1")).push(exec("toolu_2").hold(&gate)).push("I see.");
    editor.prompt(&session, "go on").await;
    gate.reached().await;
    install(&plugins(&home), "probe", "[wants]\nexec = true", &component);
    gate.open();
    editor.updates_until_turn_end(&session).await;
    for result in results(&claude) {
        assert!(text(&result).contains("does not ask for it"), "{result}");
    }
    // Now it counts, and so the user is asked.
    claude.push(exec("toolu_3")).push("I see.");
    editor.prompt(&session, "go on").await;
    let question = editor.next_server_request("airlock/permission").await;
    assert!(question.params["title"].as_str().unwrap().contains("exec"), "{}", question.params);
    question.respond(json!({"optionId": "no"}));
    editor.updates_until_turn_end(&session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_is_learned_is_of_the_files_that_were_read() {
    let desk = PluginDesk::new();
    let plugin = desk.install("probe", "", probe());
    plugin.load(desk.plugins()).await.unwrap();
    // It is rebuilt while it is asked what it offers.
    install(&desk.folder(), "probe", "", &probe_with(&["echo"]));
    plugin.list(desk.plugins()).await.unwrap();
    let again = desk.again().open(&plugin.place).unwrap();
    assert_ne!(again.digest, plugin.digest);
    assert_eq!(again.listing().unwrap().tools.len(), 1);
}

#[tokio::test]
async fn one_that_cannot_say_what_it_offers_is_asked_once() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let silent = crafted(
        r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
            (func (export "airlock:plugin/tools@0.1.0#list-tools") (result i32) unreachable)
            (func (export "airlock:plugin/tools@0.1.0#call-tool") (param i32 i32 i32 i32) (result i32) unreachable))"#,
    );
    let folder = install(&plugins(&home), "silent", "", &silent);
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    for (expected, prompt) in [(1, "first"), (0, "second")] {
        claude.push("Hello.");
        let updates = editor.turn(&session, prompt).await;
        let said = notices(&updates);
        let told = said.iter().filter(|said| said.contains("silent cannot say what it offers")).count();
        assert_eq!(told, expected, "{prompt}: {said:?}");
    }
    replace(&folder.join("plugin.wasm"), &probe_with(&["echo"]));
    assert_eq!(call(&editor, &claude, &session, "echo", json!({})).await.result, "{}");
    editor.shutdown().await;
    claude.finish();
}
