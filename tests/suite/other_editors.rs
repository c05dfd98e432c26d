//! Airlock as an ordinary language server in editors that know nothing of it: the real Helix and the real Emacs, set up as
//! `server/docs/editors.md` says, with a real sandbox.

use airlock_tests::deadline::DEADLINE;
use airlock_tests::editor::Home;
use airlock_tests::other_editors::{emacs, helix};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::terminal::Terminal;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

/// How often something is looked at that tells nobody when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(300);

async fn a_claude_that_changes_a_file() -> (ScriptedClaude, Home) {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("poem.txt", "old\n");
    claude
        .push(Reply::calls("toolu_1", "bash", json!({"command": "echo new > poem.txt"})))
        .push("It rhymes now.");
    (claude, home)
}

/// How long Helix has for its menu of code actions before it is asked again.
const MENU_PATIENCE: Duration = Duration::from_secs(3);

/// Opens Helix's menu of code actions. There is none before its server is there, and Helix does not always say so. Asked
/// again too soon, it would open a second menu over what comes next.
async fn open_menu_of_helix(terminal: &Terminal) {
    let since = Instant::now();
    loop {
        terminal.press(&["Escape"]);
        terminal.wait("no menu and no message", |screen| !screen.contains("No c")).await;
        terminal.press(&["x", "Space", "a"]);
        let answered = |screen: &str| screen.contains("Ask Airlock…") || screen.contains("No c");
        let menu = terminal.wait("the menu, or that there is none", answered);
        if let Ok(screen) = tokio::time::timeout(MENU_PATIENCE, menu).await
            && screen.contains("Ask Airlock…")
        {
            return;
        }
        assert!(since.elapsed() < DEADLINE, "there is never a code action:\n{}", terminal.screen());
    }
}

async fn poem_is_new(home: &Home, terminal: &Terminal) {
    let since = Instant::now();
    while std::fs::read_to_string(home.workspace().join("poem.txt")).expect("a poem") != "new\n" {
        assert!(since.elapsed() < DEADLINE, "it is never accepted:\n{}", terminal.screen());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn helix_asks_shows_the_answer_and_accepts() {
    let (claude, home) = a_claude_that_changes_a_file().await;
    home.write("main.rs", "fn main() {}\n");
    let made = Command::new("git").args(["init", "--quiet"]).arg(home.workspace()).status();
    assert!(made.expect("git starts").success());
    let terminal = helix(&claude, &home, "main.rs");
    terminal.wait_for("fn main").await;
    open_menu_of_helix(&terminal).await;
    terminal.press(&["Enter"]);
    terminal.wait_for("Write your question below").await;
    terminal.press(&["g", "e", "o"]);
    terminal.wait_for(" INS ").await;
    terminal.type_text("Make the poem rhyme.");
    terminal.wait_for("Make the poem rhyme.").await;
    // Escape and what follows at once would be one key.
    terminal.press(&["Escape"]);
    terminal.wait_for(" NOR ").await;
    terminal.send(":w");
    terminal.wait_for("It rhymes now.").await;
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.contains("Make the poem rhyme.") && asked.contains("fn main() {}"), "{asked}");
    terminal.wait_for("Airlock changed one file").await;
    terminal.send(":lsp-workspace-command airlock.accept");
    poem_is_new(&home, &terminal).await;
    terminal.send(":qa!");
    assert_eq!(terminal.wait_for_end().await, 0);
    claude.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn emacs_asks_shows_the_answer_and_accepts() {
    let (claude, home) = a_claude_that_changes_a_file().await;
    home.write("notes.txt", "roses are red\n");
    let terminal = emacs(&claude, &home, "notes.txt");
    terminal.wait_for("[eglot:").await;
    terminal.press(&["C-x", "h", "M-x"]);
    terminal.send("eglot-code-actions");
    terminal.wait_for("Ask Airlock…").await;
    terminal.press(&["Enter"]);
    terminal.wait_for("Choose an option: Explain").await;
    terminal.press(&["Enter"]);
    terminal.wait_for("Choose an option: Accept all").await;
    terminal.press(&["Enter"]);
    terminal.wait_for("It rhymes now.").await;
    let asked = claude.requests()[0].last_user_text();
    assert!(asked.contains("Explain this.") && asked.contains("roses are red"), "{asked}");
    poem_is_new(&home, &terminal).await;
    terminal.press(&["C-x", "C-c"]);
    claude.finish();
}
