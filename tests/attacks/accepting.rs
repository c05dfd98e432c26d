//! What the sandbox made, on its way to the user's files.

use crate::review::with_files;
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn a_link_of_the_sandbox_is_shown_as_a_link_and_never_followed() {
    let (home, options) = with_files(&[]);
    let victim = tempfile::tempdir().unwrap();
    let bench = Workbench::with(options).await;
    bench.bash(&format!("ln -s {} out; mkdir out2; echo evil > out2/.bashrc", victim.path().display())).await;
    let changes = bench.changes().await;
    let out = changes.iter().find(|change| change["path"] == "out").unwrap();
    assert_eq!((&out["protected"], &out["binary"]), (&json!(true), &json!(false)));
    assert!(out["hunks"][0]["text"].as_str().unwrap().contains("a link to"), "{out}");
    // By itself a link is taken over as a link; then it is in the way of what would go through it.
    bench.review("accept", json!({"paths": ["out"]})).await;
    assert_eq!(std::fs::read_link(home.workspace().join("out")).unwrap(), victim.path());
    bench.bash("rm out; mkdir out; echo evil > out/.bashrc").await;
    bench.review("accept", json!({"paths": ["out/.bashrc"]})).await;
    assert!(!victim.path().join(".bashrc").exists());
    bench.end().await;
}

