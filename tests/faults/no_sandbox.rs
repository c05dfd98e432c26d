//! Machines on which no sandbox can be: each says what is missing and what to do, and the conversation goes on.

use crate::sandboxed::{bash, mounted, path_with, ready, refused};
use airlock_tests::deadline::within;
use airlock_tests::editor::{EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use std::time::{Duration, Instant};

#[tokio::test]
async fn without_podman_the_command_that_installs_it_is_told() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let told = refused(EditorOptions::new(&claude).home(&home).env("PATH", home.path()), &claude).await;
    assert!(told.starts_with("podman is not installed; install it: `"), "{told}");
    assert!(told.contains(" install podman crun"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn without_a_runtime_the_command_that_installs_one_is_told() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let script = "for name in crun runc krun; do for folder in /usr/bin /usr/sbin /usr/local/bin; do \
                  [ ! -e $folder/$name ] || mount --bind /dev/null $folder/$name; done; done";
    let told = refused(mounted(EditorOptions::new(&claude).home(&home), script), &claude).await;
    assert!(told.starts_with("no container runtime is installed; install one: `"), "{told}");
    assert!(told.contains(" install crun`"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_podman_that_ends_at_once_is_quoted() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let path = path_with(&home, &[("podman", "echo 'Error: the database is locked' >&2; exit 125")]);
    let told = refused(EditorOptions::new(&claude).home(&home).env("PATH", path), &claude).await;
    assert!(told.contains("exit status: 125 (Error: the database is locked); try `podman info`"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_podman_that_does_not_answer_is_waited_for_only_so_long_and_holds_up_no_talk() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let path = path_with(
        &home,
        &[("podman", "echo $$ >> \"$HOME/pids\"; sleep 1000 & echo $! >> \"$HOME/pids\"; wait")],
    );
    let editor = ready(EditorOptions::new(&claude).home(&home).env("PATH", path)).await;
    let session = editor.new_session().await;
    let begun = Instant::now();
    claude.push("Good day.");
    assert_eq!(agent_text(&editor.turn(&session, "Hello").await), "Good day.");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let called = bash(&editor, &claude, &session, "echo never").await;
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(
        called.is_error && called.result.contains("podman did not answer within 10 s"),
        "{}",
        called.result
    );
    let pids = std::fs::read_to_string(home.path().join("pids")).unwrap();
    let lives = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    // They are killed when this is told, and who is killed ends in its own time.
    let gone = async {
        while pids.lines().any(|pid| lives(&pid)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(gone, || "something of it is left".to_owned()).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_an_upper_layer_is_named() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let (state, base) = (home.state(), home.path().join("base"));
    std::fs::create_dir(&base).unwrap();
    let script = format!(
        "mount -t tmpfs none {base}; mkdir {base}/l {base}/u {base}/w\n\
         mount -t overlay -o lowerdir={base}/l,upperdir={base}/u,workdir={base}/w none {state}",
        base = base.display(),
        state = state.display(),
    );
    let told = refused(mounted(EditorOptions::new(&claude).home(&home), &script), &claude).await;
    assert!(told.starts_with("the copy-on-write view of the workspace cannot be mounted: "), "{told}");
    assert!(told.contains("set XDG_STATE_HOME to a folder on one"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_workspace_that_holds_airlocks_own_state_is_refused() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let state = home.workspace().join("state");
    let options = EditorOptions::new(&claude).home(&home).env("XDG_STATE_HOME", state);
    let told = refused(options, &claude).await;
    assert!(told.starts_with("the workspace holds Airlock's own folder"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_conversation_goes_on() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    // Room for a history, and not for the guest.
    let script = format!("mount -t tmpfs -o size=512k none {}", home.state().display());
    let told = refused(mounted(EditorOptions::new(&claude).home(&home), &script), &claude).await;
    assert!(told.contains("No space left on device") && told.contains("free some space"), "{told}");
    claude.finish();
}
