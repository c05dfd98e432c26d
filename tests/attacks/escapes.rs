//! Text that does something where it is shown.

use airlock_tests::editor::agent_text;
use airlock_tests::workbench::Workbench;
use serde_json::json;

/// A screen that obeys, a clipboard that is filled, a title, a link that lies, letters that cannot be seen.
const TRICKS: &str = "printf '\\033]52;c;ZXZpbA==\\007\\033[2J\\033[1;31mred\\033]0;title\\007\\033]8;;http://evil\\033\\\\click\\033]8;;\\033\\\\ \\u202eevil\\u2066 \\U000e0041\\U000e0042 \\u200b\\x9b31m done'";

fn is_harmless(text: &str) -> bool {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    !text.chars().any(bad)
}

#[tokio::test]
async fn what_a_command_says_is_neutralised_where_it_is_shown() {
    let bench = Workbench::new().await;
    let (_, updates) = bench.call_with_updates("bash", json!({"command": TRICKS})).await;
    let shown: String = updates.iter().filter_map(|update| update["output"].as_str()).collect();
    assert!(shown.contains("done") && is_harmless(&shown), "{shown:?}");
    for update in &updates {
        for field in ["title", "text", "detail"] {
            let text = update[field].as_str().unwrap_or_default();
            assert!(is_harmless(text), "{field}: {text:?}");
        }
    }
    bench.end().await;
}

#[tokio::test]
async fn a_title_of_a_call_is_neutralised_too() {
    let bench = Workbench::new().await;
    let command = "echo \u{1b}[2J\u{202e}lived\u{202c} \u{1b}]0;x\u{7}";
    let (_, updates) = bench.call_with_updates("bash", json!({"command": command})).await;
    let titles: Vec<&str> = updates.iter().filter_map(|update| update["title"].as_str()).collect();
    assert!(!titles.is_empty() && titles.iter().all(|title| is_harmless(title)), "{titles:?}");
    let shown = agent_text(&bench.editor.turn(&bench.session, "/cost").await);
    assert!(is_harmless(&shown), "{shown:?}");
    bench.end().await;
}
