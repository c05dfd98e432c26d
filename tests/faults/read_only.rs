//! Disks that can be read and not written, for history, sandbox and accept: told, and the conversation goes on.

use crate::sandboxed::{mounted, ready, refused};
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;

#[tokio::test]
async fn changes_that_cannot_be_written_are_told_with_the_reason_and_stay() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    let script = "mount --bind WORKSPACE WORKSPACE; mount -o remount,bind,ro WORKSPACE"
        .replace("WORKSPACE", home.workspace().to_str().expect("UTF-8"));
    let bench = Workbench::with(|options| mounted(options.home(&home), &script)).await;
    bench.bash("echo two >> a.txt; echo new > b.txt; mkdir d; echo deep > d/c.txt").await;
    for _ in 0..2 {
        let outcome = bench.review("accept", json!({})).await;
        assert_eq!(outcome["done"], json!([]));
        let failed = outcome["failed"].as_array().expect("a list");
        let told = |path: &str| {
            let of_path = failed.iter().find(|failed| failed["path"] == path);
            let why = of_path.and_then(|failed| failed["why"].as_str());
            why.is_some_and(|why| why.contains("Read-only file system"))
        };
        assert!(["a.txt", "b.txt", "d/c.txt"].into_iter().all(told), "{outcome}");
        assert_eq!(bench.changes().await.len(), 3, "they still wait");
    }
    assert_eq!(bench.on_disk("a.txt"), "one\n");
    assert_eq!(
        bench.bash("cat a.txt b.txt d/c.txt").await,
        "one\ntwo\nnew\ndeep\n",
        "the agent's side is kept"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_written_is_named_and_the_conversation_goes_on() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let told = refused(without_writable_state(&claude, &home), &claude).await;
    assert!(told.contains(home.state().to_str().expect("UTF-8")), "{told}");
    assert!(told.contains("Read-only file system") && told.contains("writable"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn a_review_in_a_state_folder_that_cannot_be_written_says_so() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let editor = ready(without_writable_state(&claude, &home)).await;
    editor.ignore("airlock/session/update");
    let session = editor.new_session().await;
    let refused = editor.request("airlock/changes/list", json!({"sessionId": session})).await;
    let why = refused.expect_err("there is nowhere to look")["message"].to_string();
    assert!(why.contains("Read-only file system") && why.contains("sandboxes"), "{why}");
    editor.shutdown().await;
    claude.finish();
}

fn without_writable_state(claude: &ScriptedClaude, home: &Home) -> EditorOptions {
    let script = "mount --bind STATE STATE; mount -o remount,bind,ro STATE"
        .replace("STATE", home.state().to_str().expect("UTF-8"));
    mounted(EditorOptions::new(claude).home(home), &script)
}
