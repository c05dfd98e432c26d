//! Review over LSP: what the agent changed comes back hunk by hunk, and never by another way.

use airlock_tests::deadline::within;
use airlock_tests::editor::{EditorOptions, Home, agent_text};
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

pub(crate) fn with_files(
    files: &[(&str, &str)],
) -> (Home, impl FnOnce(EditorOptions) -> EditorOptions + use<>) {
    let home = Home::new();
    for (path, text) in files {
        home.write(path, text);
    }
    (home.clone(), move |options: EditorOptions| options.home(&home))
}

fn paths(changes: &[Value]) -> Vec<(&str, &str)> {
    changes
        .iter()
        .map(|change| (change["kind"].as_str().unwrap(), change["path"].as_str().unwrap()))
        .collect()
}

fn numbered(from: usize, to: usize) -> String {
    (from..=to).map(|number| format!("line {number}\n")).collect()
}

#[tokio::test]
async fn changes_are_listed_told_and_accepted_hunk_by_hunk() {
    let (_home, options) =
        with_files(&[("a.txt", &numbered(1, 20)), ("gone.txt", "bye\n"), ("same.txt", "same\n")]);
    let bench = Workbench::with(options).await;
    let command = "sed -i 's/line 3$/LINE 3/; s/line 17$/LINE 17/' a.txt; rm gone.txt; echo new > new.txt; touch same.txt; echo same > same.txt";
    let (_, updates) = bench.call_with_updates("bash", json!({"command": command})).await;
    let told = updates.iter().find(|update| update["kind"] == "changes").expect("the changes are told");
    assert_eq!((&told["count"], &told["files"]), (&json!(4), &json!(3)));

    let changes = bench.changes().await;
    assert_eq!(paths(&changes), [("modified", "a.txt"), ("deleted", "gone.txt"), ("created", "new.txt")]);
    let hunks = changes[0]["hunks"].as_array().unwrap();
    assert_eq!(hunks[0]["text"], "-line 3\n+LINE 3\n");
    assert_eq!((&hunks[1]["oldStart"], &hunks[1]["newLines"]), (&json!(17), &json!(1)));

    let outcome = bench.review("accept", json!({"hunks": [hunks[1]["id"]]})).await;
    assert_eq!(outcome, json!({"done": ["a.txt"], "failed": []}));
    assert_eq!(bench.on_disk("a.txt"), numbered(1, 16) + "LINE 17\n" + &numbered(18, 20));
    let rest = bench.changes().await;
    assert_eq!(rest[0]["hunks"][0]["id"], hunks[0]["id"], "the other hunk keeps its name");
    assert_eq!(rest[0]["hunks"].as_array().unwrap().len(), 1);

    let again = bench.review("accept", json!({"hunks": [hunks[1]["id"]]})).await;
    assert!(again["failed"][0]["why"].as_str().unwrap().contains("not pending any more"), "{again}");

    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!(["a.txt", "gone.txt", "new.txt"]));
    assert!(!bench.editor.home().workspace().join("gone.txt").exists());
    assert_eq!(bench.on_disk("new.txt"), "new\n");
    assert_eq!(bench.changes().await, Vec::<Value>::new());
    bench.end().await;
}

