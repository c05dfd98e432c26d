//! Text that does something where it is shown. What a tool says is neutralised by whoever shows it: the terminal and both
//! editors have tests of that. What the server itself makes of untrusted words is tested here.

use airlock_tests::editor::agent_text;
use airlock_tests::workbench::Workbench;
use serde_json::json;

pub(super) fn is_harmless(text: &str) -> bool {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    !text.chars().any(bad)
}

#[tokio::test]
async fn a_title_that_rewrites_the_screen_or_turns_the_reading_round_is_shown_as_it_is() {
    let bench = Workbench::new().await;
    let command = "echo \u{1b}[2J\u{202e}lived\u{202c} \u{1b}]0;x\u{7} \u{e0041}";
    let (_, updates) = bench.call_with_updates("bash", json!({"command": command})).await;
    let titles: Vec<&str> = updates.iter().filter_map(|update| update["title"].as_str()).collect();
    assert!(!titles.is_empty() && titles.iter().all(|title| is_harmless(title)), "{titles:?}");
    bench.end().await;
}

#[tokio::test]
async fn names_in_the_list_of_changes_are_shown_as_they_are() {
    let bench = Workbench::new().await;
    bench.bash("echo x > $'a\\nb'; echo x > $'\\e[2Kgone'; echo x > $'safe\\u202etxt.exe'").await;
    let shown = agent_text(&bench.editor.turn(&bench.session, "/changes").await);
    assert!(is_harmless(&shown) && !shown.contains("a\nb") && shown.contains("gone"), "{shown:?}");
    bench.end().await;
}
