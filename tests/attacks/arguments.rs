//! Words that could be taken for an option or for code.

use airlock_tests::editor::Home;
use airlock_tests::workbench::Workbench;
use serde_json::json;

#[tokio::test]
async fn what_begins_with_a_dash_is_data() {
    let home = Home::new();
    home.write("-rf", "--pre=sh is here\n");
    home.write("run.sh", "touch pwned\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    let found = bench.call("search_files", json!({"pattern": "--pre=sh"})).await;
    assert!(found.contains("-rf:1"), "{found}");
    for input in [
        json!({"pattern": "x", "path": "--pre=sh"}),
        json!({"pattern": "x", "glob": "--pre=sh"}),
        json!({"pattern": "-e x --pre sh run.sh"}),
    ] {
        bench.call("search_files", input).await;
    }
    assert!(bench.call("read_file", json!({"path": "-rf"})).await.contains("is here"));
    bench.call("write_file", json!({"path": "--help", "content": "x\n"})).await;
    let listed = bench.bash("ls -A").await;
    assert!(listed.contains("--help") && !listed.contains("pwned"), "{listed}");
    bench.end().await;
}

/// CVE-2025-54795 and its like: a path or a pattern that reaches a shell.
#[tokio::test]
async fn no_word_of_a_call_reaches_a_shell() {
    let bench = Workbench::new().await;
    let words = [
        "$(touch pwned)",
        "`touch pwned`",
        "a; touch pwned",
        "a\ntouch pwned",
        "|touch pwned",
        "a && touch pwned",
    ];
    for word in words {
        bench.call("read_file", json!({"path": word})).await;
        bench.call("list_files", json!({"path": word})).await;
        bench.call("search_files", json!({"pattern": word, "path": word})).await;
        bench.call("search_files", json!({"pattern": "x", "glob": word})).await;
    }
    bench.call("write_file", json!({"path": "$(touch pwned)/`touch pwned`", "content": "x"})).await;
    assert_eq!(bench.bash("find . -name pwned").await, "");
    assert!(!bench.editor.home().workspace().join("pwned").exists());
    bench.end().await;
}

/// A regular expression that takes for ever where the engine backtracks.
#[tokio::test]
async fn a_pattern_made_to_hang_does_not() {
    let home = Home::new();
    home.write("a.txt", &format!("{}!\n", "a".repeat(50_000)));
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.call("search_files", json!({"pattern": "(a+)+$"})).await;
    bench.call("search_files", json!({"pattern": "(a|a)*b"})).await;
    let said = bench.refused("search_files", json!({"pattern": "(a{1000}){1000}"})).await;
    assert!(!said.is_empty());
    bench.end().await;
}
