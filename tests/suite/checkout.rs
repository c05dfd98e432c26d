//! A user's git repository in the workspace, and a look at it as the user has it.

use airlock::paths::WorkspacePath;
use airlock::review::Accepted;
use airlock_tests::editor::Home;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A home in which git knows its user, and whose workspace is a repository with one commit on `main`.
pub(crate) fn home_with_repository() -> Home {
    let home = Home::new();
    know_user(&home);
    home.write("kept.txt", "kept\n");
    home.write("src/old.txt", "old\n");
    git(&home, &["init", "--quiet", "--initial-branch=main"]);
    git(&home, &["add", "."]);
    git(&home, &["commit", "--quiet", "--message=first"]);
    home
}

/// Tells git who its user is.
pub(crate) fn know_user(home: &Home) {
    std::fs::write(home.path().join(".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n")
        .unwrap();
}

/// Runs the user's git in the workspace; it must succeed.
pub(crate) fn git(home: &Home, arguments: &[&str]) -> String {
    git_in(home, &home.workspace(), arguments)
}

/// The same in another folder.
pub(crate) fn git_in(home: &Home, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git is installed");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

/// A bare repository in the home, beside the workspace.
pub(crate) fn bare_repository(home: &Home, name: &str) -> PathBuf {
    let path = home.path().join(name);
    git_in(home, home.path(), &["init", "--quiet", "--bare", "--initial-branch=main", name]);
    path
}

/// Takes paths down as accepted, as the door does.
pub(crate) fn accept(home: &Home, session: &str, paths: &[&str]) {
    let paths: Vec<WorkspacePath> = paths.iter().map(|path| WorkspacePath::parse(path).unwrap()).collect();
    record(home, session).add(&paths).unwrap();
}

/// What is accepted and not committed.
pub(crate) fn uncommitted(home: &Home, session: &str) -> Vec<String> {
    record(home, session).paths().unwrap().iter().map(|acceptance| acceptance.path.to_string()).collect()
}

fn record(home: &Home, session: &str) -> Accepted {
    Accepted::open(&home.state().join("airlock/sandboxes").join(session))
}

/// The agent's branch of a session.
pub(crate) fn branch(session: &str) -> String {
    format!("airlock/{session}")
}

/// What is the user's alone: the branch, the index as it is on the disk, and the state of the files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsersOwn {
    head: String,
    commit: String,
    index: Vec<u8>,
    status: String,
}

impl UsersOwn {
    pub(crate) fn of(home: &Home) -> Self {
        // It may refresh the index, so it goes first.
        let status = git(home, &["status", "--porcelain=v2", "--untracked-files=all"]);
        let read = |name: &str| std::fs::read(home.workspace().join(".git").join(name)).unwrap();
        Self {
            head: String::from_utf8(read("HEAD")).unwrap(),
            commit: git(home, &["rev-parse", "HEAD"]),
            index: read("index"),
            status,
        }
    }
}
