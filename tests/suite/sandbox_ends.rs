//! How a sandbox ends: with its session, with the editor, and after a kill at the next start.

use crate::sandboxed::{bash, path_with, ready};
use airlock_tests::deadline::within;
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::sandbox_desk::SandboxDesk;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::traces::{mounts, processes};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

/// The containers of a server, by its process id.
fn containers_of(pid: u32) -> Vec<String> {
    let format = "{{.ID}} {{index .Labels \"airlock.owner\"}}";
    let output = Command::new("podman").args(["ps", "--all", "--format", format]).output().expect("podman");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let owner = format!(" {pid}@");
    text.lines().filter(|line| line.contains(&owner)).map(str::to_owned).collect()
}

/// Our own podman services that a process started.
fn services() -> Vec<String> {
    let output = Command::new("pgrep").args(["-af", "podman .*system service"]).output().expect("pgrep");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// Those of a home.
pub(crate) fn services_of(home: &Home) -> Vec<String> {
    let runtime = home.runtime();
    services().into_iter().filter(|line| line.contains(runtime.to_str().expect("UTF-8"))).collect()
}

async fn with_a_running_sandbox(claude: &ScriptedClaude, home: &Home) -> (Editor, String) {
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": "echo up"}))).push("Up.");
    let editor = Editor::ready(EditorOptions::new(claude).home(home).with_sandbox()).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    editor.turn(&session, "go").await;
    (editor, session)
}

#[tokio::test]
async fn a_closed_session_has_no_sandbox_left_when_it_answers() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (editor, session) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    assert_eq!(containers_of(pid).len(), 1);
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    assert_eq!(containers_of(pid), Vec::<String>::new());
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_goes_away_takes_the_sandbox_along_within_five_seconds() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (mut editor, _) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    editor.close_stdin();
    let ended = tokio::time::timeout(Duration::from_secs(5), editor.exit_status()).await;
    assert!(ended.is_ok(), "it did not end");
    assert_eq!(containers_of(pid), Vec::<String>::new());
    claude.finish();
}

/// As when the window of a terminal is closed with the editor in it. Five services were once left by one afternoon.
#[tokio::test]
async fn a_server_that_is_told_to_end_by_a_signal_takes_its_sandbox_and_podman_along() {
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let (claude, home) = (ScriptedClaude::start().await, Home::new());
        let (mut editor, _) = with_a_running_sandbox(&claude, &home).await;
        let pid = editor.pid().expect("it runs");
        assert_eq!(services_of(&home).len(), 1, "{:?}", services());
        let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).status();
        assert!(sent.expect("kill starts").success());
        assert_eq!(editor.exit_status().await.code(), Some(code), "{signal}");
        assert_eq!(containers_of(pid), Vec::<String>::new());
        assert_eq!(services_of(&home), Vec::<String>::new(), "{signal}");
        claude.finish();
    }
}

#[tokio::test]
async fn what_a_killed_server_left_is_gone_after_the_next_start() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (editor, _) = with_a_running_sandbox(&claude, &home).await;
    let pid = editor.pid().expect("it runs");
    let runtime = home.runtime();
    assert_eq!(services_of(&home).len(), 1, "{:?}", services());
    editor.kill9().await;
    let (editor, _) = with_a_running_sandbox(&claude, &home).await;
    assert_eq!(containers_of(pid), Vec::<String>::new());
    assert_eq!(services_of(&home).len(), 1, "the old service is gone: {:?}", services_of(&home));
    let sockets = std::fs::read_dir(&runtime).expect("the folder").flatten();
    let ours =
        sockets.filter(|entry| entry.file_name().to_string_lossy().starts_with("airlock-podman-")).count();
    assert_eq!(ours, 1, "the old socket's folder is gone");
    editor.shutdown().await;
    claude.finish();
}

/// A sandbox that was asked for just before its session was closed once came up after it, and left its folders.
#[tokio::test]
async fn a_session_that_is_closed_starts_no_sandbox_any_more() {
    let desk = SandboxDesk::new();
    desk.view().stop().await;
    let refused = desk.view().ready().await.err().expect("a refusal");
    assert!(refused.to_string().contains("the session is closed"), "{refused}");
    assert!(!desk.folder().join("work").exists() && !desk.folder().join("owner").exists());
}

/// A runtime that kills its podman the first time it is to start a container, and does not start it.
const KILLS_PODMAN: &str = r#"
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
flag="$(dirname "$0")/killed"
case " $* " in *" start "*) [ -e "$flag" ] || { touch "$flag"; kill -9 "$PPID"; exit 1; } ;; esac
exec "$(basename "$0")" "$@""#;

