//! From a cancel in the middle of the stream to the end of the turn, as the editor sees it.

use super::Measure;
use crate::editor::{Editor, EditorOptions};
use crate::scripted_claude::{Gate, Reply, ScriptedClaude};
use std::path::Path;
use std::time::Instant;

const CANCELS: usize = 50;

pub(super) async fn latency(binary: &Path) -> Measure {
    let claude = ScriptedClaude::start().await;
    let editor = Editor::ready(EditorOptions::new(&claude).program(binary, &["lsp"])).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    let mut samples = Vec::with_capacity(CANCELS);
    for _ in 0..CANCELS {
        let gate = Gate::new();
        claude.push(Reply::says("One, ").gate(&gate).more("two."));
        editor.prompt(&session, "count").await;
        editor.updates_until(&session, "agent_message_chunk").await;
        let begun = Instant::now();
        editor.cancel(&session);
        let updates = editor.updates_until_turn_end(&session).await;
        samples.push(begun.elapsed().as_secs_f64() * 1000.0);
        assert_eq!(updates.last().expect("an end")["stopReason"], "cancelled");
    }
    editor.shutdown().await;
    claude.finish();
    Measure::new("cancel to the end of the turn", "ms", 100.0, samples)
}
