//! What granted plugins reach in a session with a real sandbox: files, commands, the editor.

use airlock_tests::editor::Home;
use airlock_tests::guests::{install, probe, probe_with};
use airlock_tests::scripted_claude::Reply;
use airlock_tests::workbench::Workbench;
use serde_json::{Value, json};

const WANTS: &str = "[wants]\nworkspace = [\"read\", \"propose\"]\nexec = true\neditor = true";

/// A session whose plugin has all it asks for.
async fn workbench(home: &Home) -> Workbench {
    let tools = probe_with(&["read", "glob", "grep", "propose", "exec", "editor", "until_cancelled"]);
    install(&home.config().join("airlock/plugins"), "probe", WANTS, &tools);
    Workbench::with(|options| options.home(home)).await
}

/// Makes a call that is asked about, and says yes.
async fn granted(bench: &Workbench, tool: &str, input: Value) -> String {
    bench.claude.push(Reply::calls("toolu_first", tool, input)).push("Done.");
    bench.editor.prompt(&bench.session, "go on").await;
    bench.editor.next_server_request("airlock/permission").await.respond(json!({"optionId": "grant"}));
    bench.editor.updates_until_turn_end(&bench.session).await;
    let results = crate::sandboxed::results(&bench.claude);
    crate::sandboxed::text(results.last().expect("a result"))
}

#[tokio::test]
async fn it_sees_files_as_the_agent_does_and_proposes_what_is_to_be_reviewed() {
    let home = Home::new();
    home.write("src/a.rs", "// TODO: one\nfn a() {}\n");
    home.write("src/b.txt", "TODO two\n");
    home.write("ignored.log", "TODO never\n");
    home.write(".gitignore", "*.log\n");
    let bench = workbench(&home).await;
    assert_eq!(granted(&bench, "read", json!({"path": "src/a.rs"})).await, "// TODO: one\nfn a() {}\n");
    let found = bench.call("glob", json!({"pattern": "src/**"})).await;
    assert_eq!(found, json!(["src/a.rs", "src/b.txt"]).to_string());
    let lines = bench.call("grep", json!({"pattern": "TODO", "files": ""})).await;
    assert_eq!(lines, json!([["src/a.rs", 1, "// TODO: one"], ["src/b.txt", 1, "TODO two"]]).to_string());
    // What stands unsaved in the editor, and what the agent changed.
    bench.editor.open(&home.file_uri("src/a.rs"), "unsaved\n");
    assert_eq!(bench.call("read", json!({"path": "src/a.rs"})).await, "unsaved\n");
    bench.bash("echo changed > src/b.txt").await;
    assert_eq!(bench.call("read", json!({"path": "src/b.txt"})).await, "changed\n");
    // A proposal is a change to review, and nothing else.
    assert_eq!(bench.call("propose", json!({"path": "new/c.md", "content": "# new\n"})).await, "proposed");
    assert!(!home.workspace().join("new").exists());
    let listed = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
    let paths: Vec<&str> =
        listed["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["new/c.md", "src/b.txt"]);
    let params = bench.selection(json!({"paths": ["new/c.md"]})).await;
    bench.editor.expect("airlock/changes/accept", params).await;
    assert_eq!(std::fs::read_to_string(home.workspace().join("new/c.md")).unwrap(), "# new\n");
    for path in ["../x", "/etc/passwd", "~/.ssh/id_rsa", "a\0b"] {
        for (tool, input) in
            [("read", json!({"path": path})), ("propose", json!({"path": path, "content": ""}))]
        {
            let refused = bench.call(tool, input).await;
            assert!(refused.starts_with("invalid"), "{tool} {path}: {refused}");
        }
    }
    let missing = bench.call("read", json!({"path": "nothing"})).await;
    assert!(missing.starts_with("not-found"), "{missing}");
    bench.editor.ignore("airlock/session/update");
    bench.end().await;
}

#[tokio::test]
async fn commands_run_in_the_sandbox_and_nowhere_else() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    let bench = workbench(&home).await;
    let ran = granted(&bench, "exec", json!({"command": "cat a.txt; echo oops >&2; pwd; exit 3"})).await;
    let ran: Value = serde_json::from_str(&ran).unwrap();
    assert_eq!(ran["code"], 3);
    let output = ran["output"].as_str().unwrap();
    assert!(output.contains("one\n") && output.contains("oops") && output.contains("/workspace"), "{output}");
    let ran =
        bench.call("exec", json!({"command": "echo here > made.txt; cat /etc/hostname; ls /root"})).await;
    assert!(!home.workspace().join("made.txt").exists(), "{ran}");
    assert_eq!(bench.bash("cat made.txt").await, "here\n");
    let slow = bench.call("exec", json!({"command": "echo begun; sleep 60", "timeout_ms": 300})).await;
    assert!(slow.starts_with("timeout") && slow.contains("begun"), "{slow}");
    bench.editor.ignore("airlock/session/update");
    bench.end().await;
}

