//! A repository in which everything that git can start is a trap: Airlock commits and pushes, and none is sprung.

use crate::checkout::{accept, bare_repository, branch, git, git_in, home_with_repository, uncommitted};
use crate::desk::{ready_in, stop_reason};
use airlock_tests::editor::{Editor, Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
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
