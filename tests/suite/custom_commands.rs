//! Slash commands that are markdown files, over LSP: found, expanded in one pass, and with words when they are broken.

use crate::desk::{configure, error_of, notices, ready_in, trust};
use airlock_tests::editor::{Home, agent_text, kinds};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn the_users_own_commands_need_no_trust_and_folders_are_namespaces() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["one", "two", "three"]);
    configure(&home, "commands/git/commit.md", "Commit $1 and then $2.\nAll: $ARGUMENTS; costs $100 \\$1\n");
    configure(&home, "commands/plain.md", "---\ndescription: Just do it\nargument-hint: [what]\n---\nDo it.");
    let editor = ready_in(&claude, &home).await;
    let opened = editor.expect("airlock/session/new", json!({})).await;
    let session = opened["sessionId"].as_str().unwrap();
    let commands = opened["commands"].as_array().unwrap();
    let plain = json!({"name": "plain", "description": "Just do it", "hint": "[what]"});
    assert!(commands.contains(&plain), "{commands:#?}");

    let updates = editor.turn(session, "/git:commit 'a b' $1").await;
    let expected = "Commit a b and then $1.\nAll: 'a b' $1; costs $100 $1";
    assert_eq!(updates[0]["kind"], "user_message");
    assert_eq!(updates[0]["text"].as_str().unwrap().trim(), expected);
    assert_eq!(last_words(&claude), expected);
    editor.turn(session, "/plain now").await;
    assert_eq!(last_words(&claude), "Do it.\n\nARGUMENTS: now");
    editor.turn(session, "/plain").await;
    assert_eq!(last_words(&claude), "Do it.");
    let typo = editor.turn(session, "/git:comit").await;
    assert!(error_of(&typo).contains("/git:commit"), "{typo:#?}");
    assert_eq!(claude.requests().len(), 3);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_unsaved_buffer_wins_over_the_disk_for_a_mentioned_file() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["one", "two", "three"]);
    home.write("notes.txt", "as saved\n");
    home.write("other notes.txt", "other saved\n");
    configure(&home, "commands/look.md", "Look at @notes.txt and @$1");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "/look nothing.txt").await;
    assert!(last_words(&claude).contains("as saved"), "{}", last_words(&claude));
    editor.open(&home.file_uri("notes.txt"), "being written\n");
    // An editor's own way to escape a name.
    editor.open(&home.file_uri("other%20notes.t%78t"), "other being written\n");
    editor.turn(&session, "/look \"other notes.txt\"").await;
    let words = last_words(&claude);
    assert!(words.contains("being written") && words.contains("other being written"), "{words}");
    assert!(!words.contains("saved"), "{words}");
    editor.turn(&session, "And @notes.txt, please").await;
    let message = claude.requests().pop().unwrap().last_user_text();
    assert!(message.contains("<context file=\"notes.txt\">\nbeing written\n</context>"), "{message}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_mention_that_leads_out_of_the_workspace_stays_plain_text() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("ok");
    std::fs::write(home.path().join("secret"), "THE SECRET").unwrap();
    std::os::unix::fs::symlink(home.path().join("secret"), home.workspace().join("link")).unwrap();
    std::os::unix::fs::symlink(home.path(), home.workspace().join("folder")).unwrap();
    configure(&home, "commands/leak.md", "@link @folder/secret @../secret @~/secret @/etc/passwd");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "/leak").await;
    assert_eq!(notices(&updates).len(), 5, "{updates:#?}");
    let body = claude.requests().pop().unwrap().body.to_string();
    assert!(!body.contains("THE SECRET") && !body.contains("root:"), "{body}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_commands_model_answers_that_turn_only() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.replies(["one", "two"]);
    configure(&home, "commands/quick.md", "---\nmodel: claude-haiku-4-5\n---\nBe quick.");
    configure(&home, "commands/wrong.md", "---\nmodel: claude-nonsense-9\n---\nBe quick.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "/quick").await;
    editor.turn(&session, "and now?").await;
    let models: Vec<Value> = claude.requests().iter().map(|it| it.body["model"].clone()).collect();
    assert_eq!(models, ["claude-haiku-4-5", "claude-sonnet-5"]);
    let wrong = editor.turn(&session, "/wrong").await;
    assert!(error_of(&wrong).contains("claude-nonsense-9"), "{wrong:#?}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn broken_front_matter_is_named_with_file_and_line_and_the_rest_works() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("fine");
    let broken = configure(&home, "commands/broken.md", "---\nmodel: m\ndescription: a: b\n---\nText");
    let open = configure(&home, "commands/open.md", "---\ndescription: x\nText");
    configure(&home, "commands/good.md", "Good.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "/broken").await;
    let place = format!("{}:3: the front matter cannot be read", broken.display());
    assert!(notices(&updates)[0].starts_with(&place), "{updates:#?}");
    assert!(notices(&updates)[1].starts_with(&format!("{}:1: ", open.display())), "{updates:#?}");
    assert!(error_of(&updates).contains(&place), "{updates:#?}");
    assert_eq!(agent_text(&editor.turn(&session, "/good").await), "fine");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn names_that_clash_are_told_and_the_nearest_home_wins() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    claude.push("ok");
    configure(&home, "commands/fix.md", "The user's.");
    configure(&home, "commands/help.md", "Not this.");
    home.write(".airlock/commands/fix.md", "Airlock's.");
    home.write(".claude/commands/fix.md", "Claude's.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (_, updates) = trust(&editor, &session).await;
    let told = notices(&updates);
    for part in ["/help is hidden by the built-in", ".claude/commands/fix.md: /fix is hidden by"] {
        assert!(told.iter().any(|text| text.contains(part)), "{part}: {told:#?}");
    }
    let updates = editor.turn(&session, "/fix").await;
    assert_eq!(kinds(&updates), ["user_message", "agent_message_chunk", "usage", "turn_end"]);
    assert_eq!(last_words(&claude), "Airlock's.");
    editor.shutdown().await;
    claude.finish();
}

/// The text that the user said last, as the model got it.
fn last_words(claude: &ScriptedClaude) -> String {
    let request = claude.requests().pop().expect("a request");
    let content = request.messages().last().expect("a message")["content"].clone();
    let last = content.as_array().expect("blocks").last().expect("a block").clone();
    last["text"].as_str().expect("text").trim().to_owned()
}
