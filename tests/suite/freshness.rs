//! What the user has is what the agent sees at its next call, although an overlay alone would show the old files.

use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::workbench::Workbench;
use serde_json::json;

fn with_file(path: &str, text: &str) -> impl FnOnce(EditorOptions) -> EditorOptions {
    let home = Home::new();
    home.write(path, text);
    move |options| options.home(&home)
}

#[tokio::test]
async fn a_file_written_in_place_is_seen() {
    let bench = Workbench::with(with_file("a.txt", "old\n")).await;
    assert_eq!(bench.bash("cat a.txt").await, "old\n");
    bench.editor.home().write("a.txt", "new\n");
    assert_eq!(bench.bash("cat a.txt").await, "new\n");
    bench.end().await;
}

#[tokio::test]
async fn a_file_replaced_by_a_rename_is_seen() {
    let bench = Workbench::with(with_file("src/a.txt", "old\n")).await;
    for text in ["one\n", "two\n", "three\n"] {
        bench.bash("cat src/a.txt").await;
        let other = bench.editor.home().write("src/.a.txt.swp", text);
        std::fs::rename(other, bench.editor.home().workspace().join("src/a.txt")).unwrap();
        assert_eq!(bench.bash("cat src/a.txt; ls -A src").await, format!("{text}a.txt\n"));
    }
    bench.end().await;
}

#[tokio::test]
async fn a_deleted_file_is_gone() {
    let bench = Workbench::with(with_file("a.txt", "old\n")).await;
    assert_eq!(bench.bash("cat a.txt").await, "old\n");
    std::fs::remove_file(bench.editor.home().workspace().join("a.txt")).unwrap();
    assert_eq!(bench.bash("cat a.txt 2>&1; ls").await, "cat: a.txt: No such file or directory\n");
    bench.editor.home().write("a.txt", "again\n");
    assert_eq!(bench.bash("cat a.txt").await, "again\n");
    bench.end().await;
}

#[tokio::test]
async fn a_new_directory_is_seen_with_all_that_is_in_it() {
    let bench = Workbench::new().await;
    assert_eq!(
        bench.bash("ls; ls new 2>&1; true").await,
        "ls: cannot access 'new': No such file or directory\n"
    );
    bench.editor.home().write("new/deep/er/a.txt", "here\n");
    bench.editor.home().write("new/b.txt", "too\n");
    assert_eq!(
        bench.bash("find new -type f | sort; cat new/deep/er/a.txt").await,
        "new/b.txt\nnew/deep/er/a.txt\nhere\n"
    );
    bench.end().await;
}

#[tokio::test]
async fn a_directory_moved_away_is_gone_and_its_new_place_is_seen() {
    let bench = Workbench::with(with_file("one/x/a.txt", "text\n")).await;
    assert_eq!(bench.bash("cat one/x/a.txt").await, "text\n");
    let workspace = bench.editor.home().workspace();
    std::fs::rename(workspace.join("one"), workspace.join("two")).unwrap();
    assert_eq!(
        bench.bash("find . -type f; cat one/x/a.txt 2>/dev/null || echo gone").await,
        "./two/x/a.txt\ngone\n"
    );
    bench.editor.home().write("two/x/a.txt", "later\n");
    assert_eq!(bench.bash("cat two/x/a.txt").await, "later\n");
    bench.end().await;
}

#[tokio::test]
async fn an_unsaved_buffer_is_seen_and_a_closed_one_is_as_the_file() {
    let bench = Workbench::with(with_file("a.txt", "saved\n")).await;
    let uri = bench.editor.home().file_uri("a.txt");
    assert_eq!(bench.bash("cat a.txt").await, "saved\n");
    bench.editor.open(&uri, "saved\n");
    bench.editor.change(&uri, 2, json!([{"text": "unsaved\n"}]));
    assert_eq!(bench.bash("cat a.txt").await, "unsaved\n");
    bench.editor.change(&uri, 3, json!([{"text": "still unsaved\n"}]));
    assert_eq!(bench.call("read_file", json!({"path": "a.txt"})).await, "     1\tstill unsaved\n");
    bench.editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(bench.bash("cat a.txt").await, "saved\n");
    bench.end().await;
}

#[tokio::test]
async fn a_new_unsaved_document_is_seen() {
    let bench = Workbench::new().await;
    bench.editor.open(&bench.editor.home().file_uri("fresh/new.txt"), "unsaved\n");
    assert_eq!(bench.bash("cat fresh/new.txt").await, "unsaved\n");
    bench.end().await;
}