#[tokio::test]
async fn a_podman_that_dies_while_it_starts_a_sandbox_leaves_no_container() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let path = path_with(&home, &[("crun", KILLS_PODMAN), ("runc", KILLS_PODMAN)]);
    let editor = ready(EditorOptions::new(&claude).home(&home).env("PATH", path)).await;
    let session = editor.new_session().await;
    // Where the one runtime fails the other is tried, so the first call may have a sandbox or not.
    bash(&editor, &claude, &session, "echo up").await;
    let second = bash(&editor, &claude, &session, "echo up again").await;
    assert!(!second.is_error, "{}", second.result);
    assert!(home.path().join("programs/killed").exists(), "podman was never killed");
    let pid = editor.pid().expect("it runs");
    assert_eq!(containers_of(pid).len(), 1, "{:?}", containers_of(pid));
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    assert_eq!(containers_of(pid), Vec::<String>::new());
    editor.ignore_unread();
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_podman_that_dies_while_it_makes_a_container_leaves_no_process() {
    podman_dies_while_it_makes_a_container("exit").await;
}

/// What its monitor has started has started something. Found by the soak: `runc init`, below a `runc create`.
#[tokio::test]
async fn a_podman_that_dies_while_its_runtime_still_makes_a_container_leaves_no_process() {
    podman_dies_while_it_makes_a_container("sleep 1000; exit").await;
}

/// The runtime goes on with `then`.
async fn podman_dies_while_it_makes_a_container(then: &str) {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    // The container is made, and podman dies before it hears of it.
    let script = format!(
        r#"
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
flag="$(dirname "$0")/killed"
case " $* " in *" create "*) ;; *) exec "$(basename "$0")" "$@" ;; esac
[ -e "$flag" ] && exec "$(basename "$0")" "$@"
"$(basename "$0")" "$@" || exit
touch "$flag"
pkill -9 -f "unix://{}/airlock-podman-"
{then}"#,
        home.runtime().display()
    );
    let path = path_with(&home, &[("crun", &script), ("runc", &script)]);
    let editor = ready(EditorOptions::new(&claude).home(&home).env("PATH", path)).await;
    let session = editor.new_session().await;
    bash(&editor, &claude, &session, "echo up").await;
    let second = bash(&editor, &claude, &session, "echo up again").await;
    assert!(!second.is_error, "{}", second.result);
    assert!(home.path().join("programs/killed").exists(), "podman was never killed");
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    let server = editor.pid().expect("it runs").cast_signed();
    let left = || processes(&home).into_iter().filter(|(pid, _)| *pid != server).collect::<Vec<_>>();
    // A monitor that was quick has podman clear up, which takes its time. What nobody clears up stays.
    let gone = async {
        while !left().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within(gone, || format!("{:?} are left", left())).await;
    assert_eq!(mounts(&home), Vec::<String>::new());
    editor.ignore_unread();
    editor.shutdown().await;
    claude.finish();
}

/// The names in a session's folder.
fn kept(home: &Home, session: &str) -> Vec<String> {
    let folder = home.state().join("airlock/sandboxes").join(session);
    let entries = std::fs::read_dir(folder).map(|entries| entries.collect::<Vec<_>>()).unwrap_or_default();
    let names = entries.into_iter().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

#[tokio::test]
async fn a_session_leaves_behind_what_it_changed_and_nothing_else() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("a.txt", "as it was\n");
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    for (command, expected) in [
        ("cat a.txt; touch b; rm b; mkdir -m 000 d; rmdir d", &[][..]),
        ("rm a.txt; mkdir d; touch d/x; chmod 000 d", &["base", "checkpoints", "upper"]),
    ] {
        let session = editor.new_session().await;
        let called = bash(&editor, &claude, &session, command).await;
        assert!(!called.is_error, "{}", called.result);
        assert!(kept(&home, &session).contains(&"work".to_owned()));
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
        assert_eq!(kept(&home, &session), expected, "{command}");
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_a_killed_server_had_changed_is_kept_and_the_rest_of_its_folders_is_not() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    let (idle, busy) = (editor.new_session().await, editor.new_session().await);
    bash(&editor, &claude, &idle, "true").await;
    bash(&editor, &claude, &busy, "echo new > new.txt").await;
    editor.kill9().await;
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    let session = editor.new_session().await;
    bash(&editor, &claude, &session, "true").await;
    assert_eq!(
        (kept(&home, &idle), kept(&home, &busy)),
        (vec![], ["base", "checkpoints", "upper"].map(str::to_owned).to_vec())
    );
    let upper = home.state().join("airlock/sandboxes").join(&busy).join("upper");
    assert_eq!(std::fs::read_to_string(upper.join("new.txt")).unwrap(), "new\n");
    editor.shutdown().await;
    claude.finish();
}
