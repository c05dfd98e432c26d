//! Addresses, links and folders that lead to another place than they seem to.

use crate::desk::{configure, ready_in, trust};
use crate::sandboxed::{bash, ready};
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::workbench::Workbench;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const SECRET: &str = "THE-SECRET-OF-THE-HOME";

/// A home with a secret beside its workspace.
fn home_with_secret() -> Home {
    let home = Home::new();
    std::fs::write(home.path().join("secret"), SECRET).unwrap();
    home
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Bug class: an address that is decoded after it was checked (`..%2f`), or that names another machine (`file://host/`).
#[tokio::test]
async fn an_address_that_leads_elsewhere_brings_nothing_into_a_prompt() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_secret());
    symlink(home.path().join("secret"), home.workspace().join("link")).unwrap();
    symlink(home.path(), home.workspace().join("folder")).unwrap();
    home.write("inside.txt", "inside\n");
    claude.otherwise(|_| Some(Reply::says("I see.")));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (ws, outside) = (home.workspace_uri(), home.path().display().to_string());
    let addresses = [
        format!("{ws}/../secret"),
        format!("{ws}/..%2fsecret"),
        format!("{ws}/..%2Fsecret"),
        format!("{ws}/%2e%2e/secret"),
        format!("{ws}/a/..%2f..%2fsecret"),
        format!("{ws}/link"),
        format!("{ws}/folder/secret"),
        format!("{ws}%2f..%2fsecret"),
        format!("file://{outside}/secret"),
        format!("file://localhost{outside}/secret"),
        format!("file://evil.example{outside}/secret"),
        format!("{ws}/inside.txt%00/../../secret"),
        format!("vscode-remote://x{outside}/secret"),
    ];
    for address in addresses {
        let params = json!({"sessionId": session, "text": "look", "context": [{"uri": address}]});
        if editor.request("airlock/session/prompt", params).await.is_ok() {
            editor.updates_until_turn_end(&session).await;
        }
        let sent = claude.requests().iter().any(|request| request.body.to_string().contains(SECRET));
        assert!(!sent, "{address} brought the secret");
    }
    let params =
        json!({"sessionId": session, "text": "look", "context": [{"uri": home.file_uri("inside.txt")}]});
    editor.expect("airlock/session/prompt", params).await;
    editor.updates_until_turn_end(&session).await;
    assert!(claude.requests().pop().unwrap().body.to_string().contains("inside\\n"), "an honest one does");
    editor.shutdown().await;
}

/// A property of this design: whatever is in the workspace is the agent's to see and to propose changes to, so the key, the grants
/// and the histories must not be in it, however they got there.
#[tokio::test]
async fn a_workspace_with_airlocks_own_folders_in_it_or_around_it_has_no_sandbox() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    configure(&home, "config.toml", "api_key = \"sk-ant-SECRET\"\n");
    std::fs::create_dir_all(home.state().join("airlock/history")).unwrap();
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    let way = home.path().join("way");
    symlink(home.config(), &way).unwrap();
    for folder in [
        home.path().to_owned(),
        home.config(),
        home.config().join("airlock"),
        way,
        home.state().join("airlock/history"),
    ] {
        let uri = format!("file://{}", folder.display());
        let opened = editor.expect("airlock/session/new", json!({"folder": uri})).await;
        let session = opened["sessionId"].as_str().unwrap();
        let called = bash(&editor, &claude, session, "cat airlock/config.toml config.toml").await;
        assert!(
            called.is_error && called.result.contains("Airlock's own folder"),
            "{}: {}",
            folder.display(),
            called.result
        );
        assert!(!called.result.contains("SECRET"));
    }
    editor.shutdown().await;
}

/// The same where the configuration is a link into a repository, as people keep it who have one for all their dots.
#[tokio::test]
async fn a_workspace_that_the_configuration_is_linked_to_has_no_sandbox() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    home.write("airlock/config.toml", "model = \"claude-sonnet-5\"\n");
    symlink(home.workspace().join("airlock"), home.config().join("airlock")).unwrap();
    let told = crate::sandboxed::refused(EditorOptions::new(&claude).home(&home), &claude).await;
    assert!(told.starts_with("the workspace holds Airlock's own folder"), "{told}");
    claude.finish();
}

