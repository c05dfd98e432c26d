//! The built-in slash commands over LSP: each is a turn with one end, and none but `/compact` asks the model.

use crate::desk::{error_of, notices, ready, ready_in, stop_reason};
use airlock_tests::editor::{Home, agent_text, kinds};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[tokio::test]
async fn a_command_that_only_tells_something_answers_without_the_model() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    for (command, told) in [
        ("/help", "`/load [session]`"),
        ("/cost", "input: 0 tokens"),
        ("/tools", "`bash`"),
        ("/sessions", "none yet"),
        ("/model", "claude-sonnet-5"),
        ("/trust", "nothing to trust"),
        ("/trust off", "was not trusted"),
    ] {
        let updates = editor.turn(&session, command).await;
        let kinds: Vec<&str> = kinds(&updates).into_iter().filter(|kind| *kind != "commands").collect();
        assert_eq!(kinds, ["agent_message_chunk", "turn_end"], "{command}");
        assert_eq!(stop_reason(&updates), "end_turn", "{command}");
        let text = agent_text(&updates);
        let expected = if command == "/trust" { "no instructions, commands or configuration" } else { told };
        assert!(text.contains(expected), "{command} said {text}");
    }
    assert_eq!(claude.hits(), 0);
    editor.shutdown().await;
}