/// Two links, each of which stays in the workspace when it is only read: together they lead above it. And one into what is
/// never accepted.
#[tokio::test]
async fn a_link_that_leads_out_by_another_link_or_to_gits_own_does_not_come_with_the_rest() {
    let (home, options) = with_files(&[(".git/hooks/x", "x\n"), ("ok/a.txt", "x\n")]);
    let bench = Workbench::with(options).await;
    bench
        .bash("mkdir -p p/q; ln -s ../.. p/q/l; ln -s p/q/l/../../.bashrc.d dist; ln -s .git/hooks build; ln -s ../.VSCode p/v; ln -s ok fine")
        .await;
    let changes = bench.changes().await;
    let marked: Vec<(&str, bool)> = changes
        .iter()
        .map(|change| (change["path"].as_str().unwrap(), change["protected"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        marked,
        [("build", true), ("dist", true), ("fine", false), ("p/q/l", false), ("p/v", true)],
        "{changes:#?}"
    );
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(outcome["done"], json!(["fine", "p/q/l"]));
    for path in ["build", "dist", "p/v"] {
        assert!(home.workspace().join(path).symlink_metadata().is_err(), "{path} came with the rest");
    }
    bench.end().await;
}

#[tokio::test]
async fn a_folder_that_became_a_link_between_review_and_accept_is_not_written_through() {
    let (home, options) = with_files(&[("d/inner.txt", "old\n")]);
    let victim = tempfile::tempdir().unwrap();
    std::fs::write(victim.path().join("inner.txt"), "victim\n").unwrap();
    let bench = Workbench::with(options).await;
    bench.bash("mkdir new; echo evil > new/.bashrc; echo evil > d/inner.txt").await;
    bench.changes().await;
    symlink(victim.path(), home.workspace().join("new")).unwrap();
    std::fs::remove_dir_all(home.workspace().join("d")).unwrap();
    symlink(victim.path(), home.workspace().join("d")).unwrap();
    let outcome = bench.review("accept", json!({"paths": ["new/.bashrc", "d/inner.txt"]})).await;
    assert_eq!(outcome["failed"].as_array().unwrap().len(), 2, "{outcome}");
    assert!(!victim.path().join(".bashrc").exists());
    assert_eq!(read(&victim.path().join("inner.txt")), "victim\n");
    bench.end().await;
}

#[tokio::test]
async fn a_hard_linked_file_is_replaced_and_not_written_through() {
    let (home, options) = with_files(&[("hard.txt", "shared\n")]);
    std::fs::hard_link(home.workspace().join("hard.txt"), home.path().join("other-name")).unwrap();
    let bench = Workbench::with(options).await;
    bench.bash("echo mine > hard.txt").await;
    bench.review("accept", json!({})).await;
    assert_eq!(
        (bench.on_disk("hard.txt").as_str(), read(&home.path().join("other-name")).as_str()),
        ("mine\n", "shared\n")
    );
    bench.end().await;
}

#[tokio::test]
async fn what_runs_later_is_accepted_only_by_itself_and_git_never() {
    let (home, options) = with_files(&[(".git/config", "[core]\n"), ("ok.txt", "x\n")]);
    let bench = Workbench::with(options).await;
    bench
        .bash("mkdir -p .git/hooks .VSCode .github/workflows .idea; echo x > .git/hooks/pre-commit; echo x >> .git/config; \
               echo x > .VSCode/tasks.json; echo x > .envrc; echo x > .github/workflows/ci.yml; echo x > build.rs; \
               echo x > .idea/a.xml; echo x > My.CODE-workspace; echo y > ok.txt")
        .await;
    let changes = bench.changes().await;
    let protected: Vec<&str> = changes
        .iter()
        .filter(|change| change["protected"] == true)
        .map(|change| change["path"].as_str().unwrap())
        .collect();
    let expected = [
        ".VSCode/tasks.json",
        ".envrc",
        ".github/workflows/ci.yml",
        ".idea/a.xml",
        "My.CODE-workspace",
        "build.rs",
    ];
    assert_eq!(protected, expected);
    let outcome = bench.review("accept", json!({})).await;
    assert_eq!(
        (&outcome["done"], outcome["failed"].as_array().unwrap().len()),
        (&json!(["ok.txt"]), expected.len())
    );
    let both = bench.review("accept", json!({"paths": [".envrc", "build.rs"]})).await;
    assert_eq!(both["done"], json!([]), "not together");
    let git = bench.review("accept", json!({"paths": [".git/config"]})).await;
    assert!(git["failed"][0]["why"].as_str().unwrap().contains("never"), "{git}");
    bench.review("accept", json!({"paths": [".envrc"]})).await;
    assert!(home.workspace().join(".envrc").exists());
    assert_eq!(read(&home.workspace().join(".git/config")), "[core]\n");
    assert!(!home.workspace().join(".git/hooks").exists() && !home.workspace().join("build.rs").exists());
    bench.end().await;
}

/// Git takes these for `.git` on some file systems: CVE-2014-9390, CVE-2019-1352, CVE-2021-21300.
#[tokio::test]
async fn what_some_file_systems_take_for_gits_own_is_never_accepted() {
    let (home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    bench
        .bash("for d in .GIT .Git git~1 GIT~1 $'.g\\u200cit' sub/.git 'sub/.git ' '.git.' '.git::$INDEX_ALLOCATION'; do mkdir -p \"$d/hooks\"; echo x > \"$d/hooks/pre-commit\"; done; echo 'gitdir: /tmp/evil' > sub2.git; mkdir sub3; echo 'gitdir: /tmp/evil' > sub3/.git")
        .await;
    bench.review("accept", json!({})).await;
    for change in bench.changes().await {
        bench.review("accept", json!({"paths": [change["path"]]})).await;
    }
    let left = std::process::Command::new("find")
        .arg(home.workspace())
        .args(["-path", "*git*", "-type", "f"])
        .output();
    let left = String::from_utf8(left.unwrap().stdout).unwrap();
    let names: Vec<&str> = left.lines().filter(|line| !line.ends_with("sub2.git")).collect();
    assert_eq!(names, Vec::<&str>::new());
    bench.end().await;
}

/// A named pipe would hang whoever reads it, a device would be worse.
#[tokio::test]
async fn what_is_neither_file_nor_link_is_not_taken_over_and_hangs_nobody() {
    let (home, options) = with_files(&[("a.txt", "old\n")]);
    let bench = Workbench::with(options).await;
    bench
        .bash("mkfifo pipe; rm a.txt; mkfifo a.txt; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; echo new > b.txt")
        .await;
    bench.review("accept", json!({})).await;
    assert_eq!(bench.on_disk("b.txt"), "new\n");
    assert!(!home.workspace().join("pipe").exists() && !home.workspace().join("s").exists());
    let kept = std::fs::symlink_metadata(home.workspace().join("a.txt"));
    assert!(kept.is_err() || kept.unwrap().is_file());
    // The repository's own pipe hangs nobody either.
    let pipe = home.workspace().join("mine");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    bench.bash("rm -f mine; echo text > mine").await;
    bench.changes().await;
    bench.review("accept", json!({"paths": ["mine"]})).await;
    bench.end().await;
}

/// The list is made from names that the sandbox chose.
#[tokio::test]
async fn names_made_to_deceive_lead_nowhere() {
    let (home, options) = with_files(&[]);
    let bench = Workbench::with(options).await;
    bench
        .bash("echo x > $'a\\nb'; echo x > $'\\e[2Kgone'; echo x > $'safe\\u202etxt.exe'; echo x > '../x' 2>/dev/null; echo x > $'\\xff\\xfe'; mkdir -p 'a/..b'; echo x > 'a/..b/c'")
        .await;
    let list = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
    let paths: Vec<&str> =
        list["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"a\nb") && paths.contains(&"a/..b/c") && paths.len() == 4, "{paths:?}");
    assert!(!home.path().join("x").exists());
    bench.end().await;
}

/// More than a review can hold, so that something slips by unseen.
#[tokio::test]
async fn a_flood_of_changes_is_cut_and_says_so() {
    let bench = Workbench::new().await;
    bench.bash("mkdir z; seq -f 'z/%.0f' 30000 | xargs touch").await;
    let list = bench.editor.expect("airlock/changes/list", json!({"sessionId": bench.session})).await;
    assert!(list["changes"].as_array().unwrap().len() < 30_000);
    assert!(list.to_string().contains("there are more changes than can be listed"), "{}", list["remarks"]);
    // The count comes when all of it was looked at, which may be after the turn.
    bench.editor.ignore_unread();
    bench.end().await;
}
