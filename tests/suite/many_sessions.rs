//! Many sessions in one server, and two servers on one workspace: no deadlock, and nothing crossed.

use crate::in_process::World;
use crate::world::{next_prompt_works, ready, ready_with, stop_reason};
use airlock::limits::{ALLOCATOR_POOLS_MAX, SESSIONS_MAX};
use airlock_tests::editor::{EditorOptions, ServerRequest, agent_text};
use airlock_tests::scripted_claude::{Gate, Received, Reply, ScriptedClaude, assert_append_only};
use airlock_tests::traces::allocator_pools;
use pretty_assertions::assert_eq;
use serde_json::json;

const SESSIONS: usize = 8;

/// A request of the session with this marker, with so many messages in it.
fn asks(marker: &str, messages: usize) -> impl Fn(&Received) -> bool + Send + 'static {
    let marker = marker.to_owned();
    move |request| request.first_user_text().contains(&marker) && request.messages().len() == messages
}

/// What one session's model says: three times the same call, and after the question an answer in two halves.
fn script(claude: &ScriptedClaude, marker: &str, held: &Gate, half: &Gate) {
    for round in 0..3 {
        let call = Reply::says(&format!("{marker} round {round}. "));
        let call = call.tool_use(&format!("toolu_{marker}_{round}"), "bash", json!({"command": marker}));
        claude.on_request(asks(marker, 1 + 2 * round), if round == 0 { call.hold(held) } else { call });
    }
    claude.on_request(asks(marker, 7), Reply::says(&format!("{marker} half, ")).gate(half).more("whole."));
}

#[tokio::test]
async fn eight_sessions_stream_and_wait_for_permission_at_once_and_nothing_is_crossed() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let (held, half) = (Gate::new(), Gate::new());
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let (marker, session) = (format!("marker-{number}-"), editor.new_session().await);
        script(&claude, &marker, &held, &half);
        editor.prompt(&session, &marker).await;
        sessions.push((marker, session));
    }
    claude.wait_for_requests(SESSIONS).await;
    held.open();
    let mut questions: Vec<ServerRequest> = Vec::new();
    for _ in 0..SESSIONS {
        questions.push(editor.next_server_request("airlock/permission").await);
    }
    // All wait for their answers, and the server still answers others.
    assert!(editor.expect("airlock/session/list", json!({})).await["sessions"].is_array());
    for question in questions.into_iter().rev() {
        let (marker, _) =
            sessions.iter().find(|(_, session)| question.params["sessionId"] == *session).unwrap();
        assert_eq!(question.params["toolCallId"], format!("toolu_{marker}_2"));
        assert!(question.params["detail"].as_str().unwrap().contains(marker), "{}", question.params);
        question.respond(json!({"optionId": "continue"}));
    }
    // All stream.
    claude.wait_for_requests(4 * SESSIONS).await;
    half.open();
    for (marker, session) in &sessions {
        let updates = editor.updates_until_turn_end(session).await;
        assert_eq!(stop_reason(&updates), "end_turn");
        let said: String = (0..3).map(|round| format!("{marker} round {round}. ")).collect();
        assert_eq!(agent_text(&updates), format!("{said}{marker} half, whole."));
        let calls = updates.iter().filter(|update| update["kind"] == "tool_call");
        assert!(calls.into_iter().all(|call| call["input"]["command"] == **marker), "{updates:#?}");
        assert_append_only(&claude.requests_of(marker));
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_server_with_many_sessions_has_few_pools_of_memory() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    for _ in 0..SESSIONS {
        let session = editor.new_session().await;
        next_prompt_works(&editor, &claude, &session).await;
    }
    let pools = 1 + allocator_pools(editor.pid().unwrap());
    assert!(pools <= ALLOCATOR_POOLS_MAX as usize, "{pools} pools");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_question_that_nobody_answers_holds_up_no_other_session() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let open = Gate::new();
    open.open();
    let mut asked = Vec::new();
    for number in 0..SESSIONS {
        let (marker, session) = (format!("marker-{number}-"), editor.new_session().await);
        script(&claude, &marker, &open, &open);
        editor.prompt(&session, &marker).await;
        drop(editor.next_server_request("airlock/permission").await);
        asked.push(session);
    }
    let other = editor.new_session().await;
    claude.push("Hello.");
    assert_eq!(agent_text(&editor.turn(&other, "Hi").await), "Hello.");
    for session in &asked {
        editor.cancel(session);
        assert_eq!(stop_reason(&editor.updates_until_turn_end(session).await), "cancelled");
        editor.next_notification("$/cancelRequest").await;
    }
    editor.shutdown().await;
}