#[tokio::test]
async fn every_command_that_is_offered_is_in_the_help() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let opened = editor.expect("airlock/session/new", json!({})).await;
    let names: Vec<&str> =
        opened["commands"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let expected = [
        "help", "changes", "review", "accept", "reject", "undo", "clear", "commit", "compact", "cost",
        "load", "model", "pr", "push", "quit", "sessions", "tools", "trust",
    ];
    assert_eq!(names, expected);
    let help = agent_text(&editor.turn(opened["sessionId"].as_str().unwrap(), "/help").await);
    for name in expected {
        assert!(help.contains(&format!("`/{name}")), "{name} is missing: {help}");
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn a_typo_gets_the_nearest_name_and_never_reaches_the_model() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    for (typed, meant) in
        [("/hepl", "/help"), ("/mdoel x", "/model"), ("/se", "/sessions"), ("/zzzzzzzz", "/help")]
    {
        let updates = editor.turn(&session, typed).await;
        assert_eq!(kinds(&updates), ["turn_end"]);
        assert!(error_of(&updates).contains(meant), "{typed}: {}", error_of(&updates));
    }
    assert_eq!(claude.hits(), 0);
    claude.push("It is fine.");
    let updates = editor.turn(&session, "/etc/hosts is broken").await;
    assert_eq!(agent_text(&updates), "It is fine.", "a path is no command");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn after_clear_the_model_sees_only_what_is_new_and_the_old_can_be_loaded() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two", "three"]);
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.turn(&session, "the old question").await;
    let cleared = agent_text(&editor.turn(&session, "/clear").await);
    let kept = cleared.split('`').nth(1).and_then(|load| load.strip_prefix("/load ")).unwrap().to_owned();
    editor.turn(&session, "the new question").await;
    let requests = claude.requests();
    assert_eq!(requests[1].messages().len(), 1);
    assert!(!requests[1].body.to_string().contains("the old question"));

    let replayed = editor.turn(&session, &format!("/load {kept}")).await;
    assert_eq!(kinds(&replayed), ["user_message", "agent_message_chunk", "usage", "notice", "turn_end"]);
    assert_eq!(replayed[0]["text"], "the old question");
    editor.turn(&session, "go on").await;
    let request = claude.requests().pop().unwrap();
    assert_eq!(request.messages().len(), 3);
    assert!(request.first_user_text().contains("the old question"));
    assert!(!request.body.to_string().contains("the new question"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn load_without_a_name_takes_the_latest_other_conversation() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two"]);
    let home = Home::new();
    let editor = ready_in(&claude, &home).await;
    let first = editor.new_session().await;
    let empty = editor.turn(&first, "/load").await;
    assert!(error_of(&empty).contains("no earlier conversation"), "{empty:#?}");
    editor.turn(&first, "remember me").await;
    let busy = editor.new_session().await;
    let taken = editor.turn(&busy, &format!("/load {first}")).await;
    assert!(error_of(&taken).contains("is open in another"), "{taken:#?}");
    editor.expect("airlock/session/close", json!({"sessionId": first})).await;

    let listed = agent_text(&editor.turn(&busy, "/sessions").await);
    assert!(listed.contains(&first) && listed.contains("remember me"), "{listed}");
    let replayed = editor.turn(&busy, "/load").await;
    assert_eq!(replayed[0]["text"], "remember me");
    editor.turn(&busy, "more").await;
    assert_eq!(claude.requests()[1].messages().len(), 3);
    for nonsense in ["/load ../../etc/passwd", "/load 19990101-000000"] {
        let updates = editor.turn(&busy, nonsense).await;
        assert!(error_of(&updates).contains("/sessions lists"), "{updates:#?}");
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn loading_the_conversation_one_is_in_says_so_and_changes_nothing() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two"]);
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.turn(&session, "first").await;
    let updates = editor.turn(&session, &format!("/load {session}")).await;
    assert!(error_of(&updates).contains("the conversation that you are in"), "{updates:#?}");
    editor.turn(&session, "second").await;
    assert_eq!(claude.requests()[1].messages().len(), 3);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_conversation_that_was_left_for_another_can_be_found_again() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two", "three"]);
    let editor = ready(&claude).await;
    let (first, second) = (editor.new_session().await, editor.new_session().await);
    for (session, words) in [(&first, "alpha"), (&second, "beta")] {
        editor.turn(session, words).await;
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    }
    let reader = editor.new_session().await;
    for (session, words) in [(&first, "alpha"), (&second, "beta")] {
        let replayed = editor.turn(&reader, &format!("/load {session}")).await;
        assert_eq!(replayed[0]["text"], words);
    }
    editor.expect("airlock/session/close", json!({"sessionId": reader})).await;
    for (session, words) in [(&first, "alpha"), (&reader, "beta")] {
        editor.expect("airlock/session/load", json!({"sessionId": session})).await;
        let replayed = editor.updates_until(session, "usage").await;
        assert_eq!(replayed[0]["text"], words, "{session} is what it was, or what it last went on with");
    }
    editor.turn(&reader, "go on").await;
    assert!(claude.requests()[2].first_user_text().contains("beta"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_unknown_model_is_refused_with_advice_and_a_known_one_answers_next() {
    let claude = ScriptedClaude::start().await;
    claude.push("ok");
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let refused = editor.turn(&session, "/model claude-nonsense-9").await;
    let why = error_of(&refused);
    assert!(why.contains("claude-nonsense-9") && why.contains("/model NAME"), "{why}");
    assert!(agent_text(&editor.turn(&session, "/model").await).contains("claude-sonnet-5"));
    editor.turn(&session, "/model claude-haiku-4-5").await;
    editor.turn(&session, "hi").await;
    let models: Vec<Value> = claude.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["claude-haiku-4-5"]);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn compact_goes_on_from_the_summary_and_refuses_where_there_is_nothing() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["The answer is 42.", "SUMMARY: we spoke of 42.", "Yes."]);
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let nothing = editor.turn(&session, "/compact").await;
    assert!(error_of(&nothing).contains("nothing to summarise"), "{nothing:#?}");
    editor.turn(&session, "What is it?").await;
    let updates = editor.turn(&session, "/compact").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert!(agent_text(&updates).contains("tokens became about"), "{updates:#?}");
    assert!(notices(&updates)[0].contains("summarised"), "{updates:#?}");
    editor.turn(&session, "Sure?").await;
    let request = claude.requests().pop().unwrap();
    assert!(request.first_user_text().contains("SUMMARY: we spoke of 42."), "{:#}", request.body);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn cost_counts_every_token_and_knows_the_price_the_user_gave() {
    let claude = ScriptedClaude::start().await;
    let home = Home::new();
    let prices =
        "[prices.\"claude-sonnet-5\"]\ninput = 1000.0\noutput = 2000\ncache_read = 0\ncache_write = 0\n";
    crate::desk::configure(&home, "config.toml", prices);
    claude.push(airlock_tests::scripted_claude::Reply::says("ok").usage(1000, 500).cached(70, 30));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "hi").await;
    let text = agent_text(&editor.turn(&session, "/cost").await);
    for part in ["input: 1000 tokens", "output: 500 tokens", "from cache: 70", "to cache: 30", "$2.0000"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn quit_closes_the_session_and_what_was_said_can_be_loaded() {
    let claude = ScriptedClaude::start().await;
    claude.replies(["one", "two"]);
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    editor.turn(&session, "first").await;
    let updates = editor.turn(&session, "/quit").await;
    assert_eq!(kinds(&updates), ["turn_end"]);
    let prompt = json!({"sessionId": session, "text": "anyone there?"});
    let refused = editor.request("airlock/session/prompt", prompt).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("open"), "{refused}");
    editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    editor.updates_until(&session, "usage").await;
    editor.turn(&session, "second").await;
    assert_eq!(claude.requests()[1].messages().len(), 3);
    editor.shutdown().await;
    claude.finish();
}
