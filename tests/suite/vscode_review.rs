//! Review in the real VS Code. What is pressed and seen is in `tests/vscode/review.mjs`.

use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::vscode::VsCode;
use pretty_assertions::assert_eq;
use serde_json::json;

const GREET: &str = "export function greet(name) {
  return \"Hello, \" + name;
}

export function ask(name) {
  return \"How are you, \" + name + \"?\";
}

export function leave(name) {
  return \"Bye, \" + name;
}
";

const CHANGE: &str = "sed -i 's/Hello, /Dear /; s/Bye, /Farewell, /' src/greet.js; mkdir -p docs; \
    echo 'Greetings are warm now.' > docs/notes.md; echo 'export PATH=/tmp' > .envrc";

const GUIDE: &str = "mkdir guide; echo 1 > guide/one.md; echo 2 > guide/two.md; \
    echo 'export PATH=/tmp' > guide/.envrc";

#[tokio::test]
async fn vs_code_reviews_hunk_by_hunk_with_undo_and_asks_about_problems() {
    let claude = ScriptedClaude::start().await;
    let home = Home::new();
    home.write("src/greet.js", GREET);
    home.write("lines.txt", "one\ntwo\nthree\n");
    home.write("settings.json", "{\n  \"warm\": true\n  \"loud\": false\n}\n");
    let on_disk = |path: &str| std::fs::read_to_string(home.workspace().join(path)).expect("a file");
    claude.push(Reply::calls("toolu_1", "bash", json!({"command": CHANGE}))).push("They are warmer now.");

    let mut vscode = VsCode::start("review", &claude, &home);
    vscode.reached("changes wait").await;
    assert_eq!(on_disk("src/greet.js"), GREET, "nothing lands unreviewed");
    another_editor_in_the_same_folder(&claude, &home).await;
    vscode.go_on().await;

    vscode.reached("one hunk is accepted").await;
    assert_eq!(on_disk("src/greet.js"), GREET, "an open document is saved by its user");
    vscode.go_on().await;
    vscode.passed("it is undone").await;
    vscode.reached("the other one is saved").await;
    assert_eq!(on_disk("src/greet.js"), GREET.replace("Bye, ", "Farewell, "), "this hunk and no other");
    vscode.go_on().await;

    vscode.reached("all but the protected one are accepted").await;
    assert_eq!(on_disk("docs/notes.md"), "Greetings are warm now.\n");
    assert!(!home.workspace().join(".envrc").exists(), "what is protected is left");
    vscode.go_on().await;
    vscode.reached("nothing waits").await;
    assert!(!home.workspace().join(".envrc").exists());
    claude.push(Reply::calls("toolu_serve", "bash", json!({"command": "echo listening; sleep 600"})));
    let fix = "sed -i 's/true/true,/' settings.json";
    claude.push(Reply::calls("toolu_2", "bash", json!({"command": fix}))).push("The comma is there now.");
    vscode.go_on().await;

    vscode.reached("the problem is fixed").await;
    assert_eq!(on_disk("settings.json"), "{\n  \"warm\": true,\n  \"loud\": false\n}\n");
    let requests = claude.requests();
    let asked =
        requests.iter().map(|request| request.last_user_text()).find(|text| text.contains("diagnostic"));
    let asked = asked.expect("the problem was told");
    assert!(asked.contains("settings.json") && asked.contains("xpected comma"), "{asked}");
    claude.push("It is right.");
    vscode.go_on().await;

    vscode.reached("the selection was sent").await;
    let asked = claude.requests().pop().expect("a request").last_user_text();
    assert!(asked.contains("Is it right now?") && asked.contains("\"loud\": false"), "{asked}");
    claude.push(Reply::calls("toolu_3", "bash", json!({"command": GUIDE}))).push("Here it is.");
    vscode.go_on().await;

    vscode.reached("a folder is accepted").await;
    assert_eq!((on_disk("guide/one.md").as_str(), on_disk("guide/two.md").as_str()), ("1\n", "2\n"));
    assert!(!home.workspace().join("guide/.envrc").exists(), "what is protected is left");
    vscode.go_on().await;
    vscode.reached("a folder is rejected").await;
    assert!(!home.workspace().join("guide/.envrc").exists());
    let change = "sed -i \"s/two/the agent's two/\" lines.txt";
    claude.push(Reply::calls("toolu_4", "bash", json!({"command": change}))).push("Done.");
    vscode.go_on().await;

    vscode.reached("a conflict is settled").await;
    assert_eq!(on_disk("lines.txt"), "one\nmy two\nthe agent's two\nthree\n");
    vscode.go_on().await;
    vscode.finish().await;
    claude.finish();
}

/// Another editor works in the same folder at the same time: it has changes of its own, and sees none of VS Code's.
async fn another_editor_in_the_same_folder(claude: &ScriptedClaude, home: &Home) {
    let editor = Editor::ready(EditorOptions::new(claude).home(home).with_sandbox()).await;
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    let command = "grep -c Dear src/greet.js; echo mine > mine.txt";
    claude.push(Reply::calls("toolu_other", "bash", json!({"command": command}))).push("Done.");
    let updates = editor.turn(&session, "What is there?").await;
    let said: String = updates.iter().filter_map(|update| update["output"].as_str()).collect();
    assert!(said.starts_with("0\n"), "one session's changes are not another's: {said}");
    let list = editor.expect("airlock/changes/list", json!({"sessionId": session})).await;
    let paths: Vec<_> =
        list["changes"].as_array().expect("changes").iter().map(|change| &change["path"]).collect();
    assert_eq!(paths, ["mine.txt"]);
    editor.expect("airlock/changes/reject", json!({"sessionId": session, "list": list["digest"]})).await;
    editor.updates_until(&session, "changes").await;
    editor.shutdown().await;
}
