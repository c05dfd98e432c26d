//! A session is open once on this machine, and what was said or changed in it is found again.

use crate::desk::{notices, ready, ready_in};
use crate::in_process::World;
use crate::review::with_files;
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::editor::{Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;

/// Its history is not locked then: that of the conversation is.
#[tokio::test]
async fn a_session_that_went_on_with_another_conversation_is_not_opened_twice() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two"]);
    let home = Home::new();
    let editor = ready_in(&claude, &home).await;
    let first = editor.new_session().await;
    editor.turn(&first, "remember me").await;
    editor.expect("airlock/session/close", json!({"sessionId": first})).await;
    let session = editor.new_session().await;
    editor.turn(&session, "/load").await;

    let other = ready_in(&claude, &home).await;
    let load = json!({"sessionId": session});
    let refused = other.request("airlock/session/load", load.clone()).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("is open in another"), "{refused}");
    assert_eq!(agent_text(&editor.turn(&session, "go on").await), "two");
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    other.expect("airlock/session/load", load).await;
    let replayed = other.updates_until(&session, "usage").await;
    assert_eq!(replayed[0]["text"], "remember me");
    editor.shutdown().await;
    other.shutdown().await;
    claude.finish();
}

/// An id tells the second in which a session began, and names the folder of its sandbox.
#[tokio::test]
async fn sessions_that_begin_at_once_in_different_workspaces_have_different_names() {
    let claude = ScriptedClaude::start().await;
    let home = tempfile::tempdir().unwrap();
    let worlds = [(); 2].map(|()| World::at(home.path(), &claude, "use_sandbox = false\n", Vec::new()));
    for _ in 0..3 {
        let [one, two] = [0, 1].map(|number| {
            let folder = home.path().join(format!("workspace-{number}"));
            std::fs::create_dir_all(&folder).unwrap();
            worlds[number].session_in(&folder)
        });
        assert_ne!(one.id(), two.id());
        one.close().await;
        two.close().await;
    }
    let open = home.path().join("state/open");
    assert_eq!(std::fs::read_dir(open).unwrap().count(), 0, "a closed session leaves nothing");
}

#[tokio::test]
async fn what_is_said_after_the_conversation_that_was_loaded_is_gone_can_be_found_again() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two", "three"]);
    let editor = ready(&claude).await;
    let (first, reader) = (editor.new_session().await, editor.new_session().await);
    editor.turn(&first, "old words").await;
    editor.expect("airlock/session/close", json!({"sessionId": first})).await;
    let session = editor.new_session().await;
    editor.turn(&session, "/load").await;
    // What was said is kept under another name, and the conversation that is left is empty.
    editor.turn(&session, "/clear").await;
    for words in ["later words", "more of them"] {
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
        editor.expect("airlock/session/load", json!({"sessionId": session})).await;
        editor.turn(&session, words).await;
    }
    assert_eq!(claude.requests().last().unwrap().messages().len(), 3, "it is one conversation");
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    let listed = agent_text(&editor.turn(&reader, "/sessions").await);
    assert!(listed.contains("later words") && listed.contains("old words"), "{listed}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn changes_outlive_a_conversation_that_was_cleared() {
    let (home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    bench.bash("echo 1 > new.txt").await;
    bench.editor.turn(&bench.session, "/clear").await;
    bench.editor.shutdown().await;
    let airlock = AirlockCommand::new(&bench.claude, &["review"]).with_home(&home).without_env("USE_SANDBOX");
    // To look at it must not make it go.
    for _ in 0..2 {
        let listed = airlock.process().output().await.expect("it runs");
        assert_eq!(String::from_utf8(listed.stdout).expect("text"), "new.txt\n@@ line 1 @@\n+1\n");
    }
    bench.claude.finish();
}

/// A conversation that is loaded comes without its changes, and what is changed after that belongs to the session in
/// which it was loaded: neither is lost from sight.
#[tokio::test]
async fn changes_before_and_after_a_load_are_both_found_again() {
    let (home, options) = with_files(&[]);
    let mut bench = Workbench::with(options).await;
    bench.bash("echo 1 > before.txt").await;
    bench.editor.expect("airlock/session/close", json!({"sessionId": bench.session})).await;
    let first = std::mem::replace(&mut bench.session, bench.editor.new_session().await);
    let updates = bench.editor.turn(&bench.session, "/load").await;
    let told = notices(&updates).iter().any(|text| text.contains(&format!("`airlock review {first}`")));
    assert!(told, "{updates:#?}");
    bench.bash("echo 2 > after.txt").await;
    let changes = bench.changes().await;
    assert_eq!((changes.len(), &changes[0]["path"]), (1, &json!("after.txt")));
    bench.editor.shutdown().await;

    let airlock = AirlockCommand::new(&bench.claude, &[]).with_home(&home).without_env("USE_SANDBOX");
    for (arguments, expected) in [(&["review"][..], "after.txt"), (&["review", &first], "before.txt")] {
        let listed = airlock.again(arguments).process().output().await.expect("it runs");
        let listed = String::from_utf8(listed.stdout).expect("text");
        assert!(listed.starts_with(expected), "{arguments:?}: {listed}");
    }
    bench.claude.finish();
}
