//! The demo of the README, as `cargo xtask demo` starts it: the very same program, once without a terminal and once with a
//! person at one.

use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::terminal::Terminal;
use std::process::{Command, Stdio};

const DEMO: &str = env!("CARGO_BIN_EXE_demo");

fn demo() -> Command {
    let mut command = Command::new(DEMO);
    command.env("AIRLOCK_BIN", airlock_binary()).stdin(Stdio::null());
    command
}

#[test]
fn without_a_terminal_the_demo_plays_itself_and_tells_all_of_it() {
    let output = demo().output().expect("it starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let in_order = [
        "> The test fails. Find out why, and mend it.",
        "$ sh test.sh",
        "WRONG  1900: yes, but the truth is no",
        "ok     1900: no",
        "networks: lo",
        "1 change in 1 file to review: /review",
        "> /review",
        "Change to leap.sh (1 of 1)",
        "> /quit",
        "leap.sh in the workspace, as it is now",
        "$(($1 % 400)) -eq 0 ]; }; then",
        "The agent ran in a container, not in a microVM",
        "Networks that it saw: none but its own loopback.",
        "Next:",
    ];
    let mut rest = said.as_str();
    for line in in_order {
        let found = rest.find(line).unwrap_or_else(|| panic!("{line:?} is not where it should be:\n{said}"));
        rest = &rest[found + line.len()..];
    }
    assert!(!said.contains('\u{1b}'), "plain text: {said:?}");
    assert!(!said.contains("WARN"), "nothing to worry about: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_person_the_demo_waits_for_their_word() {
    let terminal = Terminal::start_program(&demo_words(), &std::env::temp_dir());
    terminal.wait_for_prompt_after("session:").await;
    terminal.send("and now?");
    terminal.wait_for_prompt_after("I am only a stand-in").await;
    // They leave without a review, so it is offered once more.
    terminal.send("/quit");
    terminal.wait_for("this is `airlock review`").await;
    terminal.wait("the review's question", |screen| screen.ends_with('?')).await;
    terminal.send("1");
    assert_eq!(terminal.wait_for_end().await, 0, "{}", terminal.everything());
    let said = terminal.everything();
    assert!(said.contains("leap.sh in the workspace, as it is now"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_may_leave_the_change_out() {
    let terminal = Terminal::start_program(&demo_words(), &std::env::temp_dir());
    terminal.wait_for_prompt_after("session:").await;
    terminal.send("/reject");
    terminal.wait_for_prompt_after("Nothing is done yet").await;
    terminal.send("/reject");
    terminal.wait_for_prompt_after("Rejected").await;
    terminal.send("/quit");
    assert_eq!(terminal.wait_for_end().await, 0, "{}", terminal.everything());
    let said = terminal.everything();
    assert!(said.contains("You did not accept the change, so leap.sh is as it was."), "{said}");
}

#[test]
fn a_machine_without_podman_is_told_so() {
    let empty = tempfile::tempdir().expect("a folder");
    for program in ["tmux", "env", "sh", "mv", "cat"] {
        let found = ["/usr/bin", "/bin"].map(|folder| std::path::Path::new(folder).join(program));
        let found = found.into_iter().find(|path| path.exists()).expect("every system has it");
        std::os::unix::fs::symlink(found, empty.path().join(program)).expect("a link");
    }
    let output = demo().env("PATH", empty.path()).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("The demo failed: ") && said.contains("podman"), "{said}");
}

fn demo_words() -> Vec<std::ffi::OsString> {
    let mut binary = std::ffi::OsString::from("AIRLOCK_BIN=");
    binary.push(airlock_binary());
    vec!["env".into(), binary, DEMO.into()]
}
