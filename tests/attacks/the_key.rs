//! The API key goes to the API and nowhere else, and stdout holds frames and nothing else.

use crate::desk::{configure, ready_with};
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::deadline::within;
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const KEY: &str = "sk-ant-SECRET-0123456789";

/// Every file below a folder that holds the key.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(leaks(&path));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Works hard, with everything logged; gives what was said on stderr and in updates.
async fn work(options: EditorOptions, claude: &ScriptedClaude) -> (String, String) {
    claude.require_key(KEY);
    claude
        .push(Reply::calls("toolu_1", "bash", json!({"command": "env"})))
        .push("done")
        .push(Reply::status(500).header("x-should-retry", "false"))
        .push(Reply::says("half").cut_after(200))
        .push(Reply::status(401).error("authentication_error", "invalid x-api-key"));
    let mut editor = ready_with(options.env("AIRLOCK_LOG", "trace")).await;
    let session = editor.new_session().await;
    let mut said = Vec::new();
    for words in ["hi", "fail", "be cut", "be refused", "/cost", "/model claude-haiku-4-5", "/nonsense"] {
        said.extend(editor.turn(&session, words).await);
    }
    editor.send_raw("no frame\r\n\r\n");
    editor.next("a refusal", |message| message.get("error").is_some()).await;
    editor.expect("shutdown", Value::Null).await;
    editor.notify("exit", Value::Null);
    editor.exit_status().await;
    let log = editor.report();
    assert!(log.contains("DEBUG airlock"), "what is not logged cannot be seen to hold no key: {log}");
    (log, json!(said).to_string())
}

#[tokio::test]
async fn a_key_in_the_environment_is_in_no_log_no_update_and_no_file() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    configure(&home, "config.toml", "retries = 0\n");
    let options = EditorOptions::new(&claude).home(&home).env("ANTHROPIC_API_KEY", KEY);
    let (log, updates) = work(options, &claude).await;
    assert!(!log.contains(KEY), "the log holds the key");
    assert!(!updates.contains(KEY), "an update holds the key");
    assert_eq!(leaks(home.path()), Vec::<String>::new());
    assert!(claude.requests().iter().all(|request| !request.body.to_string().contains(KEY)));
}

#[tokio::test]
async fn a_key_in_the_configuration_stays_in_that_file_even_when_it_is_malformed() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let file = configure(&home, "config.toml", &format!("retries = 0\napi_key = \"{KEY}\"\n"));
    let options = || EditorOptions::new(&claude).home(&home).without_env("ANTHROPIC_API_KEY");
    let (log, updates) = work(options(), &claude).await;
    assert!(!log.contains(KEY) && !updates.contains(KEY));
    assert_eq!(leaks(home.path()), [file.display().to_string()]);

    // The line of the mistake is the key's.
    for text in [format!("api_key = \"{KEY}\n"), format!("api_key = {KEY}\n"), format!("{KEY} = 1\n")] {
        configure(&home, "config.toml", &text);
        let mut editor = ready_with(options().env("AIRLOCK_LOG", "trace")).await;
        let session = editor.new_session().await;
        let updates = json!(editor.turn(&session, "hi").await).to_string();
        assert!(updates.contains("config.toml:1: "), "{updates}");
        assert!(!updates.contains(KEY), "{text} is repeated: {updates}");
        editor.expect("shutdown", Value::Null).await;
        editor.notify("exit", Value::Null);
        editor.exit_status().await;
        assert!(!editor.report().contains(KEY));
        assert_eq!(leaks(home.path()), [file.display().to_string()]);
    }
}

/// A property of this design: podman and what it starts live as long as the sandbox, and write logs of their own.
#[tokio::test]
async fn podman_is_given_neither_the_key_nor_a_secret_of_a_plugin() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (programs, note) = (home.path().join("programs"), home.path().join("given"));
    std::fs::create_dir(&programs).expect("a folder");
    let podman = programs.join("podman");
    let script = format!("#!/bin/sh\n/usr/bin/env >> {}\necho podman version 4.3.1\n", note.display());
    std::fs::write(&podman, script).expect("a file");
    std::fs::set_permissions(&podman, PermissionsExt::from_mode(0o755)).expect("our own file");
    let command = AirlockCommand::new(&claude, &["doctor"]).with_home(&home).without_env("USE_SANDBOX");
    let command = command.env("ANTHROPIC_API_KEY", KEY).env("AIRLOCK_SECRET_ISSUES__TOKEN", KEY);
    let output = command.env("PATH", programs).env("KEPT", "kept").process().output();
    within(output, || "airlock doctor does not end".into()).await.expect("airlock starts");
    let given = std::fs::read_to_string(note).expect("podman was started");
    assert!(given.contains("KEPT=kept") && !given.contains(KEY), "{given}");
}
