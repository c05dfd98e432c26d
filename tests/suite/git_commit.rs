//! `/commit`: what was accepted, on a branch of the agent's own, and nothing of the user's moves.

use crate::checkout::{UsersOwn, accept, branch, git, git_in, home_with_repository, know_user, uncommitted};
use crate::desk::{error_of, ready_in, ready_with, stop_reason};
use airlock_tests::editor::{EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

fn set_mode(home: &Home, path: &str, mode: u32) {
    std::fs::set_permissions(home.workspace().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// What a commit holds: mode and path of each file.
fn tree(home: &Home, commit: &str) -> Vec<String> {
    let listed = git(home, &["ls-tree", "-r", "--format=%(objectmode) %(path)", commit]);
    listed.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn accepted_paths_are_committed_as_they_are_and_nothing_of_the_users_moves() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    home.write("staged.txt", "the user's own\n");
    git(&home, &["add", "staged.txt"]);
    home.write("kept.txt", "changed, but not accepted\n");
    home.write("new/run.sh", "echo hi\n");
    set_mode(&home, "new/run.sh", 0o755);
    home.write("-n.txt", "\u{e9} \r\n");
    symlink("/nowhere", home.workspace().join("link")).unwrap();
    std::fs::remove_file(home.workspace().join("src/old.txt")).unwrap();
    accept(&home, &session, &["new/run.sh", "-n.txt", "link", "src/old.txt"]);
    let before = UsersOwn::of(&home);

    let updates = editor.turn(&session, "/commit A new script\n\nAnd why.").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    let told = agent_text(&updates);
    for part in [
        "A new script",
        "created `-n.txt`",
        "created `new/run.sh`",
        "deleted `src/old.txt`",
        &branch(&session),
    ] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    assert_eq!(UsersOwn::of(&home), before);
    let commit = branch(&session);
    assert_eq!(
        tree(&home, &commit),
        ["100644 -n.txt", "100644 kept.txt", "120000 link", "100755 new/run.sh"]
    );
    assert_eq!(git(&home, &["show", &format!("{commit}:-n.txt")]), "\u{e9} \r\n");
    assert_eq!(git(&home, &["show", &format!("{commit}:link")]), "/nowhere");
    assert_eq!(git(&home, &["show", &format!("{commit}:kept.txt")]), "kept\n");
    assert_eq!(
        git(&home, &["log", "-1", "--format=%an <%ae>%n%B", &commit]),
        "Ada <ada@example.com>\nA new script\n\nAnd why.\n\n"
    );
    assert_eq!(git(&home, &["rev-parse", &format!("{commit}^")]), git(&home, &["rev-parse", "main"]));
    assert_eq!(uncommitted(&home, &session), [""; 0]);
    git(&home, &["fsck", "--strict"]);
    assert_eq!(claude.hits(), 0);
    editor.shutdown().await;
}

#[tokio::test]
async fn the_branch_goes_on_and_the_message_is_made_of_the_conversation() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    claude.push("Hello.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "tidy up the files").await;
    home.write("a.txt", "one\n");
    accept(&home, &session, &["a.txt"]);
    editor.turn(&session, "/commit").await;
    home.write("a.txt", "two\n");
    home.write("b.txt", "");
    accept(&home, &session, &["a.txt", "b.txt", "kept.txt"]);
    editor.turn(&session, "/commit second").await;
    let log = git(&home, &["log", "--format=%s|%b", &branch(&session)]);
    assert_eq!(log, "second|\ntidy up the files|- created a.txt\n\nfirst|\n");
    assert_eq!(
        git(&home, &["show", "--format=", "--name-status", &branch(&session)]),
        "M\ta.txt\nA\tb.txt\n"
    );
    // What is there already is told, and not committed once more.
    accept(&home, &session, &["a.txt"]);
    let updates = editor.turn(&session, "/commit third").await;
    assert!(agent_text(&updates).contains("Nothing to commit"), "{updates:#?}");
    assert_eq!(git(&home, &["log", "--format=%s|%b", &branch(&session)]), log);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn what_was_accepted_before_a_kill_is_committed_after_it() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    claude.push("Hello.");
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    editor.turn(&session, "hi").await;
    home.write("a.txt", "one\n");
    accept(&home, &session, &["a.txt"]);
    editor.kill9().await;
    let editor = ready_in(&claude, &home).await;
    editor.expect("airlock/session/load", serde_json::json!({"sessionId": session})).await;
    editor.updates_until(&session, "usage").await;
    editor.turn(&session, "/commit").await;
    assert_eq!(git(&home, &["show", &format!("{}:a.txt", branch(&session))]), "one\n");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_commit_that_cannot_be_made_says_what_to_do() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let updates = editor.turn(&session, "/commit").await;
    assert!(error_of(&updates).contains("accept changes first"), "{updates:#?}");
    home.write("a.txt", "one\n");
    accept(&home, &session, &["a.txt"]);
    let updates = editor.turn(&session, "/commit").await;
    assert!(error_of(&updates).contains("git init"), "{updates:#?}");
    git(&home, &["init", "--quiet", "--initial-branch=main"]);
    let updates = editor.turn(&session, "/commit").await;
    assert!(error_of(&updates).contains("git config --global user.name"), "{updates:#?}");
    assert_eq!(uncommitted(&home, &session), ["a.txt"]);
    know_user(&home);
    // Also where there is no commit at all yet.
    let updates = editor.turn(&session, "/commit").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert_eq!(tree(&home, &branch(&session)), ["100644 a.txt"]);
    git(&home, &["symbolic-ref", "HEAD", &format!("refs/heads/{}", branch(&session))]);
    home.write("a.txt", "two\n");
    accept(&home, &session, &["a.txt"]);
    let updates = editor.turn(&session, "/commit").await;
    assert!(error_of(&updates).contains("git switch"), "{updates:#?}");
    editor.shutdown().await;
}

#[tokio::test]
async fn a_document_that_is_not_saved_is_not_committed_until_it_is() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    home.write("a.txt", "one\n");
    accept(&home, &session, &["a.txt", "kept.txt"]);
    home.write("kept.txt", "accepted\n");
    let uri = home.file_uri("a.txt");
    editor.open(&uri, "not saved\n");
    let told = agent_text(&editor.turn(&session, "/commit").await);
    assert!(told.contains("`a.txt`: it has changes in your editor that are not saved"), "{told}");
    assert_eq!(tree(&home, &branch(&session)), ["100644 kept.txt", "100644 src/old.txt"]);
    assert_eq!(uncommitted(&home, &session), ["a.txt"]);
    home.write("a.txt", "not saved\n");
    editor.turn(&session, "/commit").await;
    assert_eq!(git(&home, &["show", &format!("{}:a.txt", branch(&session))]), "not saved\n");
    editor.shutdown().await;
}

#[tokio::test]
async fn what_git_would_change_on_the_way_in_is_left_out_and_named() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    git(&home, &["config", "--global", "filter.secret.clean", "encrypt"]);
    home.write(".gitattributes", "*.key filter=secret\n*.bat text eol=crlf\n*.raw -text\n*.x filter=none\n");
    let inner = home.workspace().join("inner");
    std::fs::create_dir(&inner).unwrap();
    git_in(&home, &inner, &["init", "--quiet"]);
    git_in(&home, &inner, &["commit", "--quiet", "--allow-empty", "--message=inner"]);
    git(&home, &["add", ".gitattributes", "inner"]);
    git(&home, &["commit", "--quiet", "--message=attributes"]);
    std::fs::remove_dir_all(inner.join(".git")).unwrap();
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    for (path, text) in [
        ("a.key", "s3cret\n"),
        ("a.bat", "one\r\n"),
        ("b.bat", "two\n"),
        ("a.raw", "three\r\n"),
        ("a.x", "four\n"),
        ("inner/a.txt", "five\n"),
    ] {
        home.write(path, text);
    }
    home.write("own/a.txt", "six\n");
    git_in(&home, &home.workspace().join("own"), &["init", "--quiet"]);
    accept(&home, &session, &["a.key", "a.bat", "b.bat", "a.raw", "a.x", "inner/a.txt", "own/a.txt"]);
    let told = agent_text(&editor.turn(&session, "/commit").await);
    for part in [
        "`a.key`: git passes it through the filter \"secret\"",
        "`a.bat`: git changes its line ends",
        "`inner/a.txt`: it is in a submodule",
        "`own/a.txt`: own is a repository of its own",
    ] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    let changed = git(&home, &["show", "--format=", "--name-only", &branch(&session)]);
    assert_eq!(changed, "a.raw\na.x\nb.bat\n");
    assert_eq!(uncommitted(&home, &session), ["a.bat", "a.key", "inner/a.txt", "own/a.txt"]);
    editor.shutdown().await;
}

/// A workspace of another kind, with the folder that the editor has open in it.
async fn commits_in(home: &Home, folder: &str, file: &str) {
    let claude = ScriptedClaude::start().await;
    let editor = ready_with(EditorOptions::new(&claude).home(home)).await;
    let uri = format!("file://{}", home.path().join(folder).display());
    let opened = editor.expect("airlock/session/new", serde_json::json!({"folder": uri})).await;
    let session = opened["sessionId"].as_str().unwrap();
    let path = home.path().join(folder);
    std::fs::write(path.join("made.txt"), "made\n").unwrap();
    accept(home, session, &["made.txt"]);
    let updates = editor.turn(session, "/commit").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    let shown = git_in(home, &path, &["show", "--format=", "--name-only", &branch(session)]);
    assert_eq!(shown, format!("{file}\n"));
    git_in(home, &path, &["fsck", "--strict"]);
    editor.shutdown().await;
}

#[tokio::test]
async fn a_folder_below_the_root_and_a_linked_work_tree_commit_to_their_repository() {
    let home = home_with_repository();
    commits_in(&home, "workspace/src", "src/made.txt").await;
    git(&home, &["worktree", "add", "--quiet", "../second"]);
    commits_in(&home, "second", "made.txt").await;
    git(&home, &["pack-refs", "--all"]);
    git(&home, &["gc", "--quiet"]);
    commits_in(&home, "second", "made.txt").await;
}

fn git_knows_tables() -> bool {
    let version = Command::new("git").arg("version").output().expect("git starts").stdout;
    let version = String::from_utf8(version).expect("a text");
    let numbers = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let mut numbers = numbers.split('.').map(|number| number.parse::<u32>().unwrap_or_default());
    (numbers.next(), numbers.next()) >= (Some(2), Some(45))
}

#[tokio::test]
async fn other_hashes_and_other_ways_to_keep_branches_work_as_well() {
    let mut others = vec![("sha", "--object-format=sha256")];
    // Where git is older than 2.45 no repository is like this.
    if git_knows_tables() {
        others.push(("table", "--ref-format=reftable"));
    }
    for (name, option) in others {
        let home = home_with_repository();
        git_in(&home, home.path(), &["init", "--quiet", "--initial-branch=main", option, name]);
        git_in(&home, &home.path().join(name), &["commit", "--quiet", "--allow-empty", "--message=first"]);
        commits_in(&home, name, "made.txt").await;
    }
}

/// As one with reftables is to a git before 2.45.
#[tokio::test]
async fn a_repository_of_a_kind_that_git_does_not_know_is_refused_in_its_words() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    home.write("made.txt", "made\n");
    accept(&home, &session, &["made.txt"]);
    git(&home, &["config", "core.repositoryFormatVersion", "1"]);
    git(&home, &["config", "extensions.ofTomorrow", "true"]);
    let updates = editor.turn(&session, "/commit Made").await;
    let error = error_of(&updates);
    assert!(error.to_lowercase().contains("oftomorrow"), "{error}");
    editor.shutdown().await;
    claude.finish();
}
