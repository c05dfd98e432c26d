//! The sandbox of a user who is not root: the real binary, started by such a user, with their own podman.

use crate::sandboxed::{bash, call, ready};
use airlock_tests::editor::{Editor, EditorOptions, Home};
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

pub(crate) async fn editor_of(user: &OrdinaryUser, home: &Home, claude: &ScriptedClaude) -> Editor {
    ready(EditorOptions::new(claude).user(user, home)).await
}

/// The podman services of a home, each with its process id.
fn services(home: &Home) -> Vec<String> {
    let pattern = format!("podman .*system service.*{}", home.path().display());
    let output = Command::new("pgrep").args(["-af", &pattern]).output().expect("pgrep");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// The names in a folder that begin so.
fn folders(folder: &Path, prefix: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.starts_with(prefix)).collect()
}

fn containers(user: &OrdinaryUser, home: &Home) -> usize {
    user.podman(home, &["ps", "--all", "--quiet"]).lines().count()
}

#[tokio::test]
async fn every_tool_works_without_root_and_what_is_written_belongs_to_the_user() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    home.write("a.txt", "as it was\n");
    user.take_over(&home.workspace());
    let editor = editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    let command = "id -u; cat a.txt; rm a.txt; echo new > b.txt; ls /sys/class/net; touch /usr/x";
    let called = bash(&editor, &claude, &session, command).await;
    assert_eq!(called.isolation(), "container");
    let detail = called.told_when("ready");
    assert!(called.result.starts_with("1000\nas it was\nlo\n[stderr]\n"), "{}", called.result);
    assert!(called.result.contains("Read-only file system"), "{}", called.result);

    let written =
        call(&editor, &claude, &session, "write_file", json!({"path": "d/c.txt", "content": "one\n"}));
    assert!(written.await.result.contains("created"));
    let edit = json!({"path": "d/c.txt", "edits": [{"old": "one", "new": "two"}]});
    let edited = call(&editor, &claude, &session, "edit_file", edit).await;
    assert!(!edited.is_error, "{}", edited.result);
    let read = call(&editor, &claude, &session, "read_file", json!({"path": "d/c.txt"})).await;
    assert_eq!(read.result, "     1\ttwo\n");
    let listed = call(&editor, &claude, &session, "list_files", json!({})).await;
    assert_eq!(listed.result.trim_end(), "b.txt\nd/\n  c.txt");
    let found = call(&editor, &claude, &session, "search_files", json!({"pattern": "tw."})).await;
    assert!(found.result.starts_with("d/c.txt:1:two"), "{}", found.result);

    assert_eq!(std::fs::read_to_string(home.workspace().join("a.txt")).unwrap(), "as it was\n");
    assert!(!home.workspace().join("b.txt").exists() && !home.workspace().join("d").exists());
    let upper = home.state().join("airlock/sandboxes").join(&session).join("upper");
    for name in ["b.txt", "d", "d/c.txt"] {
        assert!(user.owns(&upper.join(name)), "{name}");
    }
    let memory = bash(&editor, &claude, &session, "cat /sys/fs/cgroup/memory.max").await.result;
    let limited = memory.starts_with(&(512 << 20).to_string());
    assert_eq!(detail.contains("memory is not limited to 512 MiB"), !limited, "{detail} {memory}");
    assert_eq!(containers(user, &home), 1);
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    assert_eq!(containers(user, &home), 0);
    editor.shutdown().await;
    assert_eq!(services(&home), Vec::<String>::new());
    claude.finish();
}

#[tokio::test]
async fn what_a_killed_server_of_an_ordinary_user_left_is_gone_after_the_next_start() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    let editor = editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    bash(&editor, &claude, &session, "echo up").await;
    let old = (user.podman(&home, &["ps", "--quiet"]), services(&home));
    assert!(old.0.lines().count() == 1 && !old.1.is_empty(), "{old:?}");
    editor.kill9().await;

    let editor = editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    bash(&editor, &claude, &session, "echo up").await;
    let new = user.podman(&home, &["ps", "--all", "--quiet"]);
    assert!(new.lines().count() == 1 && new != old.0, "{new}");
    assert!(services(&home).iter().all(|service| !old.1.contains(service)), "{:?}", services(&home));
    assert_eq!(folders(&home.runtime(), "airlock-podman-").len(), 1, "the old socket's folder is gone");
    editor.shutdown().await;
    assert_eq!((services(&home), containers(user, &home)), (vec![], 0));
    assert_eq!(folders(&home.runtime(), "airlock-podman-"), Vec::<String>::new());
    assert_eq!(
        folders(&home.state().join("airlock/sandboxes"), "2"),
        Vec::<String>::new(),
        "nothing was changed"
    );
    claude.finish();
}

