//! What the agent arranges in its view before it ends its own sandbox: nothing of it leads the host out of the view when
//! the view is settled, listed, rejected or undone.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::editor::Home;
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::planted::{Trigger, Victim, attack};
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use std::process::Command;

fn world(home: &Home) -> Victim {
    home.write("d/own", "mine\n");
    Victim::of(home)
}

/// `airlock review` without a terminal lists only.
async fn review(bench: &Workbench, home: &Home) {
    let command = AirlockCommand::new(&bench.claude, &["review"]).with_home(home).without_env("USE_SANDBOX");
    let output = command.process().output().await.expect("airlock starts");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("a link to"), "{output:?}");
}

#[tokio::test]
async fn a_link_that_the_agent_plants_before_its_guest_ends_leads_no_removal_to_the_users_files() {
    for trigger in Trigger::ALL {
        let home = Home::new();
        let victim = world(&home);
        let end_guests = || {
            let prefix = home.state().join("airlock/sandboxes").display().to_string();
            let format = "{{.ID}} {{index .Labels \"airlock.upper\"}}";
            let listed = Command::new("podman").args(["ps", "--format", format]).output().expect("podman");
            let listed = String::from_utf8(listed.stdout).expect("UTF-8");
            let ours: Vec<&str> = listed
                .lines()
                .filter(|line| line.contains(&prefix))
                .filter_map(|line| line.split(' ').next())
                .collect();
            assert_eq!(ours.len(), 1, "{listed}");
            let ended = Command::new("podman").args(["kill", "--signal", "KILL"]).args(ours).output();
            assert!(ended.expect("podman").status.success());
        };
        attack(trigger, &home, |options| options, end_guests, async |bench| review(bench, &home).await).await;
        assert_eq!(victim.harm(), Vec::<String>::new(), "{trigger:?}");
    }
}

#[tokio::test]
async fn the_same_without_root() {
    let user = OrdinaryUser::get();
    for trigger in Trigger::ALL {
        let home = user.home();
        let victim = world(&home);
        for path in [home.workspace(), victim.path().to_owned()] {
            user.take_over(&path);
        }
        let end_guests = || drop(user.podman(&home, &["kill", "--signal", "KILL", "--all"]));
        let listing = async |bench: &Workbench| {
            let words = AirlockCommand::new(&bench.claude, &["review"])
                .with_home(&home)
                .without_env("USE_SANDBOX")
                .words();
            let program = words[0].clone();
            let arguments = &words[1..];
            let words = user.words(std::path::Path::new(&program), &[]);
            let output = Command::new(&words[0])
                .args(&words[1..])
                .args(arguments)
                .current_dir(home.workspace())
                .output()
                .expect("it starts");
            assert!(output.status.success(), "{output:?}");
        };
        attack(trigger, &home, |options| options.user(user, &home), end_guests, listing).await;
        assert_eq!(victim.harm(), Vec::<String>::new(), "{trigger:?}");
    }
}
