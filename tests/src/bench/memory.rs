//! What Airlock keeps in memory: idle after a first turn, and for each further session.

use super::Measure;
use crate::editor::{Editor, EditorOptions};
use crate::scripted_claude::{Reply, ScriptedClaude};
use std::path::Path;

const FURTHER_SESSIONS: usize = 20;

pub(super) async fn resident(binary: &Path) -> [Measure; 2] {
    let claude = ScriptedClaude::start().await;
    claude.otherwise(|_| Some(Reply::says("An answer of a few words.")));
    let editor = Editor::ready(EditorOptions::new(&claude).program(binary, &["lsp"])).await;
    editor.ignore("$/progress");
    one_turn(&editor).await;
    let idle = resident_mb(&editor);
    for _ in 0..FURTHER_SESSIONS {
        one_turn(&editor).await;
    }
    let each = (resident_mb(&editor) - idle) / FURTHER_SESSIONS as f64;
    editor.shutdown().await;
    [
        Measure::new("resident memory, idle after one turn", "MB", 30.0, vec![idle]),
        Measure::new("resident memory of each further session", "MB", 5.0, vec![each]),
    ]
}

async fn one_turn(editor: &Editor) {
    let session = editor.new_session().await;
    editor.turn(&session, "Say a few words.").await;
}

/// `VmRSS` of the server's process.
fn resident_mb(editor: &Editor) -> f64 {
    let pid = editor.pid().expect("airlock runs");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS is there");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1024.0 / 1e6
}