#[tokio::test]
async fn a_rejected_change_is_gone_from_the_agents_view_and_it_is_told() {
    let (_home, options) = with_files(&[("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/one/ONE/; s/five/FIVE/' a.txt; mkdir d; echo x > d/x; echo keep > keep.txt").await;
    let changes = bench.changes().await;
    bench.review("reject", json!({"hunks": [changes[0]["hunks"][0]["id"]], "paths": ["d"]})).await;
    bench.review("accept", json!({"paths": ["keep.txt"]})).await;
    assert_eq!(bench.bash("cat a.txt; ls").await, "one\ntwo\nthree\nfour\nFIVE\na.txt\nd\nkeep.txt\n");
    let requests = bench.claude.requests();
    let prompt = requests.iter().rev().find(|request| request.last_user_text().contains("go on")).unwrap();
    let told = prompt.last_user_text();
    assert!(told.contains("rejected, wholly or in part, those to: a.txt, d/x."), "{told}");
    assert!(told.contains("accepted, wholly or in part, those to: keep.txt."), "{told}");
    bench.end().await;
}

#[tokio::test]
async fn after_a_part_is_accepted_the_agents_next_edit_of_the_file_is_no_conflict() {
    let (_home, options) = with_files(&[("a.txt", &numbered(1, 20))]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/line 3$/LINE 3/; s/line 17$/LINE 17/' a.txt").await;
    let changes = bench.changes().await;
    bench.review("accept", json!({"hunks": [changes[0]["hunks"][0]["id"]]})).await;
    bench.bash("sed -i 's/LINE 3$/line three/; s/line 10$/LINE 10/' a.txt").await;
    let changes = bench.changes().await;
    assert_eq!(changes[0]["conflict"], false, "{changes:?}");
    let texts: Vec<&Value> =
        changes[0]["hunks"].as_array().unwrap().iter().map(|hunk| &hunk["text"]).collect();
    assert_eq!(texts, ["-LINE 3\n+line three\n", "-line 10\n+LINE 10\n", "-line 17\n+LINE 17\n"]);
    bench.review("accept", json!({})).await;
    let expected = numbered(1, 20).replace("line 3\n", "line three\n").replace("line 10", "LINE 10");
    assert_eq!(bench.on_disk("a.txt"), expected.replace("line 17", "LINE 17"));
    bench.end().await;
}

#[tokio::test]
async fn what_the_user_changed_elsewhere_in_the_file_is_merged_in() {
    let (home, options) = with_files(&[("a.txt", &numbered(1, 10))]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/line 2$/agent/' a.txt").await;
    home.write("a.txt", &(numbered(1, 8) + "user\n" + "line 10\n"));
    let changes = bench.changes().await;
    assert_eq!(changes[0]["conflict"], false);
    assert_eq!(changes[0]["hunks"].as_array().unwrap().len(), 1);
    bench.review("accept", json!({})).await;
    assert_eq!(bench.on_disk("a.txt"), "line 1\nagent\n".to_owned() + &numbered(3, 8) + "user\nline 10\n");
    assert_eq!(bench.changes().await, Vec::<Value>::new());
    assert_eq!(bench.bash("sed -n '2p;9p' a.txt").await, "agent\nuser\n");
    bench.end().await;
}

#[tokio::test]
async fn a_conflict_is_never_overwritten_and_both_sides_are_kept() {
    let (home, options) = with_files(&[("a.txt", "one\ntwo\nthree\n"), ("gone.txt", "text\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/two/agent/' a.txt; rm gone.txt").await;
    home.write("a.txt", "one\nuser\nthree\n");
    home.write("gone.txt", "changed\n");
    let changes = bench.changes().await;
    assert_eq!(changes.iter().map(|change| &change["conflict"]).collect::<Vec<_>>(), [true, true]);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!([]));
    assert_eq!(
        (bench.on_disk("a.txt"), bench.on_disk("gone.txt")),
        ("one\nuser\nthree\n".into(), "changed\n".into())
    );
    let outcome = bench.review("accept", json!({"paths": ["gone.txt"]})).await;
    assert!(outcome["failed"][0]["why"].as_str().unwrap().contains("by hand"), "{outcome}");
    bench.review("accept", json!({"paths": ["a.txt"]})).await;
    assert_eq!(bench.on_disk("a.txt"), "one\n<<<<<<< ours\nuser\n=======\nagent\n>>>>>>> theirs\nthree\n");
    bench.end().await;
}

/// An editor with one open document, which makes the edits that it is asked for.
async fn make_edit(bench: &Workbench, text: &str, version: i64) -> String {
    let request = bench.editor.next_server_request("workspace/applyEdit").await;
    let edit = &request.params["edit"]["documentChanges"][0];
    assert_eq!(edit["textDocument"]["version"], version);
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let edits = edit["edits"].as_array().unwrap();
    for edit in edits.iter().rev() {
        let line = |end: &str| {
            assert_eq!(edit["range"][end]["character"], 0);
            edit["range"][end]["line"].as_u64().unwrap() as usize
        };
        lines.splice(line("start")..line("end"), [edit["newText"].as_str().unwrap()]);
    }
    let text = lines.concat();
    let uri = edit["textDocument"]["uri"].as_str().unwrap().to_owned();
    bench.editor.change(&uri, version + 1, json!([{"text": text}]));
    request.respond(json!({"applied": true}));
    text
}

#[tokio::test]
async fn an_open_document_keeps_the_users_unsaved_text_and_one_undo_takes_the_hunk_back() {
    let (home, options) = with_files(&[("a.txt", &numbered(1, 10))]);
    let bench = Workbench::with(options).await;
    let uri = home.file_uri("a.txt");
    bench.editor.open(&uri, &numbered(1, 10));
    bench.bash("sed -i 's/line 2$/agent/' a.txt").await;
    let unsaved = numbered(1, 8) + "unsaved\nline 10\n";
    bench.editor.change(&uri, 2, json!([{"text": unsaved}]));

    let accept = bench.editor.start_request("airlock/changes/accept", bench.selection(json!({})).await);
    let text = make_edit(&bench, &unsaved, 2).await;
    let outcome = bench.editor.response(accept).await.unwrap();
    assert_eq!(outcome, json!({"done": ["a.txt"], "failed": []}));
    bench.editor.updates_until(&bench.session, "changes").await;
    assert_eq!(text, "line 1\nagent\n".to_owned() + &numbered(3, 8) + "unsaved\nline 10\n");
    assert_eq!(bench.on_disk("a.txt"), numbered(1, 10), "an open document is saved by its user");
    assert_eq!(bench.changes().await, Vec::<Value>::new());

    // Undo in the editor: the hunk is gone, the unsaved text is not, and nothing is pending.
    bench.editor.change(&uri, 4, json!([{"text": unsaved}]));
    assert_eq!(bench.changes().await, Vec::<Value>::new());
    bench.end().await;
}

#[tokio::test]
async fn a_stale_version_is_a_conflict_and_nothing_is_overwritten() {
    let (home, options) = with_files(&[("a.txt", "one\ntwo\n")]);
    let bench = Workbench::with(options).await;
    bench.editor.open(&home.file_uri("a.txt"), "one\ntwo\n");
    bench.bash("sed -i 's/two/agent/' a.txt").await;
    let accept = bench.editor.start_request("airlock/changes/accept", bench.selection(json!({})).await);
    let request = bench.editor.next_server_request("workspace/applyEdit").await;
    request.respond(json!({"applied": false, "failureReason": "the version is stale"}));
    let outcome = bench.editor.response(accept).await.unwrap();
    assert_eq!(outcome["done"], json!([]));
    assert!(outcome["failed"][0]["why"].as_str().unwrap().contains("the version is stale"), "{outcome}");
    assert_eq!(bench.on_disk("a.txt"), "one\ntwo\n");
    assert_eq!(paths(&bench.changes().await), [("modified", "a.txt")], "it is still pending");
    bench.end().await;
}

#[tokio::test]
async fn pending_changes_survive_a_restart_and_belong_to_their_session() {
    let (home, options) = with_files(&[("a.txt", "one\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("echo two >> a.txt; echo new > b.txt").await;
    let session = bench.session.clone();
    bench.editor.kill9().await;
    bench.claude.finish();

    let other = Workbench::with(|options| options.home(&home)).await;
    assert_eq!(other.changes().await, Vec::<Value>::new());
    other.editor.ignore_unread();
    other.end().await;
    let bench = Workbench::again(&home, &session).await;
    assert_eq!(paths(&bench.changes().await), [("modified", "a.txt"), ("created", "b.txt")]);
    bench.editor.updates_until(&session, "sandbox").await;
    assert_eq!(bench.bash("cat a.txt b.txt").await, "one\ntwo\nnew\n");
    bench.review("accept", json!({})).await;
    assert_eq!(bench.on_disk("a.txt"), "one\ntwo\n");
    bench.end().await;
}

#[tokio::test]
async fn the_slash_commands_list_accept_and_reject() {
    let (_home, options) = with_files(&[("a.txt", "one\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("echo two >> a.txt; echo x > x.txt; echo y > y.txt; echo b > 'a blank'").await;
    let said = |updates: Vec<Value>| agent_text(&updates);
    let listed = said(bench.editor.turn(&bench.session, "/changes").await);
    assert!(listed.contains("- modified `a.txt` (+1 −0)\n- created `x.txt`"), "{listed}");
    let accepted = said(bench.editor.turn(&bench.session, "/accept \"a blank\"").await);
    assert_eq!(accepted, "- Accepted `a blank`");
    let accepted = said(bench.editor.turn(&bench.session, "/accept a.txt nothing.txt").await);
    assert!(accepted.contains("- Accepted `a.txt`") && accepted.contains("Not `nothing.txt`"), "{accepted}");
    bench.bash("echo z > y.txt").await;
    let listed = said(bench.editor.turn(&bench.session, "/reject").await);
    assert!(listed.contains("- created `y.txt`") && listed.contains("send /reject again"), "{listed}");
    assert!(bench.editor.home().workspace().join("a.txt").exists());
    let rejected = said(bench.editor.turn(&bench.session, "/reject").await);
    assert_eq!(rejected, "- Rejected `x.txt`\n- Rejected `y.txt`");
    assert!(!bench.editor.home().workspace().join("x.txt").exists());
    assert_eq!(said(bench.editor.turn(&bench.session, "/changes").await), "Nothing waits for review.");
    bench.end().await;
}

/// At the level of files it ends the review, too.
#[tokio::test]
async fn stopping_among_the_hunks_of_a_file_ends_the_review_and_does_what_was_decided() {
    let (_home, options) = with_files(&[("a.txt", &numbered(1, 20)), ("b.txt", "b\n")]);
    let bench = Workbench::with(options).await;
    bench.bash("sed -i 's/line 3$/LINE 3/; s/line 17$/LINE 17/' a.txt; echo c >> b.txt").await;
    bench.editor.prompt(&bench.session, "/review").await;
    for answer in ["hunks", "accept", "stop"] {
        let question = bench.editor.next_server_request("airlock/permission").await;
        assert!(question.params["title"].as_str().unwrap().contains("a.txt"), "{}", question.params);
        question.respond(json!({"optionId": answer}));
    }
    let said = agent_text(&bench.editor.updates_until_turn_end(&bench.session).await);
    assert!(said.contains("- Accepted `a.txt`") && said.contains("2 files are left"), "{said}");
    assert_eq!(bench.on_disk("a.txt"), numbered(1, 20).replace("line 3\n", "LINE 3\n"));
    assert_eq!(paths(&bench.changes().await), [("modified", "a.txt"), ("modified", "b.txt")]);
    bench.end().await;
}

#[tokio::test]
async fn undo_gives_back_every_byte_of_the_view_after_a_formatter_ran_over_two_hundred_files() {
    let home = Home::new();
    for number in 0..200 {
        home.write(&format!("src/{number}.txt"), &format!("  indented {number}\n"));
    }
    let bench = Workbench::with(|options| options.home(&home)).await;
    bench
        .bash("echo before > src/5.txt; rm src/6.txt; mkdir empty; ln -s 7.txt src/link; chmod +x src/8.txt")
        .await;
    let all = "find . -printf '%p %m %l\\n' | sort; find . -type f | sort | xargs sha256sum";
    let before = bench.bash(all).await;
    let format = "sed -i 's/^ *//' src/*; rm src/9.txt; mkdir -p new/deep; echo x > new/deep/x; echo again > src/6.txt; rmdir empty; chmod -x src/8.txt; rm src/link";
    bench.bash(format).await;
    assert_ne!(bench.bash(all).await, before);
    // The look was a turn of its own.
    let said = agent_text(&bench.editor.turn(&bench.session, "/undo 2").await);
    assert!(said.starts_with("Undone:"), "{said}");
    assert_eq!(bench.bash(all).await, before);
    for number in 0..200 {
        assert_eq!(bench.on_disk(&format!("src/{number}.txt")), format!("  indented {number}\n"));
    }
    let refused = bench.editor.turn(&bench.session, "/undo 30").await;
    assert!(refused.last().unwrap()["error"].as_str().unwrap().contains("can be undone"), "{refused:?}");
    bench.end().await;
}

#[tokio::test]
async fn a_kill_while_a_hundred_files_are_accepted_leaves_each_old_or_new_and_the_list_agrees() {
    for files_before_the_kill in [0, 1, 50, 99] {
        let home = Home::new();
        for number in 0..100 {
            home.write(&format!("f/{number:02}.txt"), "old\n");
        }
        let bench = Workbench::with(|options| options.home(&home)).await;
        bench.bash("for f in f/*; do echo new > $f; done").await;
        let session = bench.session.clone();
        let workspace = home.workspace();
        let is_new =
            |number: usize| match std::fs::read_to_string(workspace.join(format!("f/{number:02}.txt")))
                .as_deref()
            {
                Ok("old\n") => false,
                Ok("new\n") => true,
                torn => panic!("{number}: {torn:?}"),
            };
        let _unanswered =
            bench.editor.start_request("airlock/changes/accept", bench.selection(json!({})).await);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while (0..100).filter(|number| is_new(*number)).count() < files_before_the_kill {
            assert!(std::time::Instant::now() < deadline, "it does not get on");
            std::thread::yield_now();
        }
        bench.editor.kill9().await;
        bench.claude.finish();
        let old: Vec<String> =
            (0..100).filter(|number| !is_new(*number)).map(|number| format!("f/{number:02}.txt")).collect();
        let bench = Workbench::again(&home, &session).await;
        let leftovers = || {
            let names = std::fs::read_dir(workspace.join("f")).expect("a folder").flatten();
            names.filter(|entry| entry.file_name().to_string_lossy().starts_with(".airlock-")).count()
        };
        let removed = async {
            while leftovers() > 0 {
                tokio::task::yield_now().await;
            }
        };
        within(removed, || "what the killed server left stays".to_owned()).await;
        let pending: Vec<String> =
            paths(&bench.changes().await).iter().map(|(_, path)| (*path).to_owned()).collect();
        assert_eq!(pending, old);
        bench.editor.ignore_unread();
        bench.end().await;
    }
}