#[tokio::test]
async fn two_editors_on_one_workspace_keep_two_histories() {
    let claude = ScriptedClaude::start().await;
    let first = ready(&claude).await;
    let second = ready_with(EditorOptions::new(&claude).home(first.home())).await;
    let (one, two) = (first.new_session().await, second.new_session().await);
    assert_ne!(one, two, "also when both were opened in the same second");
    let gate = Gate::new();
    for (editor, session, marker) in [(&first, &one, "marker-1"), (&second, &two, "marker-2")] {
        claude
            .on_request(asks(marker, 1), Reply::says(&format!("{marker} half, ")).gate(&gate).more("whole."));
        editor.prompt(session, marker).await;
    }
    claude.wait_for_requests(2).await;
    gate.open();
    for (editor, session, marker) in [(&first, &one, "marker-1"), (&second, &two, "marker-2")] {
        let updates = editor.updates_until_turn_end(session).await;
        assert_eq!(agent_text(&updates), format!("{marker} half, whole."));
        let listed = editor.expect("airlock/session/list", json!({})).await;
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 2, "{listed}");
    }
    first.shutdown().await;
    // What the one left, the other goes on with.
    second.expect("airlock/session/load", json!({"sessionId": one})).await;
    assert_eq!(agent_text(&second.updates_until(&one, "usage").await), "marker-1 half, whole.");
    claude.on_request(asks("marker-1", 3), "Still here.");
    assert_eq!(agent_text(&second.turn(&one, "And now?").await), "Still here.");
    assert_append_only(&claude.requests_of("marker-1"));
    claude.on_request(asks("marker-2", 3), "Here, too.");
    assert_eq!(agent_text(&second.turn(&two, "And now?").await), "Here, too.");
    second.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_editor_that_goes_away_in_a_turn_leaves_a_whole_history_and_no_process() {
    let claude = ScriptedClaude::start().await;
    let mut editor = ready(&claude).await;
    let home = editor.home().clone();
    let session = editor.new_session().await;
    let gate = Gate::new();
    claude.push(Reply::says("Half").gate(&gate).more(" never."));
    editor.prompt(&session, "go").await;
    editor.updates_until(&session, "agent_message_chunk").await;
    editor.ignore_unread();
    editor.close_stdin();
    editor.exit_status().await;
    claude.wait_for_hangups(1).await;
    let editor = ready_with(EditorOptions::new(&claude).home(&home)).await;
    editor.expect("airlock/session/load", json!({"sessionId": session})).await;
    let shown = agent_text(&editor.updates_until(&session, "usage").await);
    assert_eq!(shown, "Half[stopped by the user]");
    next_prompt_works(&editor, &claude, &session).await;
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_server_whose_editor_stopped_reading_still_hears_its_end() {
    let claude = ScriptedClaude::start().await;
    let mut editor = ready(&claude).await;
    let session = editor.new_session().await;
    let piece = "x".repeat(1 << 20);
    let gate = Gate::new();
    // More than the pipe, the queues and the outbox hold together; the connection holds the rest.
    claude.push(Reply::new().text_in(std::iter::repeat_n(piece.as_str(), 6)).gate(&gate));
    editor.prompt(&session, "go").await;
    editor.pause_reading();
    editor.ignore_unread();
    gate.reached().await;
    editor.close_stdin();
    editor.exited_unread().await;
    editor.resume_reading();
    editor.exit_status().await;
}

#[tokio::test]
async fn one_session_too_many_is_refused_and_leaves_nothing_behind() {
    let claude = ScriptedClaude::start().await;
    let world = World::new(&claude, "", Vec::new());
    let sessions: Vec<_> = (0..SESSIONS_MAX).map(|_| world.session()).collect();
    let refused = world.try_session().err().expect("a refusal");
    assert!(refused.to_string().contains("close one first"), "{refused}");
    assert_eq!(world.histories().len(), SESSIONS_MAX);
    sessions[0].close().await;
    world.session();
}
