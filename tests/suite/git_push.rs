//! `/push`: the user sees exactly what will happen, and exactly that happens, or nothing.

use crate::attacks::git_hostile::answer;
use crate::checkout::{accept, bare_repository, branch, git, git_in, home_with_repository};
use crate::desk::{configure, error_of, ready_in, stop_reason};
use airlock_tests::editor::{Editor, Home, agent_text};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::scripted_forge::ScriptedForge;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::path::Path;

/// A session in a repository, with one commit of the agent.
async fn committed(claude: &ScriptedClaude, home: &Home) -> (Editor, String) {
    let editor = ready_in(claude, home).await;
    let session = editor.new_session().await;
    home.write("new.txt", "new\n");
    accept(home, &session, &["new.txt"]);
    let updates = editor.turn(&session, "/commit The new file").await;
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    (editor, session)
}

/// The branches of a repository.
fn branches(home: &Home, folder: &Path) -> String {
    git_in(home, folder, &["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"])
}

#[tokio::test]
async fn a_push_is_asked_for_with_all_of_it_and_then_done() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let bare = bare_repository(&home, "remote.git");
    git(&home, &["remote", "add", "origin", bare.to_str().unwrap()]);
    git(&home, &["push", "--quiet", "origin", "main"]);
    let (editor, session) = committed(&claude, &home).await;
    let name = branch(&session);
    let tip = git(&home, &["rev-parse", &name]).trim().to_owned();
    let (asked, updates) = answer(&editor, &session, "/push", "yes").await;
    assert_eq!(asked["title"], format!("Push {name} to origin?"));
    assert_eq!(
        asked["detail"],
        format!(
            "remote: origin\nto: {}\nbranch: {name} (new there)\nThis is a folder of this machine; no hook of that \
             repository is run.\nwill stand at: {tip}\ncommits:\n  {} The new file",
            bare.display(),
            &tip[..10]
        )
    );
    assert_eq!(asked["options"][0]["kind"], "allow_once");
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert_eq!(git_in(&home, &bare, &["rev-parse", &name]).trim(), tip);
    git_in(&home, &bare, &["fsck", "--strict"]);
    let again = editor.turn(&session, "/push origin").await;
    assert!(agent_text(&again).contains("is there already"), "{again:#?}");

    // The next push shows only what is new.
    home.write("more.txt", "more\n");
    accept(&home, &session, &["more.txt"]);
    editor.turn(&session, "/commit More").await;
    let (asked, _) = answer(&editor, &session, "/push", "yes").await;
    let detail = asked["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("(so far at {tip})")) && !detail.contains("The new file"), "{detail}");
    assert_eq!(git_in(&home, &bare, &["log", "--format=%s", &name]), "More\nThe new file\nfirst\n");
    editor.shutdown().await;
}

#[tokio::test]
async fn a_refusal_and_no_answer_push_nothing() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    configure(&home, "config.toml", "permission_timeout_s = 1\n");
    let bare = bare_repository(&home, "remote.git");
    git(&home, &["remote", "add", "origin", bare.to_str().unwrap()]);
    let (editor, session) = committed(&claude, &home).await;
    for option in ["no", "something else"] {
        let (_, updates) = answer(&editor, &session, "/push", option).await;
        assert_eq!(agent_text(&updates), "Nothing was pushed.");
    }
    editor.prompt(&session, "/push").await;
    let unanswered = editor.next_server_request("airlock/permission").await;
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!(agent_text(&updates), "Nothing was pushed.");
    editor.next_notification("$/cancelRequest").await;
    drop(unanswered);
    assert_eq!(branches(&home, &bare), "");
    assert!(!branches(&home, &home.workspace()).contains("remotes"));
    editor.shutdown().await;
}

#[tokio::test]
async fn what_is_pushed_is_what_was_shown_even_if_the_branch_has_moved_meanwhile() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let bare = bare_repository(&home, "remote.git");
    git(&home, &["remote", "add", "origin", bare.to_str().unwrap()]);
    let (editor, session) = committed(&claude, &home).await;
    let name = branch(&session);
    let shown = git(&home, &["rev-parse", &name]);
    editor.prompt(&session, "/push").await;
    let question = editor.next_server_request("airlock/permission").await;
    git(&home, &["update-ref", &format!("refs/heads/{name}"), "main"]);
    git(&home, &["remote", "set-url", "origin", "/elsewhere"]);
    question.respond(json!({"optionId": "yes"}));
    editor.updates_until_turn_end(&session).await;
    assert_eq!(git_in(&home, &bare, &["rev-parse", &name]), shown);
    editor.shutdown().await;
}

