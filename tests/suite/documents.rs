//! Documents over LSP: what the model gets is what stands in the editor, or on the disk beneath the workspace.

use crate::desk::{ready, ready_in, ready_with};
use crate::scribbles::{Encoding, Scribbles};
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Prompts with this context and gives the blocks that the model got before the user's words.
async fn seen(editor: &Editor, claude: &ScriptedClaude, session: &str, context: Value) -> Vec<String> {
    claude.push("ok");
    let params = json!({"sessionId": session, "text": "look", "context": context});
    editor.expect("airlock/session/prompt", params).await;
    editor.updates_until_turn_end(session).await;
    let request = claude.requests().pop().unwrap();
    let content = request.messages().last().unwrap()["content"].as_array().unwrap().clone();
    let texts = content.iter().map(|block| block["text"].as_str().unwrap().to_owned());
    texts.filter(|text| text.starts_with("<context")).collect()
}

fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    let position = |(line, character)| json!({"line": line, "character": character});
    json!({"start": position(start), "end": position(end)})
}

async fn a_burst_is_mirrored(encoding: Encoding) {
    const DOCUMENTS: usize = 50;
    const CHANGES: usize = 10_000;
    let claude = ScriptedClaude::start().await;
    let editor = Editor::start(EditorOptions::new(&claude).encodings(&[encoding.name()]));
    let answer = editor.initialize().await;
    assert_eq!(answer["capabilities"]["positionEncoding"], encoding.name());
    editor.ignore("$/progress");
    let session = editor.new_session().await;
    let uri = |index: usize| editor.home().file_uri(&format!("d{index}.txt"));
    let mut texts: Vec<Scribbles> = (0..DOCUMENTS).map(|index| Scribbles::new(index as u64)).collect();
    for (index, text) in texts.iter().enumerate() {
        editor.open(&uri(index), &text.text());
    }
    for change in 0..CHANGES {
        let index = change * 7 % DOCUMENTS;
        let edits = texts[index].edit(encoding);
        editor.change(&uri(index), 2 + (change / DOCUMENTS) as i64, edits);
    }
    let context: Vec<Value> = (0..DOCUMENTS).map(|index| json!({"uri": uri(index)})).collect();
    let seen = seen(&editor, &claude, &session, json!(context)).await;
    for (index, text) in texts.iter().enumerate() {
        let expected = text.text();
        let expected = expected.trim_end_matches('\n');
        assert_eq!(seen[index], format!("<context file=\"d{index}.txt\">\n{expected}\n</context>"));
    }
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn ten_thousand_changes_over_fifty_documents_are_mirrored_in_utf8() {
    a_burst_is_mirrored(Encoding::Utf8).await;
}

#[tokio::test]
async fn ten_thousand_changes_over_fifty_documents_are_mirrored_in_utf16() {
    a_burst_is_mirrored(Encoding::Utf16).await;
}

#[tokio::test]
async fn ten_thousand_changes_over_fifty_documents_are_mirrored_in_utf32() {
    a_burst_is_mirrored(Encoding::Utf32).await;
}

#[tokio::test]
async fn a_range_and_its_diagnostics_come_as_lines_counted_from_one() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let uri = editor.home().file_uri("src/a.rs");
    editor.open(&uri, "fn a() {}\nlet 😀x = 1;\nfn c() {}\n");
    let diagnostic = json!({
        "range": range((1, 4), (1, 7)), "severity": 2, "code": "E1", "source": "rustc", "message": "unused",
    });
    let seen = seen(
        &editor,
        &claude,
        &session,
        json!([
            {"uri": uri, "range": range((1, 6), (2, 0)), "diagnostics": [diagnostic]},
            {"uri": uri, "range": range((0, 3), (0, 3))},
            {"uri": uri, "range": range((2, 2), (0, 3))},
            {"uri": uri, "range": range((7, 0), (4_294_967_295, 4_294_967_295))},
        ]),
    )
    .await;
    assert_eq!(
        seen,
        [
            "<context file=\"src/a.rs\" lines=\"2-2\">\nx = 1;\n</context>\n\
             <diagnostic>line 2: warning [E1]: unused (rustc)</diagnostic>",
            "<context file=\"src/a.rs\" lines=\"1-1\">\nfn a() {}\n</context>",
            "<context file=\"src/a.rs\" lines=\"1-3\">\na() {}\nlet 😀x = 1;\nfn\n</context>",
            "<context file=\"src/a.rs\" lines=\"4-4\">\n\n</context>",
        ]
    );
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn unsaved_text_is_seen_until_the_buffer_is_closed_then_the_disk() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("a b.txt", "saved\n");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (name, other_name) = (home.file_uri("a%20b.txt"), home.file_uri("%61%20b.txt"));
    let block = |text: &str| format!("<context file=\"a b.txt\">\n{text}\n</context>");
    assert_eq!(seen(&editor, &claude, &session, json!([{"uri": name}])).await, [block("saved")]);
    editor.open(&name, "unsaved\n");
    for uri in [&name, &other_name] {
        assert_eq!(seen(&editor, &claude, &session, json!([{"uri": uri}])).await, [block("unsaved")]);
    }
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": name}}));
    assert_eq!(seen(&editor, &claude, &session, json!([{"uri": name}])).await, [block("saved")]);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_is_neither_open_nor_a_file_in_the_workspace_gives_no_content() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    std::fs::write(home.path().join("secret"), "THE SECRET").unwrap();
    std::fs::create_dir(home.path().join("workspace-evil")).unwrap();
    std::fs::write(home.path().join("workspace-evil/secret"), "THE SECRET").unwrap();
    std::os::unix::fs::symlink(home.path().join("secret"), home.workspace().join("link")).unwrap();
    std::os::unix::fs::symlink(home.path(), home.workspace().join("out")).unwrap();
    home.write("binary", "");
    std::fs::write(home.workspace().join("binary"), [0xff, 0xfe, 0x00]).unwrap();
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let outside = format!("file://{}/secret", home.path().display());
    let uris = [
        home.file_uri("link"),
        home.file_uri("out/secret"),
        home.file_uri("../secret"),
        home.file_uri("%2e%2e/secret"),
        format!("file://{}/workspace-evil/secret", home.path().display()),
        outside.clone(),
        outside.replace("file:", "untitled:"),
        home.file_uri("missing"),
        home.file_uri("binary"),
        home.workspace_uri(),
    ];
    let context: Vec<Value> =
        uris.iter().map(|uri| json!({"uri": uri, "range": range((0, 0), (9, 9))})).collect();
    let seen = seen(&editor, &claude, &session, json!(context)).await;
    for (block, uri) in seen.iter().zip(&uris) {
        assert!(block.contains("[no content: ") && !block.contains("SECRET"), "{uri}: {block}");
    }
    assert_eq!(seen.len(), uris.len());
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn another_version_of_a_file_is_not_the_file() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("a.rs", "the working copy\n");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    // A diff view shows what was committed, under the same path.
    let committed = home.file_uri("a.rs").replace("file://", "git:") + "?%7B%22ref%22%3A%22HEAD%22%7D";
    editor.open(&committed, "the committed text\n");
    let context = json!([{"uri": home.file_uri("a.rs")}, {"uri": committed}]);
    let seen = seen(&editor, &claude, &session, context).await;
    assert_eq!(seen[0], "<context file=\"a.rs\">\nthe working copy\n</context>");
    assert!(seen[1].contains("the committed text") && seen[1].contains("git:/"), "{}", seen[1]);
    claude.push("ok");
    editor.turn(&session, "and @a.rs").await;
    assert!(claude.requests().pop().unwrap().last_user_text().contains("the working copy"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_workspace_behind_a_link_is_the_same_workspace() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("closed.txt", "on disk\n");
    home.write("open.txt", "stale\n");
    let way = home.path().join("way");
    std::os::unix::fs::symlink(home.workspace(), &way).unwrap();
    let editor = ready_with(EditorOptions::new(&claude).home(&home)).await;
    let uri = |name: &str| format!("file://{}/{name}", way.display());
    let opened =
        editor.expect("airlock/session/new", json!({"folder": format!("file://{}", way.display())})).await;
    let session = opened["sessionId"].as_str().unwrap();
    editor.open(&uri("open.txt"), "fresh\n");
    let context = json!([{"uri": uri("closed.txt")}, {"uri": uri("open.txt")}]);
    let seen = seen(&editor, &claude, session, context).await;
    assert_eq!(
        seen,
        [
            "<context file=\"closed.txt\">\non disk\n</context>",
            "<context file=\"open.txt\">\nfresh\n</context>"
        ]
    );
    claude.push("ok");
    editor.turn(session, "see @open.txt").await;
    assert!(claude.requests().pop().unwrap().last_user_text().contains("fresh"));
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn more_context_than_the_limit_is_refused_and_not_cut() {
    let claude = ScriptedClaude::start().await;
    let editor = ready(&claude).await;
    let session = editor.new_session().await;
    let context: Vec<Value> = (0..65).map(|_| json!({"uri": editor.home().file_uri("a")})).collect();
    let params = json!({"sessionId": session, "text": "look", "context": context});
    let refused = editor.request("airlock/session/prompt", params).await.unwrap_err();
    assert!(refused["message"].as_str().unwrap().contains("64"), "{refused}");
    editor.shutdown().await;
}