#[tokio::test]
async fn it_sees_what_the_user_has_in_front_of_them() {
    let home = Home::new();
    home.write("a.rs", "let one = 1;\nlet two = 2;\n");
    home.write("b.rs", "saved\n");
    let bench = workbench(&home).await;
    let uri = home.file_uri("a.rs");
    bench.editor.open(&uri, "let one = 1;\nlet two = 3;\n");
    bench.editor.open(&home.file_uri("b.rs"), "saved\n");
    bench.claude.push(Reply::calls("toolu_first", "editor", json!({}))).push("Done.");
    let range = json!({"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 7}});
    let diagnostic = json!({"range": range, "severity": 2, "message": "unused", "source": "rustc"});
    let context = json!([{"uri": uri, "range": range, "diagnostics": [diagnostic]}]);
    let params = json!({"sessionId": bench.session, "text": "what is this?", "context": context});
    bench.editor.expect("airlock/session/prompt", params).await;
    bench.editor.next_server_request("airlock/permission").await.respond(json!({"optionId": "grant"}));
    bench.editor.updates_until_turn_end(&bench.session).await;
    let results = crate::sandboxed::results(&bench.claude);
    let seen: Value = serde_json::from_str(&crate::sandboxed::text(results.last().unwrap())).unwrap();
    let expected = json!({
        "diagnostics": [{"path": "a.rs", "line": 2, "column": 5, "severity": "warning", "message": "unused", "source": "rustc"}],
        "open": [
            {"path": "a.rs", "language": "plaintext", "unsaved": true},
            {"path": "b.rs", "language": "plaintext", "unsaved": false},
        ],
        "selection": {"path": "a.rs", "startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 8, "text": "two"},
    });
    assert_eq!(seen, expected);
    // The next prompt comes with nothing.
    let seen: Value = serde_json::from_str(&bench.call("editor", json!({})).await).unwrap();
    assert_eq!((&seen["diagnostics"], &seen["selection"]), (&json!([]), &Value::Null));
    bench.editor.ignore("airlock/session/update");
    bench.end().await;
}

#[tokio::test]
async fn a_turn_that_is_stopped_stops_its_plugin() {
    let home = Home::new();
    let bench = workbench(&home).await;
    bench.claude.push(Reply::calls("toolu_1", "until_cancelled", json!({})));
    bench.editor.prompt(&bench.session, "wait").await;
    bench.editor.next_server_request("airlock/permission").await.respond(json!({"optionId": "grant"}));
    loop {
        let update = bench.editor.next_update(&bench.session).await;
        if update["output"].as_str().is_some_and(|output| output.contains("waiting")) {
            break;
        }
    }
    bench.editor.cancel(&bench.session);
    let updates = bench.editor.updates_until_turn_end(&bench.session).await;
    assert_eq!(updates.last().unwrap()["stopReason"], "cancelled");
    bench.editor.ignore("airlock/session/update");
    bench.end().await;
}

#[tokio::test]
async fn what_a_slash_command_changed_is_reviewed_and_undone_with_its_turn() {
    let home = Home::new();
    home.write("a.txt", "one\n");
    // It carries no list, so it has its command.
    install(&home.config().join("airlock/plugins"), "probe", "[wants]\nworkspace = [\"propose\"]", probe());
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench.bash("echo before > before.txt").await;
    let changed = async || {
        let listed = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
        let changes = listed["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| change["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    bench
        .claude
        .push(Reply::calls("toolu_more", "bash", json!({"command": "echo more > more.txt"})))
        .push("Done.");
    bench.editor.prompt(&bench.session, "/probe propose").await;
    bench.editor.next_server_request("airlock/permission").await.respond(json!({"optionId": "grant"}));
    bench.editor.updates_until_turn_end(&bench.session).await;
    assert_eq!(changed().await, ["before.txt", "more.txt", "of-command.txt"]);
    // The command and the calls after it are one turn.
    bench.editor.turn(&bench.session, "/undo").await;
    assert_eq!(changed().await, ["before.txt"]);
    // Also where it gives the model nothing to do.
    let updates = bench.editor.turn(&bench.session, "/probe propose silently").await;
    let is_told = |update: &Value| update["kind"] == "changes" && update["files"] == 2;
    assert!(updates.iter().any(is_told), "{updates:#?}");
    bench.editor.ignore("airlock/session/update");
    bench.end().await;
}
