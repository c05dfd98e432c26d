//! From the start of the process to its answer to `initialize`.

use super::Measure;
use crate::editor::{Editor, EditorOptions, Home};
use std::path::Path;
use std::time::Instant;

const RUNS: usize = 50;
/// Runs that only warm up the file cache.
const WARM_UP: usize = 5;

pub(super) async fn initialize(binary: &Path) -> Measure {
    let home = Home::new();
    let mut samples = Vec::with_capacity(RUNS);
    for run in 0..WARM_UP + RUNS {
        let options =
            EditorOptions::with_base_url("http://127.0.0.1:9").home(&home).program(binary, &["lsp"]);
        let started = Instant::now();
        let editor = Editor::start(options);
        editor.initialize().await;
        let took_ms = started.elapsed().as_secs_f64() * 1000.0;
        if run >= WARM_UP {
            samples.push(took_ms);
        }
        editor.shutdown().await;
    }
    Measure::new("process start to the answer to `initialize`", "ms", 20.0, samples)
}
