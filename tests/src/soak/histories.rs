//! Every conversation is loaded once more, in a server of its own: it must be whole, and what the model knows.

use super::mind::Mind;
use super::says::Say;
use super::visit::Kept;
use crate::editor::{Editor, EditorOptions, Home};
use crate::scripted_claude::{Reply, ScriptedClaude};
use crate::traces::entries;
use airlock::agent::history::Loaded;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What does not hold, a line each.
pub(super) async fn check(home: &Home, mind: &Mind, kept: Vec<Kept>) -> Vec<String> {
    let claude = ScriptedClaude::start().await;
    let thinking = mind.clone();
    claude.otherwise(move |request| thinking.answer(request));
    let mut faults = files(home, &kept);
    let editor = Editor::ready(EditorOptions::new(&claude).home(home)).await;
    editor.ignore("$/progress");
    for Kept { session, mark, .. } in kept {
        let loaded = editor.request("airlock/session/load", json!({"sessionId": session})).await;
        if let Err(error) = loaded {
            faults.push(format!("the history {session} cannot be loaded: {error}"));
            continue;
        }
        mind.prepare(&mark, vec![Say::whole(Reply::says("Whole."))]);
        let updates = editor.turn(&session, &format!("{mark} and now?")).await;
        let end = updates.last().expect("a turn's end");
        if end["stopReason"] != "end_turn" {
            faults.push(format!("the history {session} cannot be gone on with: {end}"));
        }
        editor.expect("airlock/session/close", json!({"sessionId": session})).await;
        editor.take_all(|message| message["params"]["sessionId"] == *session);
        claude.forget_requests();
    }
    editor.shutdown().await;
    faults.extend(mind.take_faults());
    faults.extend(claude.take_problems());
    faults
}

/// The files as they are on the disk: those of the sessions and no other, each whole.
fn files(home: &Home, kept: &[Kept]) -> Vec<String> {
    let mut faults = Vec::new();
    let folders = entries(home.state().join("airlock/history"));
    let files: Vec<PathBuf> = folders.into_iter().flat_map(entries).collect();
    let stem = |file: &PathBuf| file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let found: BTreeSet<String> = files.iter().filter_map(stem).collect();
    let expected: BTreeSet<String> = kept.iter().map(|kept| kept.session.clone()).collect();
    faults.extend(expected.difference(&found).map(|id| format!("the history {id} is gone")));
    faults
        .extend(found.difference(&expected).map(|id| format!("{id} is among the histories and is nobody's")));
    for file in files {
        let bytes = std::fs::read(&file).expect("a file");
        let loaded = Loaded::from_bytes(&bytes);
        if loaded.lost_lines > 0 || loaded.whole_bytes != bytes.len() || loaded.to_append.is_some() {
            let (lost, torn) = (loaded.lost_lines, bytes.len() - loaded.whole_bytes);
            let what = format!("{lost} lines cannot be read, {torn} bytes are torn");
            let open = if loaded.to_append.is_some() { ", calls have no result" } else { "" };
            faults.push(format!("{} is not whole: {what}{open}", file.display()));
        }
    }
    faults
}
