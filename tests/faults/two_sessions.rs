//! Two sessions, and two editors, on one workspace: what one of them brought in is never overwritten by the other.

use airlock_tests::editor::Home;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Two editors in one home, each with a session whose agent changed `a.txt` by this.
async fn two_at_work(first: &str, second: &str) -> (Workbench, Workbench) {
    let home = Home::new();
    home.write("a.txt", BEFORE);
    let mut benches = Vec::new();
    for command in [first, second] {
        let bench = Workbench::with(|options| options.home(&home)).await;
        bench.bash(command).await;
        benches.push(bench);
    }
    let second = benches.pop().expect("two");
    (benches.pop().expect("two"), second)
}

#[tokio::test]
async fn a_change_that_another_session_was_quicker_with_is_a_conflict_and_no_overwrite() {
    let (first, second) = two_at_work("sed -i s/two/first/ a.txt", "sed -i s/two/second/ a.txt").await;
    assert_eq!(second.bash("cat a.txt").await, BEFORE.replace("two", "second"), "nothing is crossed");
    assert_eq!(first.review("accept", json!({})).await["done"], json!(["a.txt"]));
    let accepted = BEFORE.replace("two", "first");
    assert_eq!(second.changes().await[0]["conflict"], true);
    let outcome = second.review("accept", json!({})).await;
    let why = outcome["failed"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("changed the same lines"), "{outcome}");
    assert_eq!(second.on_disk("a.txt"), accepted, "what the first brought in is there");
    assert_eq!(
        second.bash("cat a.txt").await,
        BEFORE.replace("two", "second"),
        "and so is what the second has"
    );
    second.review("accept", json!({"paths": ["a.txt"]})).await;
    let both = second.on_disk("a.txt");
    assert!(both.contains("first") && both.contains("second") && both.contains("<<<<<<<"), "{both}");
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn changes_of_two_sessions_that_do_not_meet_are_both_brought_in() {
    let (first, second) = two_at_work("sed -i s/one/first/ a.txt", "sed -i s/five/second/ a.txt").await;
    first.review("accept", json!({})).await;
    assert_eq!(second.review("accept", json!({})).await["done"], json!(["a.txt"]));
    assert_eq!(second.on_disk("a.txt"), BEFORE.replace("one", "first").replace("five", "second"));
    first.end().await;
    second.end().await;
}

#[tokio::test]
async fn a_list_that_is_old_accepts_nothing_that_was_not_shown() {
    let (first, second) = two_at_work("sed -i s/two/first/ a.txt", "sed -i s/two/second/ a.txt").await;
    let shown = second.changes().await;
    first.review("accept", json!({})).await;
    let hunk = shown[0]["hunks"][0]["id"].as_str().expect("an id");
    let outcome = second.review("accept", json!({"hunks": [hunk]})).await;
    assert_eq!(outcome["done"], json!([]), "{outcome}");
    assert_eq!(second.on_disk("a.txt"), BEFORE.replace("two", "first"));
    first.end().await;
    second.end().await;
}
