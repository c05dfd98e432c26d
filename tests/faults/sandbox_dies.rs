//! A sandbox that is attacked from inside, or ended from outside: contained, told, and replaced.

use crate::sandboxed::{Called, bash, call, container, podman, ready, results, text};
use crate::world::next_prompt_works;
use airlock_tests::editor::{Editor, EditorOptions};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::unruly::{Trouble, UnrulyPodman};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

/// A session whose shell has a state, and a file that it wrote.
async fn at_work(claude: &ScriptedClaude) -> (Editor, String) {
    at_work_with(EditorOptions::new(claude), claude).await
}

async fn at_work_with(options: EditorOptions, claude: &ScriptedClaude) -> (Editor, String) {
    let editor = ready(options).await;
    let session = editor.new_session().await;
    let command = "echo kept > kept.txt; mkdir d; cd d; export X=1; touch /tmp/x";
    assert!(!bash(&editor, claude, &session, command).await.is_error);
    (editor, session)
}

const STATE: &str = "pwd; echo \"X=$X\"; ls /tmp; cat /workspace/kept.txt";

/// The next command has a fresh shell and says so once; the files are as they were left.
async fn is_fresh(editor: &Editor, claude: &ScriptedClaude, session: &str) -> Called {
    let next = bash(editor, claude, session, STATE).await;
    let (note, rest) = next.result.split_once('\n').expect("two lines");
    assert!(note.starts_with("[the sandbox was started afresh"), "{}", next.result);
    assert!(rest.starts_with("/workspace\nX=\nkept\n[exit code 0"), "{}", next.result);
    let again = bash(editor, claude, session, "pwd").await;
    assert!(again.result.starts_with("/workspace\n"), "{}", again.result);
    next
}

/// The next command finds everything as it was.
async fn is_the_same(editor: &Editor, claude: &ScriptedClaude, session: &str) {
    let next = bash(editor, claude, session, STATE).await;
    assert!(next.result.starts_with("/workspace/d\nX=1\nx\nkept\n[exit code 0"), "{}", next.result);
}

/// Ends the sandbox in the middle of a command, and sees that all is told and goes on.
async fn ended_in_the_middle(end: impl FnOnce(&str)) {
    ended_in_the_middle_with(|options| options, end).await;
}

