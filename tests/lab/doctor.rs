//! `airlock doctor` where everything is there.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::scripted_claude::ScriptedClaude;
use serde_json::{Value, json};

pub(crate) async fn facts() -> Value {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["doctor", "--json"]).without_env("USE_SANDBOX");
    let output = command.process().output().await.expect("airlock starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = serde_json::from_str(&said).unwrap_or(Value::String(said));
    json!({
        "status": output.status.code(),
        "report": report,
        "log": String::from_utf8_lossy(&output.stderr),
        "state_folder_is_made": command.home().state().join("airlock").exists(),
    })
}