/// What stands for a removed folder is nothing that an ordinary user may open.
#[tokio::test]
async fn an_ordinary_user_reviews_and_undoes_the_removal_of_a_folder() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    for name in ["d/kept.txt", "d/gone.txt", "d/e/deep.txt", "f.txt"] {
        home.write(name, "as it was\n");
    }
    user.take_over(&home.workspace());
    let editor = editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    bash(&editor, &claude, &session, "rm -r d f.txt").await;
    let paths = async || {
        let listed = editor.expect("airlock/changes/list", json!({"sessionId": session})).await;
        let path = |change: &Value| format!("{} {}", change["kind"], change["path"]).replace('"', "");
        listed["changes"].as_array().unwrap().iter().map(path).collect::<Vec<_>>()
    };
    let all = ["deleted d/e/deep.txt", "deleted d/gone.txt", "deleted d/kept.txt", "deleted f.txt"];
    assert_eq!(paths().await, all);
    editor.turn(&session, "/undo").await;
    assert_eq!(paths().await, Vec::<String>::new());
    assert!(
        bash(&editor, &claude, &session, "cat d/e/deep.txt; rm -r d").await.result.starts_with("as it was\n")
    );
    assert_eq!(paths().await, all[..3]);
    editor.turn(&session, "/changes").await;
    editor.turn(&session, "/reject d/kept.txt").await;
    editor.turn(&session, "/accept").await;
    assert_eq!(paths().await, Vec::<String>::new());
    let files = ["d/kept.txt", "d/gone.txt", "d/e/deep.txt", "f.txt"];
    assert_eq!(files.map(|file| home.workspace().join(file).exists()), [true, false, false, true]);
    editor.expect("airlock/session/close", json!({"sessionId": session})).await;
    let left = folders(&home.state().join("airlock/sandboxes").join(&session), "");
    assert!(!left.iter().any(|name| name == "work" || name == "owner"), "{left:?}");
    editor.shutdown().await;
    claude.finish();
}

/// Control groups may not help here, so the limit of the user's processes must.
#[tokio::test]
async fn a_fork_bomb_of_an_ordinary_user_is_bounded_and_its_time_is_up() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    let editor = editor_of(user, &home, &claude).await;
    let session = editor.new_session().await;
    let bomb = json!({"command": "b() { b | b & }; b; sleep 1000", "timeout_s": 2});
    let called = call(&editor, &claude, &session, "bash", bomb).await;
    assert!(called.result.contains("because its time was up"), "{}", called.result);
    let left = bash(&editor, &claude, &session, "ls -d /proc/[0-9]* | wc -l").await;
    let count: u32 = left.result.lines().next().unwrap_or_default().parse().expect("a number");
    assert!(count < 10, "{}", left.result);
    editor.shutdown().await;
    claude.finish();
}

/// Root can look into every folder, so only an ordinary user meets this.
#[tokio::test]
async fn a_folder_that_the_agent_closed_is_told_and_keeps_nothing_else_from_review() {
    let user = OrdinaryUser::get();
    let home = user.home();
    home.write("old.txt", "old\n");
    user.take_over(&home.workspace());
    let bench = Workbench::with(|options| options.user(user, &home)).await;
    bench.bash("echo new > ok.txt; mkdir -m 0 x; mkdir -m 0400 y; echo 1 > old.txt; chmod 0 old.txt").await;
    bench.changes().await;
    let list = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
    let remarks = list["remarks"].to_string();
    assert!(remarks.contains("x: it cannot be looked into"), "{remarks}");
    assert!(remarks.contains("old.txt: it cannot be read"), "{remarks}");
    let outcome = bench.review("accept", json!({"paths": ["ok.txt"]})).await;
    assert_eq!(outcome["done"], json!(["ok.txt"]), "{outcome}");
    assert_eq!(bench.on_disk("ok.txt"), "new\n");

    bench.bash("echo later > later.txt").await;
    let undone = bench.editor.turn(&bench.session, "/undo").await;
    assert_eq!(undone.last().unwrap()["stopReason"], "end_turn", "{undone:#?}");
    assert_eq!(bench.bash("cat later.txt 2>&1 || ls -d x y ok.txt").await.lines().count(), 4);

    // The workspace itself.
    bench.bash("echo last > last.txt; chmod 0 .").await;
    bench.changes().await;
    let outcome = bench.review("accept", json!({"paths": ["last.txt"]})).await;
    assert_eq!(outcome["done"], json!(["last.txt"]), "{outcome}");
    bench.end().await;
}