#[tokio::test]
async fn a_push_that_cannot_be_made_says_why_and_asks_nothing() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    let error = async |prompt: &str| error_of(&editor.turn(&session, prompt).await).to_owned();
    assert!(error("/push").await.contains("git remote add origin URL"));
    git(&home, &["remote", "add", "one", "https://example.com/a/b.git"]);
    assert!(error("/push").await.contains("`/commit` them first"));
    git(&home, &["remote", "add", "two", "https://example.com/a/c.git"]);
    assert!(error("/push").await.contains("name one of one, two"));
    assert!(error("/push three").await.contains("there is no remote \"three\""));
    assert!(error("/push --mirror").await.contains("there is no remote"));
    git(&home, &["remote", "set-url", "two", "https://me:hunter2@example.com/a/b.git"]);
    let refused = error("/push two").await;
    assert!(refused.contains("holds a password") && !refused.contains("hunter2"), "{refused}");
    git(&home, &["remote", "set-url", "two", "http://example.com/a/b.git"]);
    assert!(error("/push two").await.contains("plain HTTP"));
    git(&home, &["remote", "set-url", "two", "ext::sh -c true"]);
    assert!(error("/push two").await.contains("git remote set-url"));
    editor.shutdown().await;
}

/// `someone:s3cret-password`
const PASSWORD_BASE64: &str = "c29tZW9uZTpzM2NyZXQtcGFzc3dvcmQ=";

#[tokio::test]
async fn over_http_the_users_own_credentials_are_used_and_the_repositorys_are_not() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let bare = bare_repository(&home, "served/someone/project.git");
    let forge = ScriptedForge::start(home.path().join("served"), PASSWORD_BASE64).await;
    git_in(&home, &bare, &["config", "http.receivepack", "true"]);
    let marker = home.path().join("helper-of-the-repository-ran");
    let trap = format!("!touch {}; echo username=evil; echo password=evil", marker.display());
    git(&home, &["config", "credential.helper", &trap]);
    git(&home, &["config", &format!("credential.{}.helper", forge.origin()), &trap]);
    git(&home, &["config", "http.proxy", "http://127.0.0.1:1"]);
    git(&home, &["config", "http.extraHeader", "X-Evil: 1"]);
    git(&home, &["remote", "add", "origin", "forge:someone/project.git"]);
    // The user's own settings: a helper, and a short name for the forge, in a file that counts for this folder only.
    let own = format!(
        "[credential]\n\thelper = \"!f() {{ echo username=someone; echo password=s3cret-password; }}; f\"\n[url \"{}/\"]\n\tinsteadOf = forge:\n",
        forge.origin()
    );
    std::fs::write(home.path().join("for-work"), own).unwrap();
    let condition = format!("includeIf.gitdir:{}/.path", home.workspace().display());
    git(&home, &["config", "--global", &condition, home.path().join("for-work").to_str().unwrap()]);
    let (editor, session) = committed(&claude, &home).await;
    let refused = editor.turn(&session, "/push").await;
    assert!(error_of(&refused).contains("plain HTTP"), "{refused:#?}");
    editor.shutdown().await;

    let config = format!("[forges.\"{}\"]\nkind = \"gitea\"\ntoken = \"t0ken\"\n", forge.origin());
    configure(&home, "config.toml", &config);
    let editor = ready_in(&claude, &home).await;
    let session = editor.new_session().await;
    home.write("new.txt", "newer\n");
    accept(&home, &session, &["new.txt"]);
    editor.turn(&session, "/commit Newer").await;
    let (asked, updates) = answer(&editor, &session, "/push", "yes").await;
    let detail = asked["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("to: {}/someone/project.git\n", forge.origin())), "{detail}");
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert!(!json!([asked, updates]).to_string().contains("s3cret"));
    assert_eq!(git_in(&home, &bare, &["show", &format!("{}:new.txt", branch(&session))]), "newer\n");
    assert!(!marker.exists(), "the repository's helper ran");
    editor.shutdown().await;
}

#[tokio::test]
async fn a_cancelled_push_ends_with_all_that_it_started_and_only_the_users_ssh_was_started() {
    let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
    let (pid, marker) = (home.path().join("pid"), home.path().join("ssh-of-the-repository-ran"));
    let ssh = home.path().join("own-ssh");
    std::fs::write(
        &ssh,
        format!("#!/bin/sh\necho $$ > {0}.new && mv {0}.new {0}\nexec sleep 1000\n", pid.display()),
    )
    .unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(&home, &["config", "--global", "core.sshCommand", ssh.to_str().unwrap()]);
    git(&home, &["config", "core.sshCommand", &format!("touch {}", marker.display())]);
    git(&home, &["remote", "add", "origin", "git@example.com:someone/project.git"]);
    let (editor, session) = committed(&claude, &home).await;
    editor.prompt(&session, "/push").await;
    editor.next_server_request("airlock/permission").await.respond(json!({"optionId": "yes"}));
    let started = until(|| std::fs::read_to_string(&pid).ok()).await;
    editor.cancel(&session);
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!(stop_reason(&updates), "cancelled");
    let stat = format!("/proc/{}/stat", started.trim());
    until(|| std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")).then_some(())).await;
    assert!(!marker.exists());
    editor.shutdown().await;
}

/// Looks again and again, for a process tells nobody when it is there or gone.
async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    airlock_tests::deadline::within(looking, || "it never happened".to_owned()).await
}
