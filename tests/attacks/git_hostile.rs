//! A repository in which everything that git can start is a trap: Airlock commits and pushes, and none is sprung.

use crate::checkout::{accept, bare_repository, branch, git, git_in, home_with_repository, uncommitted};
use crate::desk::{error_of, ready_in, stop_reason};
use airlock_tests::editor::{Editor, Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const HOOKS: [&str; 16] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-commit",
    "post-index-change",
    "post-receive",
    "post-update",
    "pre-auto-gc",
    "pre-commit",
    "pre-push",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "update",
];

/// Settings whose value is a command, with the words that follow it there.
const COMMANDS: [(&str, &str); 29] = [
    ("core.alternateRefsCommand", ""),
    ("core.askPass", ""),
    ("core.editor", ""),
    ("core.fsmonitor", ""),
    ("core.gitProxy", ""),
    ("core.pager", ""),
    ("core.sshCommand", ""),
    ("credential.helper", ""),
    ("diff.evil.command", ""),
    ("diff.evil.textconv", ""),
    ("diff.external", ""),
    ("filter.evil.clean", "; cat"),
    ("filter.evil.process", ""),
    ("filter.evil.smudge", "; cat"),
    ("gc.recentObjectsHook", ""),
    ("gpg.program", ""),
    ("gpg.ssh.program", ""),
    ("interactive.diffFilter", ""),
    ("merge.evil.driver", ""),
    ("pager.config", ""),
    ("pager.rev-list", ""),
    ("remote.origin.proxy", ""),
    ("remote.origin.receivepack", "; exec git receive-pack \"$@\""),
    ("remote.origin.uploadpack", "; exec git upload-pack \"$@\""),
    ("sequence.editor", ""),
    ("ssh.variant", ""),
    ("trailer.evil.command", ""),
    ("uploadpack.packObjectsHook", ""),
    ("alias.commit-tree", ""),
];

/// The folder in which a sprung trap leaves its name.
fn sprung(home: &Home) -> PathBuf {
    home.path().join("sprung")
}

