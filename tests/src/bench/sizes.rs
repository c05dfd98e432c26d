//! How large what is shipped is: the program in the sandbox, and what a plugin begins as.

use super::Measure;
use crate::airlock_command::AirlockCommand;
use crate::sandbox_desk::one;
use crate::scripted_claude::ScriptedClaude;
use crate::workbench::Workbench;
use std::path::{Path, PathBuf};

pub(super) async fn all(binary: &Path) -> [Measure; 2] {
    [guest(binary).await, template(binary).await]
}

async fn guest(binary: &Path) -> Measure {
    let desk = Workbench::with(|options| options.program(binary, &["lsp"])).await;
    desk.bash("true").await;
    let root = one(&desk.editor.home().state().join("airlock/sandboxes"), "root-");
    let bytes = size(&root.join(".airlock-guest"));
    desk.end().await;
    Measure::new("the program in the sandbox", "MB", 2.0, vec![bytes / 1e6])
}

/// A plugin in Rust as `airlock plugin new` makes it.
async fn template(binary: &Path) -> Measure {
    let claude = ScriptedClaude::start().await;
    let mut command = AirlockCommand::new(&claude, &["plugin", "new", "word-count"]).binary(binary);
    // The author's Rust is not in the home that this one has.
    let home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
    for (name, place) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command = command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(place).into()));
    }
    let folder = command.home().workspace().join("word-count");
    run(&command, &command.home().workspace()).await;
    run(&command.again(&["plugin", "build"]), &folder).await;
    let bytes = size(&folder.join("plugin.wasm"));
    Measure::new("a plugin in Rust as it begins", "kB", 150.0, vec![bytes / 1e3])
}

async fn run(command: &AirlockCommand, folder: &Path) {
    let output = command.process().current_dir(folder).output().await.expect("airlock starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn size(file: &Path) -> f64 {
    let found = std::fs::metadata(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    found.len() as f64
}
