//! `airlock doctor`, as a user calls it.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::deadline::within;
use airlock_tests::scripted_claude::ScriptedClaude;

async fn doctor(command: &AirlockCommand) -> (bool, String) {
    let output = within(command.process().output(), || "airlock doctor does not end".into()).await;
    let output = output.expect("airlock starts");
    (output.status.success(), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[tokio::test]
async fn doctor_proves_the_sandbox_by_starting_one_and_leaves_nothing() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["doctor"]).without_env("USE_SANDBOX");
    let (well, said) = doctor(&command).await;
    assert!(well, "{said}");
    assert!(said.contains("[ok] Sandbox: container. It is a container on this machine's kernel"), "{said}");
    assert!(said.contains(&format!("[ok] API key: set, for {}", claude.base_url())), "{said}");
    assert!(!said.contains("test-key"), "the key is never shown: {said}");
    let state = command.home().state().join("airlock");
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(state.join(folder)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let left = [names(""), names("sandboxes"), names("homes")].concat();
    assert!(!left.iter().any(|name| name.contains("trial")), "{left:?}");
    assert_eq!(claude.hits(), 0, "it costs nothing");
}

#[tokio::test]
async fn doctor_says_what_is_missing_and_how_to_get_it() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["doctor"])
        .without_env("USE_SANDBOX")
        .without_env("ANTHROPIC_API_KEY")
        .env("PATH", "/nowhere");
    let (well, said) = doctor(&command).await;
    assert!(!well, "{said}");
    assert!(said.contains("[!!] API key: none. Set ANTHROPIC_API_KEY"), "{said}");
    assert!(said.contains("[!!] Sandbox: ") && said.contains("install"), "{said}");
}