fn names(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(sprung(home)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A program that leaves its name and then does what follows.
fn trap(home: &Home, name: &str, then: &str) -> PathBuf {
    let path = home.path().join("traps").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\ntouch {}/{name}\n{then}\n", sprung(home).display());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Sets every trap in a repository, in its settings, its hooks, and what it includes.
fn set_traps(home: &Home, git_dir: &Path, prefix: &str) {
    std::fs::create_dir_all(sprung(home)).unwrap();
    let set = |key: &str, value: &str| {
        git_in(
            home,
            home.path(),
            &["config", "--file", git_dir.join("config").to_str().unwrap(), "--add", key, value],
        );
    };
    for (key, then) in COMMANDS {
        let name = format!("{prefix}{key}");
        let program = trap(home, &name, then.trim_start_matches("; ")).display().to_string();
        match key {
            "credential.helper" | "alias.commit-tree" => set(key, &format!("!{program}")),
            _ => set(key, &program),
        }
    }
    for hook in HOOKS {
        let program = trap(home, &format!("{prefix}hook-{hook}"), "");
        std::fs::create_dir_all(git_dir.join("hooks")).unwrap();
        std::fs::copy(&program, git_dir.join("hooks").join(hook)).unwrap();
    }
    for (key, value) in [
        ("commit.gpgSign", "true"),
        ("push.gpgSign", "if-asked"),
        ("filter.evil.required", "true"),
        ("protocol.ext.allow", "always"),
        ("protocol.file.allow", "always"),
        ("push.recurseSubmodules", "on-demand"),
        ("receive.procReceiveRefs", "refs"),
        ("receive.denyCurrentBranch", "updateInstead"),
        ("receive.autogc", "true"),
        ("gc.auto", "1"),
    ] {
        set(key, value);
    }
    let included = trap(home, &format!("{prefix}included"), "").display().to_string();
    let file = git_dir.join("more");
    let text = format!(
        "[core]\n\tfsmonitor = {included}\n\tsshCommand = {included}\n[credential]\n\thelper = !{included}\n"
    );
    std::fs::write(&file, text).unwrap();
    set("include.path", file.to_str().unwrap());
    set("includeIf.gitdir:/.path", file.to_str().unwrap());
    std::fs::create_dir_all(git_dir.join("info")).unwrap();
    std::fs::write(git_dir.join("info/attributes"), "*.evil filter=evil diff=evil merge=evil\n").unwrap();
}

/// A repository full of traps whose remote, on this machine, is full of traps as well.
fn hostile() -> (Home, PathBuf) {
    let home = home_with_repository();
    let bare = bare_repository(&home, "remote.git");
    git(&home, &["remote", "add", "origin", bare.to_str().unwrap()]);
    home.write(".gitattributes", "*.evil filter=evil diff=evil merge=evil\n");
    git(&home, &["add", ".gitattributes"]);
    git(&home, &["commit", "--quiet", "--message=attributes"]);
    git(&home, &["push", "--quiet", "origin", "main"]);
    set_traps(&home, &home.workspace().join(".git"), "");
    set_traps(&home, &bare, "remote-");
    // Whoever obeys this pushes somewhere else, by a command.
    let rewrite = format!("url.ext::{} .insteadOf", trap(&home, "rewrite", "").display());
    git_quietly(&home, &["config", &rewrite, home.path().to_str().unwrap()]);
    std::fs::remove_dir_all(sprung(&home)).unwrap();
    std::fs::create_dir_all(sprung(&home)).unwrap();
    (home, bare)
}

/// The user's git with all its traps; whether it succeeds does not matter.
fn git_quietly(home: &Home, arguments: &[&str]) {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(home.workspace())
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output();
    output.expect("git is installed");
}

/// Answers the next question.
pub(crate) async fn answer(
    editor: &Editor,
    session: &str,
    prompt: &str,
    option: &str,
) -> (Value, Vec<Value>) {
    editor.prompt(session, prompt).await;
    let question = editor.next_server_request("airlock/permission").await;
    let asked = question.params.clone();
    question.respond(json!({"optionId": option}));
    (asked, editor.updates_until_turn_end(session).await)
}

#[tokio::test]
async fn a_repository_full_of_traps_is_committed_and_pushed_and_none_is_sprung() {
    let (claude, (home, bare)) = (ScriptedClaude::start().await, hostile());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    home.write("kept.txt", "changed\n");
    home.write("new.txt", "new\n");
    home.write("a.evil", "never passed through a filter\n");
    accept(&home, &session, &["kept.txt", "new.txt", "a.evil"]);

    let updates = editor.turn(&session, "/commit safely").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    let told = agent_text(&updates);
    assert!(
        told.contains("`a.evil`: git passes it through the filter \"evil\", which is not run here"),
        "{told}"
    );
    let (asked, updates) = answer(&editor, &session, "/push", "yes").await;
    assert!(asked["detail"].as_str().unwrap().contains(&format!("to: {}", bare.display())), "{asked}");
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert_eq!(names(&home), [""; 0], "these were sprung");

    // What was committed arrived, byte for byte. These looks may spring traps, so they come last.
    for git_dir in [home.workspace().join(".git"), bare] {
        let show = ["--git-dir", git_dir.to_str().unwrap(), "cat-file", "-p"];
        let file = |path: &str| {
            let object = format!("{}:{path}", branch(&session));
            git_in(&home, home.path(), &[&show[..], &[&object]].concat())
        };
        assert_eq!((file("kept.txt"), file("new.txt")), ("changed\n".to_owned(), "new\n".to_owned()));
    }
    assert_eq!(uncommitted(&home, &session), ["a.evil"]);
    editor.shutdown().await;
}

/// What the test above is worth: git itself walks into these traps, one after the other as each is taken away.
#[test]
fn the_traps_work_on_git_itself() {
    let (home, _) = hostile();
    home.write("a.evil", "text\n");
    let rewrite = format!("url.ext::{} .insteadOf", home.path().join("traps/rewrite").display());
    let steps: [(&[&str], &[&str]); 13] = [
        (&["status"], &["included"]),
        (&["config", "--unset", "include.path"], &[]),
        (&["config", "--unset", "includeIf.gitdir:/.path"], &[]),
        (&["status"], &["core.fsmonitor"]),
        (&["add", "a.evil"], &["filter.evil.process"]),
        (&["config", "--unset", "filter.evil.process"], &[]),
        (&["add", "a.evil"], &["filter.evil.clean", "hook-post-index-change"]),
        (&["commit", "--message=x"], &["hook-pre-commit", "gpg.program"]),
        (&["commit", "--message=x", "--no-gpg-sign"], &["hook-reference-transaction", "hook-post-commit"]),
        (&["push", "origin", "main"], &["rewrite"]),
        (&["config", "--unset", &rewrite], &[]),
        (
            &["push", "origin", "main"],
            &["hook-pre-push", "remote.origin.receivepack", "remote-hook-pre-receive"],
        ),
        (&["ls-remote", "ssh://127.0.0.1/x"], &["core.sshCommand"]),
    ];
    for (arguments, expected) in steps {
        git_quietly(&home, arguments);
        let names = names(&home);
        let missed: Vec<_> = expected.iter().filter(|trap| !names.iter().any(|name| name == *trap)).collect();
        assert!(missed.is_empty(), "git {arguments:?} does not walk into {missed:?}, only into {names:?}");
    }
}

/// Puts what is at a path of the workspace's `.git` elsewhere, and a link in its place, through which all works as before.
fn link_out(home: &Home, outside: &Path, place: &str) {
    let (inside, moved) = (home.workspace().join(".git").join(place), outside.join("moved"));
    if inside.exists() {
        std::fs::rename(&inside, &moved).unwrap();
    } else {
        std::fs::create_dir_all(&moved).unwrap();
    }
    std::fs::create_dir_all(inside.parent().unwrap()).unwrap();
    symlink(moved, inside).unwrap();
}

/// Every name below a folder, with what the files hold.
fn all_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(all_below(&path)),
            false => all.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    all.sort();
    all
}

/// What an archive can bring: git writes a log whose text the repository chose, as its user's name, wherever a link leads. In
/// `~/.bashrc.d` that text is run by the next shell.
#[tokio::test]
async fn a_link_in_git_takes_no_commit_out_of_the_repository() {
    for place in [
        "refs/heads/airlock",
        "logs/refs/heads/airlock",
        "refs/heads",
        "refs",
        "logs",
        "objects",
        "objects/pack",
        "objects/info",
        "packed-refs",
        "refs/heads/main",
    ] {
        let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
        let outside = tempfile::tempdir().unwrap();
        git(&home, &["config", "user.name", "x; touch /tmp/PWNED; #"]);
        git(&home, &["branch", "packed"]);
        git(&home, &["pack-refs", "--all"]);
        git(&home, &["commit", "--quiet", "--allow-empty", "--message=loose"]);
        link_out(&home, outside.path(), place);
        let before = all_below(outside.path());
        let editor = ready_in(&claude, &home).await;
        let session = editor.new_session().await;
        home.write("new.txt", "new\n");
        accept(&home, &session, &["new.txt"]);
        let updates = editor.turn(&session, "/commit").await;
        assert_eq!(all_below(outside.path()), before, "{place}");
        let error = error_of(&updates);
        assert!(error.contains(&format!(".git/{place} is a link")), "{place}: {error}");
        assert_eq!(uncommitted(&home, &session), ["new.txt"]);
        editor.shutdown().await;
    }
}

/// The branches and objects of another repository of the user's, made to look as if the remote had them: then the question
/// would not show them, and the push would take them there.
#[tokio::test]
async fn no_push_takes_along_what_is_in_another_repository() {
    for by_links in [true, false] {
        let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
        let evil = bare_repository(&home, "evil.git");
        let private = home.path().join("private");
        git_in(&home, home.path(), &["init", "--quiet", "--initial-branch=main", "private"]);
        std::fs::write(private.join("secret.txt"), "secret\n").unwrap();
        git_in(&home, &private, &["add", "."]);
        git_in(&home, &private, &["commit", "--quiet", "--message=secret"]);
        git(&home, &["remote", "add", "origin", evil.to_str().unwrap()]);
        let (own, theirs) = (home.workspace().join(".git"), private.join(".git"));
        std::fs::create_dir_all(own.join("refs/remotes/origin")).unwrap();
        if by_links {
            for name in ["objects", "refs/heads"] {
                std::fs::remove_dir_all(own.join(name)).unwrap();
                symlink(theirs.join(name), own.join(name)).unwrap();
            }
            symlink(theirs.join("refs/heads/main"), own.join("refs/remotes/origin/m")).unwrap();
        } else {
            // The name of a commit is no secret: it stands in lock files and logs.
            let commit = git_in(&home, &private, &["rev-parse", "main"]);
            std::fs::write(own.join("refs/heads/main"), &commit).unwrap();
            std::fs::write(own.join("refs/remotes/origin/m"), &commit).unwrap();
            let objects = format!("{}\n", theirs.join("objects").display());
            std::fs::write(own.join("objects/info/alternates"), objects).unwrap();
        }
        let before = all_below(&theirs);
        let editor = ready_in(&claude, &home).await;
        let session = editor.new_session().await;
        home.write("new.txt", "new\n");
        accept(&home, &session, &["new.txt"]);
        for command in ["/commit", "/push"] {
            let error = error_of(&editor.turn(&session, command).await).to_owned();
            assert!(error.contains(".git/objects"), "{error}");
        }
        assert_eq!(all_below(&theirs), before);
        assert_eq!(git_in(&home, &evil, &["for-each-ref"]), "");
        editor.shutdown().await;
    }
}
