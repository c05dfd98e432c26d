//! A recorded stream, cut at every byte: the turn ends once, what was shown is kept, and the next prompt works.

use crate::in_process::{World, ending, said, turn};
use airlock::agent::update::StopReason;
use airlock_tests::scripted_claude::{Received, Reply, ScriptedClaude, assert_append_only};
use futures::StreamExt;
use serde_json::json;

/// Every kind of block, and characters of every length.
fn recorded() -> Reply {
    Reply::new()
        .thinking("hm", "sig")
        .text_in(["Grüße, ", "世界 😀"])
        .tool_use("toolu_1", "read_file", json!({"path": "ä"}))
        .tool_use("toolu_2", "bash", json!({"command": "ls"}))
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The connection breaks.
    Broken(usize),
    /// The body ends as if that were all.
    Ended(usize),
}

/// Answers the prompt `cut N` with the recorded stream, cut as that number of the list says.
fn answer(cuts: &[Cut], request: &Received) -> Reply {
    let asked = request.last_user_text();
    if asked.contains("And now?") {
        return "All is well.".into();
    }
    match asked.lines().find_map(|line| line.strip_prefix("cut ")?.parse::<usize>().ok()) {
        Some(number) => match cuts[number] {
            Cut::Broken(at) => recorded().cut_after(at),
            Cut::Ended(at) => recorded().end_after(at),
        },
        None => "No tools, then.".into(),
    }
}

/// One session: a turn whose answer is cut, and the next one.
async fn check(world: &World, claude: &ScriptedClaude, number: usize, cut: Cut) {
    let prompt = format!("cut {number}");
    let session = world.session();
    let first = turn(&session, &prompt).await;
    let second = turn(&session, "And now?").await;
    session.close().await;
    assert_eq!((ending(&second), said(&second).as_str()), (StopReason::EndTurn, "All is well."), "{cut:?}");
    let requests = claude.requests_of(&format!("{prompt}\n"));
    assert_append_only(&requests);
    let sent = requests.last().expect("a request").body["messages"].to_string();
    for piece in ["Grüße, ", "世界 😀"] {
        assert_eq!(said(&first).contains(piece), sent.contains(piece), "{cut:?}: what was shown is kept");
    }
    // Whole messages only: their calls ran, and the model heard of it.
    let whole = ending(&first) == StopReason::EndTurn;
    assert_eq!(sent.contains("\"tool_use\""), whole, "{cut:?}");
    assert_eq!(requests.len(), if whole { 3 } else { 2 }, "{cut:?}");
}

async fn check_all(cuts: Vec<Cut>) {
    let claude = ScriptedClaude::start().await;
    let script = cuts.clone();
    claude.otherwise(move |request| Some(answer(&script, request)));
    // Without tries, so that a cut before any text ends the turn, too, and at once.
    let world = World::new(&claude, "retries = 0", Vec::new());
    let numbered = cuts.iter().copied().enumerate();
    let checks = numbered.map(|(number, cut)| check(&world, &claude, number, cut));
    futures::stream::iter(checks).buffer_unordered(8).collect::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_stream_is_cut_the_turn_ends_once_and_the_next_works() {
    let bytes = recorded().sse_bytes();
    // Both ways around the end of an event, and in turn elsewhere.
    let near_end =
        |at: usize| bytes[at.saturating_sub(2)..bytes.len().min(at + 2)].windows(2).any(|it| it == b"\n\n");
    let cuts_at = |at: usize| match (near_end(at), at % 2) {
        (true, _) => vec![Cut::Broken(at), Cut::Ended(at)],
        (_, 0) => vec![Cut::Broken(at)],
        _ => vec![Cut::Ended(at)],
    };
    let all: Vec<Cut> = (0..=bytes.len()).flat_map(cuts_at).collect();
    // A Claude for fifty at a time: each keeps every request.
    for cuts in all.chunks(50) {
        check_all(cuts.to_vec()).await;
    }
}