/// Bug class: a link in a repository that is followed with the user's rights; here into the prompt, which leaves the machine.
#[tokio::test]
async fn instructions_and_commands_that_are_links_bring_no_secret_into_a_prompt() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_secret());
    let secret = home.path().join("secret");
    home.write(".claude/commands/honest.md", "Be honest.\n");
    symlink(&secret, home.workspace().join("AGENTS.md")).unwrap();
    symlink("../secret", home.workspace().join("CLAUDE.md")).unwrap();
    symlink(&secret, home.workspace().join(".claude/commands/leak.md")).unwrap();
    std::fs::create_dir(home.path().join("other")).unwrap();
    std::fs::write(home.path().join("other/config.toml"), format!("# {SECRET}\n")).unwrap();
    symlink(home.path().join("other"), home.workspace().join(".airlock")).unwrap();
    claude.otherwise(|_| Some(Reply::says("ok")));
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let (asked, updates) = trust(&editor, &session).await;
    let mut seen = vec![asked.to_string(), json!(updates).to_string()];
    for words in ["hi", "/leak", "/honest"] {
        seen.push(json!(editor.turn(&session, words).await).to_string());
    }
    seen.extend(claude.requests().iter().map(|request| request.body.to_string()));
    assert!(seen.iter().any(|text| text.contains("Be honest")), "trust was given");
    assert!(seen.iter().all(|text| !text.contains(SECRET)), "{seen:#?}");
    editor.shutdown().await;
}

/// CVE-2018-1000007 and its like: a client that follows a redirect takes its credentials along, and `x-api-key` is on nobody's list of
/// headers to leave behind.
#[tokio::test]
async fn a_redirect_of_the_api_takes_the_key_nowhere() {
    let (claude, elsewhere, home) =
        (ScriptedClaude::start().await, ScriptedClaude::start().await, Home::new());
    configure(&home, "config.toml", "retries = 0\n");
    for status in [301, 302, 307, 308] {
        let location = format!("{}/v1/messages", elsewhere.base_url());
        claude.push(Reply::status(status).header("location", &location));
    }
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    for _ in 0..4 {
        let updates = editor.turn(&session, "hi").await;
        assert_eq!(updates.last().unwrap()["stopReason"], "error", "{updates:#?}");
    }
    assert_eq!(elsewhere.hits(), 0);
    editor.shutdown().await;
}

/// Bug class: a file of the repository's that is read before anybody trusts it, and that never ends or never begins.
#[tokio::test]
async fn rules_of_git_that_are_a_pipe_a_device_or_a_link_hold_up_nobody() {
    let outside = tempfile::tempdir().unwrap();
    let pipe = outside.path().join("pipe");
    mkfifo(&pipe);
    for target in [None, Some(pipe.as_path()), Some(Path::new("/dev/zero"))] {
        let home = Home::new();
        home.write("sub/a.txt", "old\n");
        for place in [".gitignore", "sub/.gitignore", ".ignore", ".git/info/exclude"] {
            let path = home.workspace().join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match target {
                None => mkfifo(&path),
                Some(target) => symlink(target, &path).unwrap(),
            }
        }
        let bench = Workbench::with(|options| options.home(&home)).await;
        bench.bash("echo new > sub/b.txt").await;
        let changes = bench.changes().await;
        assert_eq!(changes.len(), 1, "{target:?}: {changes:#?}");
        assert_eq!(changes[0]["path"], "sub/b.txt");
        let other = home.write("other", "new\n");
        std::fs::rename(other, home.workspace().join("sub/a.txt")).unwrap();
        assert_eq!(bench.bash("cat sub/a.txt").await, "new\n", "{target:?}: it is watched");
        bench.end().await;
    }
}
