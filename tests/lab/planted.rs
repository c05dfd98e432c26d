//! The agent plants a link in the view that Airlock keeps for its microVM, and the microVM ends.

use crate::podman::podman;
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::editor::Home;
use airlock_tests::planted::{Trigger, Victim, attack};
use airlock_tests::workbench::Workbench;
use serde_json::{Value, json};

pub(crate) async fn facts(trigger: Trigger, home: Home) -> Value {
    home.write("d/own", "mine\n");
    let victim = Victim::of(&home);
    let end_guests = || {
        let ended = podman(&home, &["kill", "--signal", "KILL", "--all"]);
        assert_eq!(ended.lines().count(), 1, "{ended}");
    };
    let listing = async |bench: &Workbench| list(bench, &home).await;
    let boot_id = attack(trigger, &home, |options| options, end_guests, listing).await;
    json!({"boot_id": boot_id, "harm": victim.harm()})
}

/// `airlock review` without a terminal lists only.
async fn list(bench: &Workbench, home: &Home) {
    let command = AirlockCommand::new(&bench.claude, &["review"]).with_home(home).without_env("USE_SANDBOX");
    let output = command.process().output().await.expect("airlock starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("a link to"), "{output:?}");
}