#[tokio::test]
async fn what_the_agent_changed_itself_is_never_overwritten() {
    let bench = Workbench::with(with_file("a.txt", "old\n")).await;
    bench.bash("echo agent > a.txt; mkdir kept; echo mine > kept/b.txt").await;
    bench.editor.home().write("a.txt", "user\n");
    bench.editor.home().write("kept/b.txt", "user\n");
    assert_eq!(bench.bash("cat a.txt kept/b.txt").await, "agent\nmine\n");
    std::fs::remove_dir_all(bench.editor.home().workspace().join("kept")).unwrap();
    std::fs::remove_file(bench.editor.home().workspace().join("a.txt")).unwrap();
    assert_eq!(bench.bash("cat a.txt kept/b.txt").await, "agent\nmine\n");
    bench.end().await;
}

#[tokio::test]
async fn a_file_that_was_brought_in_is_no_change_of_the_agent() {
    let home = Home::new();
    home.write("a.txt", "old\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("cat a.txt").await;
    let other = home.write("other", "brought in\n");
    std::fs::rename(other, home.workspace().join("a.txt")).unwrap();
    assert_eq!(bench.bash("cat a.txt").await, "brought in\n");
    let session = bench.session.clone();
    bench.end().await;
    // The user goes on while nothing runs; the kept view must not bring the old text back.
    home.write("a.txt", "much later\n");
    let bench = Workbench::again(&home, &session).await;
    assert_eq!(bench.bash("cat a.txt").await, "much later\n");
    bench.end().await;
}

#[tokio::test]
async fn modes_and_links_are_brought_in_as_they_are() {
    let bench = Workbench::with(with_file("run.sh", "echo ran\n")).await;
    assert_eq!(bench.bash("./run.sh 2>&1 | grep -o denied; cat link 2>/dev/null; true").await, "denied\n");
    let workspace = bench.editor.home().workspace();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(workspace.join("run.sh"), mode).unwrap();
    std::os::unix::fs::symlink("run.sh", workspace.join("link")).unwrap();
    assert_eq!(bench.bash("./run.sh; readlink link").await, "ran\nrun.sh\n");
    bench.end().await;
}

#[tokio::test]
async fn ignored_folders_do_not_drown_the_rest() {
    let home = Home::new();
    home.write(".gitignore", "target/\n");
    home.write("target/x", "built\n");
    home.write("a.txt", "old\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    assert_eq!(bench.bash("cat a.txt target/x").await, "old\nbuilt\n");
    // A whole rebuild, as the user's own build tool does it.
    std::fs::remove_dir_all(home.workspace().join("target")).unwrap();
    for number in 0..200 {
        home.write(&format!("target/{number}"), "rebuilt\n");
    }
    let other = home.write("other", "new\n");
    std::fs::rename(other, home.workspace().join("a.txt")).unwrap();
    assert_eq!(bench.bash("cat a.txt").await, "new\n");
    bench.end().await;
}

#[tokio::test]
async fn a_checkout_of_thousands_of_files_is_seen_through_a_fresh_sandbox() {
    let home = Home::new();
    home.write("a.txt", "old\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("cat a.txt; echo agent > mine.txt").await;
    for number in 0..6_000 {
        home.write(&format!("many/{number}"), "new\n");
    }
    let other = home.write("other", "new\n");
    std::fs::rename(other, home.workspace().join("a.txt")).unwrap();
    let said = bench.bash("cat a.txt mine.txt; ls many | wc -l").await;
    let (note, said) = said.split_once('\n').unwrap();
    assert!(
        note.starts_with("[the sandbox was started afresh"),
        "the agent knows that its shell is new: {note}"
    );
    assert_eq!(said, "new\nagent\n6000\n");
    bench.end().await;
}

/// Few enough to be brought in one by one, and too many to be asked about in one call.
#[tokio::test]
async fn thousands_of_files_with_long_names_are_seen() {
    let home = Home::new();
    home.write("a.txt", "old\n");
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("cat a.txt; ls many 2>/dev/null").await;
    for number in 0..3_500 {
        home.write(&format!("many/{number}-{}", "long".repeat(30)), "new\n");
    }
    let other = home.write("other", "new\n");
    std::fs::rename(other, home.workspace().join("a.txt")).unwrap();
    assert_eq!(bench.bash("cat a.txt; ls many | wc -l").await, "new\n3500\n");
    bench.end().await;
}

/// A fresh sandbox shows what is on the disk, where the text that was put into the old one is not.
#[tokio::test]
async fn what_stands_unsaved_is_still_seen_in_a_fresh_sandbox() {
    let bench = Workbench::with(with_file("a.txt", "saved\n")).await;
    let home = bench.editor.home().clone();
    bench.editor.open(&home.file_uri("a.txt"), "unsaved\n");
    assert_eq!(bench.bash("cat a.txt").await, "unsaved\n");
    // More than are put one by one.
    for number in 0..5_100 {
        home.write(&format!("many/{number}"), "");
    }
    let seen = bench.bash("ls many | wc -l; cat a.txt; echo agent >> a.txt").await;
    assert!(seen.ends_with("5100\nunsaved\n"), "{seen}");
    let changes = bench.changes().await;
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(changes[0]["hunks"][0]["text"], "+agent\n", "{changes:#?}");
    bench.end().await;
}
