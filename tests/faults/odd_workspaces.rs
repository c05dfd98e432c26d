//! Workspaces that are not a plain folder on a plain disk, and disks that fill up.

use crate::sandboxed::{bash, mounted, ready};
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use serde_json::json;
use std::time::{Duration, Instant};

/// The workspace is what the script mounted there, with `a.txt` in it. The agent reads and changes it, and it stays as
/// it was.
async fn works_on(script: &str) {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    std::fs::create_dir(home.path().join("base")).unwrap();
    let script = script
        .replace("BASE", home.path().join("base").to_str().unwrap())
        .replace("WORKSPACE", home.workspace().to_str().unwrap());
    let editor = ready(mounted(EditorOptions::new(&claude).home(&home), &script)).await;
    let session = editor.new_session().await;
    let command = "cat a.txt; echo changed >> a.txt; echo b > b.txt; rm -f c.txt; cat a.txt b.txt";
    let called = bash(&editor, &claude, &session, command).await;
    let expected = "as it was\nas it was\nchanged\nb\n[exit code 0";
    assert!(called.result.starts_with(expected), "{} {:?}", called.result, called.told());
    let pid = editor.pid().expect("it runs");
    let text =
        std::fs::read_to_string(format!("/proc/{pid}/root{}/a.txt", home.workspace().display())).unwrap();
    assert_eq!(text, "as it was\n");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_workspace_in_memory_works() {
    works_on("mount -t tmpfs none WORKSPACE; echo 'as it was' > WORKSPACE/a.txt").await;
}

#[tokio::test]
async fn a_workspace_on_an_overlay_works() {
    works_on(
        "mount -t tmpfs none BASE; mkdir BASE/l BASE/u BASE/w; echo 'as it was' > BASE/l/a.txt; echo c > BASE/u/c.txt\n\
         mount -t overlay -o lowerdir=BASE/l,upperdir=BASE/u,workdir=BASE/w none WORKSPACE",
    )
    .await;
}

#[tokio::test]
async fn a_workspace_on_a_file_system_of_a_program_works() {
    works_on(
        "mkdir BASE/l BASE/u BASE/w; echo 'as it was' > BASE/l/a.txt\n\
         fuse-overlayfs -o lowerdir=BASE/l,upperdir=BASE/u,workdir=BASE/w WORKSPACE",
    )
    .await;
}

#[tokio::test]
async fn a_workspace_that_is_read_only_works() {
    works_on("echo 'as it was' > WORKSPACE/a.txt; mount --bind WORKSPACE WORKSPACE; mount -o remount,bind,ro WORKSPACE")
        .await;
}

/// From the session's beginning to the first command's end. The best of three, as the machine may be busy.
async fn start_time(home: &Home) -> Duration {
    let claude = ScriptedClaude::start().await;
    let editor = ready(EditorOptions::new(&claude).home(home)).await;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        let session = editor.new_session().await;
        assert!(!bash(&editor, &claude, &session, "test -e .").await.is_error);
        best = best.min(begun.elapsed());
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    }
    editor.shutdown().await;
    claude.finish();
    best
}

#[tokio::test]
async fn a_workspace_with_very_many_files_starts_as_quickly_as_an_empty_one() {
    const FOLDERS: usize = 200;
    const FILES: usize = 500;
    let (empty, full) = (Home::new(), Home::new());
    for folder in 0..FOLDERS {
        let folder = full.workspace().join(format!("d{folder}"));
        std::fs::create_dir(&folder).unwrap();
        for file in 0..FILES {
            std::fs::File::create(folder.join(format!("f{file}"))).unwrap();
        }
    }
    let (small, large) = (start_time(&empty).await, start_time(&full).await);
    eprintln!("first command: {small:?} without files, {large:?} with {}", FOLDERS * FILES);
    assert!(large < small * 2, "{small:?} without files, {large:?} with {}", FOLDERS * FILES);
}

#[tokio::test]
async fn a_disk_that_fills_up_is_an_error_of_the_command_and_goes_away_with_the_file() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let script = format!("mount -t tmpfs -o size=16m none {}", home.state().display());
    let editor = ready(mounted(EditorOptions::new(&claude).home(&home), &script)).await;
    let session = editor.new_session().await;
    let called =
        bash(&editor, &claude, &session, "head -c 64M /dev/zero > big; rm big; echo more > small").await;
    assert!(called.result.contains("No space left on device"), "{}", called.result);
    let next = bash(&editor, &claude, &session, "cat small").await;
    assert!(next.result.starts_with("more\n"), "{}", next.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_command_that_fills_the_disk_is_ended_before_it_is_full() {
    is_ended("size=48m", "while head -c 1M /dev/zero >> big; do sleep 0.05; done; echo full").await;
}

#[tokio::test]
async fn a_command_that_fills_the_disk_with_empty_files_is_ended_before_no_more_can_be_made() {
    is_ended("nr_inodes=4k", "mkdir big; while echo -n > big/$((number++)); do sleep 0.001; done; echo full")
        .await;
}

/// What the command writes to is such a disk.
async fn is_ended(disk: &str, filler: &str) {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let script = format!("mount -t tmpfs -o {disk} none {}", home.state().display());
    let editor = ready(mounted(EditorOptions::new(&claude).home(&home), &script)).await;
    let session = editor.new_session().await;
    let called = bash(&editor, &claude, &session, filler).await;
    let why = "the sandbox ended in the middle of this call: it was ended because the disk is nearly full";
    assert!(called.is_error && called.result.starts_with(why), "{}", called.result);
    assert!(called.told_when("stopped").contains("the disk is nearly full"), "{:?}", called.told());
    let next = bash(&editor, &claude, &session, "rm -r big; ls").await;
    assert!(next.result.contains("started afresh") && !next.is_error, "{}", next.result);
    editor.shutdown().await;
    claude.finish();
}

/// Nobody ever writes to it.
#[tokio::test]
async fn a_pipe_in_the_workspace_is_no_file_and_is_not_waited_for() {
    let bench = Workbench::new().await;
    bench.bash("mkfifo pipe").await;
    let edit = json!({"path": "pipe", "edits": [{"old": "a", "new": "b"}]});
    for (tool, input) in [("read_file", json!({"path": "pipe"})), ("edit_file", edit)] {
        let refused = bench.refused(tool, input).await;
        assert!(refused.contains("it is no ordinary file"), "{tool}: {refused}");
    }
    bench.end().await;
}