async fn ended_in_the_middle_with(
    change: impl FnOnce(EditorOptions) -> EditorOptions,
    end: impl FnOnce(&str),
) {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work_with(change(EditorOptions::new(&claude)), &claude).await;
    let id = container(&session, &editor);
    claude.push(Reply::calls("toolu_x", "bash", json!({"command": "echo begun; sleep 1000"}))).push("I see.");
    editor.prompt(&session, "go").await;
    loop {
        let update = editor.next_update(&session).await;
        if update["output"].as_str().is_some_and(|output| output.contains("begun")) {
            break;
        }
    }
    end(&id);
    let updates = editor.updates_until_turn_end(&session).await;
    let result = text(&results(&claude).pop().expect("a result"));
    assert!(result.starts_with("the sandbox ended in the middle of this call"), "{result}");
    let mut told = updates;
    while !told.iter().any(|update| update["kind"] == "sandbox" && update["state"] == "stopped") {
        told.push(editor.next_update(&session).await);
    }
    let next = is_fresh(&editor, &claude, &session).await;
    assert_eq!(next.isolation(), "container");
    assert_eq!(
        podman(&["ps", "--all", "--quiet", "--filter", &format!("id={id}")]),
        "",
        "the old one is gone"
    );
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_container_that_is_removed_in_the_middle_of_a_command_is_told_and_replaced() {
    ended_in_the_middle(|id| drop(podman(&["rm", "--force", "--time", "0", id]))).await;
}

#[tokio::test]
async fn a_first_process_that_is_killed_in_the_middle_of_a_command_is_told_and_replaced() {
    ended_in_the_middle(|id| {
        let pid = podman(&["inspect", "--format", "{{.State.Pid}}", id]);
        assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill").success());
    })
    .await;
}

#[tokio::test]
async fn a_way_to_the_guest_that_is_cut_is_told_and_its_container_is_gone() {
    let unruly = UnrulyPodman::new();
    ended_in_the_middle_with(|options| options.env("PATH", unruly.path()), |_| unruly.cut_attached()).await;
}

#[tokio::test]
async fn a_guest_that_talks_nonsense_is_ended_and_replaced() {
    // No frame of podman's, and a frame of podman's that is none of the guest's.
    for nonsense in [&b"\x07\0\0\0\0\0\0\0"[..], b"\x01\0\0\0\0\0\0\x0cnonsense\xff\xff\xff\xff"] {
        let unruly = UnrulyPodman::new();
        let talks = |_: &str| unruly.inject_into_attached(nonsense);
        ended_in_the_middle_with(|options| options.env("PATH", unruly.path()), talks).await;
    }
}

#[tokio::test]
async fn a_podman_that_stays_broken_ends_no_conversation_and_is_used_when_it_is_mended() {
    let (claude, unruly) = (ScriptedClaude::start().await, UnrulyPodman::new());
    unruly.trouble("containers/create", Trouble::status_500(), usize::MAX);
    let editor = ready(EditorOptions::new(&claude).env("PATH", unruly.path())).await;
    let session = editor.new_session().await;
    let called = bash(&editor, &claude, &session, "echo never").await;
    let why = "podman could not make a container: error 500 Internal Server Error - the database is locked";
    assert!(called.is_error && called.result.contains(why), "{}", called.result);
    let told = called.told_when("failed");
    assert!(told.contains(why) && told.contains("; try `podman info`"), "{told}");
    next_prompt_works(&editor, &claude, &session).await;
    unruly.behave();
    let next = bash(&editor, &claude, &session, "echo up").await;
    assert!(next.result.starts_with("up\n"), "{}", next.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_session_that_is_closed_while_its_sandbox_starts_leaves_no_container() {
    let (claude, unruly) = (ScriptedClaude::start().await, UnrulyPodman::new());
    unruly.trouble("containers/create", Trouble::Late, usize::MAX);
    let editor = ready(EditorOptions::new(&claude).env("PATH", unruly.path())).await;
    let session = editor.new_session().await;
    unruly.silences(1).await;
    let closing = editor.start_request("airlock/session/close", json!({"sessionId": session}));
    unruly.behave();
    editor.response(closing).await.expect("it is closed");
    let filter = format!("label=airlock.session={session}");
    let listed =
        podman(&["ps", "--all", "--filter", &filter, "--format", "{{index .Labels \"airlock.owner\"}}"]);
    let owner = format!("{}@", editor.pid().expect("it runs"));
    assert!(!listed.lines().any(|line| line.starts_with(&owner)), "{listed}");
    editor.ignore("airlock/session/update");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_container_that_is_removed_between_two_calls_is_told_at_once_and_replaced() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    podman(&["rm", "--force", "--time", "0", &container(&session, &editor)]);
    let update = editor.next_update(&session).await;
    assert_eq!((&update["kind"], &update["state"]), (&json!("sandbox"), &json!("stopped")));
    is_fresh(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

/// The folder of our podman's socket.
fn service_folder(editor: &Editor) -> PathBuf {
    let entries =
        std::fs::read_dir(editor.home().runtime()).expect("a folder").map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("airlock-podman-");
    entries.into_iter().find(ours).expect("a running service")
}

#[tokio::test]
async fn a_socket_that_is_gone_holds_up_no_command_and_leaves_no_container() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let id = container(&session, &editor);
    std::fs::remove_file(service_folder(&editor).join("podman.sock")).unwrap();
    is_the_same(&editor, &claude, &session).await;
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    assert_eq!(podman(&["ps", "--all", "--quiet", "--filter", &format!("id={id}")]), "");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_podman_that_is_killed_is_replaced_and_its_container_is_gone() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let id = container(&session, &editor);
    let pattern = format!("system service.*{}", service_folder(&editor).display());
    let pid = Command::new("pgrep").args(["-f", &pattern]).output().expect("pgrep").stdout;
    let pid = String::from_utf8(pid).expect("UTF-8");
    assert!(Command::new("kill").args(["-9", pid.trim()]).status().expect("kill").success());
    let update = editor.next_update(&session).await;
    assert_eq!((&update["kind"], &update["state"]), (&json!("sandbox"), &json!("stopped")));
    is_fresh(&editor, &claude, &session).await;
    assert_eq!(podman(&["ps", "--all", "--quiet", "--filter", &format!("id={id}")]), "");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn killing_everything_from_inside_ends_only_what_the_agent_started() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let called =
        bash(&editor, &claude, &session, "kill -9 1; echo still; sh -c 'kill -9 -1'; sleep 1000").await;
    assert!(
        called.result.starts_with("still\n") && called.result.contains("[ended by signal 9"),
        "{}",
        called.result
    );
    is_the_same(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_memory_bomb_ends_in_the_sandbox() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let bomb = "python3 -c 'b = []\nwhile True: b.append(bytearray(16 << 20))'; echo \"it ended with $?\"";
    let called = bash(&editor, &claude, &session, bomb).await;
    assert!(called.result.contains("it ended with 137"), "{}", called.result);
    is_the_same(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_its_time_is_up() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let bomb = json!({"command": "b() { b | b & }; b; sleep 1000", "timeout_s": 2});
    let called = call(&editor, &claude, &session, "bash", bomb).await;
    assert!(called.result.contains("because its time was up"), "{}", called.result);
    let left = bash(&editor, &claude, &session, "ls -d /proc/[0-9]* | wc -l").await;
    let count: u32 = left.result.lines().next().unwrap_or_default().parse().expect("a number");
    assert!(count < 10, "{}", left.result);
    is_the_same(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_full_temporary_folder_is_an_error_for_who_fills_it() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = at_work(&claude).await;
    let called = bash(&editor, &claude, &session, "head -c 2G /dev/zero > /tmp/full; rm /tmp/full").await;
    assert!(called.result.contains("No space left on device"), "{}", called.result);
    is_the_same(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}
