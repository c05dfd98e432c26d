//! `/pr`: the user sees all that will be sent, exactly that is sent, and the token goes to the API and nowhere else.

use crate::attacks::git_hostile::answer;
use crate::checkout::{accept, bare_repository, branch, git, git_in, home_with_repository};
use crate::desk::{configure, error_of, stop_reason};
use airlock_tests::editor::{Editor, EditorOptions, Home, agent_text};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::scripted_forge::ScriptedForge;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::Path;

const TOKEN: &str = "ghp_S3CRETtoken0123456789";

/// A home whose remote is a forge of this kind, and a session with a pushed commit of the agent.
struct Desk {
    claude: ScriptedClaude,
    home: Home,
    forge: ScriptedForge,
    editor: Editor,
    session: String,
}

impl Desk {
    async fn new(kind: &str, change: impl FnOnce(EditorOptions) -> EditorOptions) -> Self {
        let (claude, home) = (ScriptedClaude::start().await, home_with_repository());
        let forge = ScriptedForge::start(home.path(), "").await;
        let bare = bare_repository(&home, "remote.git");
        git(&home, &["remote", "add", "origin", &format!("{}/someone/project.git", forge.origin())]);
        git(&home, &["remote", "set-url", "--push", "origin", bare.to_str().unwrap()]);
        let config = format!("[forges.\"{}\"]\nkind = \"{kind}\"\ntoken = \"{TOKEN}\"\n", forge.origin());
        configure(&home, "config.toml", &config);
        let editor = Editor::ready(change(EditorOptions::new(&claude).home(&home))).await;
        editor.ignore("$/progress");
        let session = editor.new_session().await;
        Self { claude, home, forge, editor, session }
    }

    async fn commit(&self, file: &str, message: &str) {
        self.home.write(file, "text\n");
        accept(&self.home, &self.session, &[file]);
        let updates = self.editor.turn(&self.session, &format!("/commit {message}")).await;
        assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    }
}

/// Every file below a folder that holds the token.
fn leaks(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(leaks(&path));
        } else if path.is_file()
            && let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

async fn from_edit_to_pull_request(kind: &str, api: &str, authorization: &str) {
    let mut desk = Desk::new(kind, |options| options.with_sandbox().env("AIRLOCK_LOG", "trace")).await;
    // The agent works, and what it did is taken over.
    desk.claude
        .push(Reply::calls(
            "toolu_1",
            "bash",
            json!({"command": "env; cat /proc/*/environ; echo made > made.txt; cat made.txt"}),
        ))
        .push("Done.");
    let mut said = desk.editor.turn(&desk.session, "make a file").await;
    desk.commit("made.txt", "Make a file").await;
    desk.commit("more.txt", "And more").await;
    let unpushed = desk.editor.turn(&desk.session, "/pr").await;
    assert!(error_of(&unpushed).contains("`/push` it first"), "{unpushed:#?}");
    let (asked, updates) = answer(&desk.editor, &desk.session, "/push", "yes").await;
    said.extend(updates);
    said.push(asked);

    let (asked, updates) = answer(&desk.editor, &desk.session, "/pr", "no").await;
    assert_eq!(agent_text(&updates), "No pull request was made.");
    assert!(desk.forge.asked().is_empty(), "it was refused");
    let name = branch(&desk.session);
    assert_eq!(
        asked["detail"],
        format!(
            "POST {}{api}/repos/someone/project/pulls\nrepository: someone/project\nbase: main\nhead: {name}\n\
             title: make a file\nbody:\n- And more\n- Make a file",
            desk.forge.origin()
        )
    );
    let (asked, updates) = answer(&desk.editor, &desk.session, "/pr Files \u{202e}galore", "yes").await;
    assert!(asked["detail"].as_str().unwrap().contains("title: Files"), "{asked}");
    assert_eq!(stop_reason(&updates), "end_turn", "{updates:#?}");
    assert!(agent_text(&updates).contains("/someone/project/pulls/7"), "{updates:#?}");
    let requests = desk.forge.asked();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].what, format!("POST {api}/repos/someone/project/pulls"));
    assert_eq!(requests[0].headers["authorization"], format!("{authorization} {TOKEN}"));
    let title = requests[0].body["title"].as_str().unwrap();
    assert!(
        asked["detail"].as_str().unwrap().contains(&format!("title: {title}\n")),
        "what is shown is what is sent"
    );
    assert!(!title.contains('\u{202e}'), "{title:?}");
    assert_eq!(requests[0].body["head"], name);
    assert_eq!(requests[0].body["base"], "main");
    assert_eq!(requests[0].body["body"], "- And more\n- Make a file");
    said.extend(updates);
    said.push(asked);

    // A forge that sends the token back in an error does not get it into the conversation.
    desk.forge.answer(
        422,
        json!({"message": "Validation Failed", "errors": [{"message": format!("exists {TOKEN}")}]}),
    );
    let (_, updates) = answer(&desk.editor, &desk.session, "/pr", "yes").await;
    let error = error_of(&updates).to_owned();
    assert!(error.contains("422 (exists [secret]; Validation Failed)"), "{error}");
    said.extend(updates);
    // A model that is asked afterwards has heard nothing of it either.
    desk.claude.push("Fine.");
    said.extend(desk.editor.turn(&desk.session, "and now?").await);
    desk.editor.expect("shutdown", Value::Null).await;
    desk.editor.notify("exit", Value::Null);
    desk.editor.exit_status().await;
    assert!(
        desk.editor.report().contains("DEBUG airlock"),
        "what is not logged cannot be seen to hold no token"
    );
    assert!(!desk.editor.report().contains(TOKEN), "the log holds the token");
    assert!(!json!(said).to_string().contains(TOKEN), "an update holds the token");
    assert!(desk.claude.requests().iter().all(|request| !request.body.to_string().contains(TOKEN)));
    let config = desk.home.config().join("airlock/config.toml").display().to_string();
    assert_eq!(leaks(desk.home.path()), [config], "history and sandbox are in there, too");
    desk.claude.finish();
}

#[tokio::test]
async fn from_an_edit_to_a_pull_request_on_github() {
    from_edit_to_pull_request("github", "/api/v3", "Bearer").await;
}

#[tokio::test]
async fn from_an_edit_to_a_pull_request_on_gitea() {
    from_edit_to_pull_request("gitea", "/api/v1", "token").await;
}

#[tokio::test]
async fn a_pull_request_goes_to_no_forge_that_the_user_did_not_configure() {
    let desk = Desk::new("gitea", |options| options).await;
    desk.commit("made.txt", "Make a file").await;
    answer(&desk.editor, &desk.session, "/push", "yes").await;
    let other = ScriptedForge::start(desk.home.path(), "").await;
    for (url, why) in [
        (format!("{}/someone/project.git", other.origin()), "not pushed"),
        ("https://example.com/someone/project.git".to_owned(), "there is no token for https://example.com"),
        ("git@example.com:someone/project.git".to_owned(), "there is no token for example.com"),
        (format!("{}/project.git", desk.forge.origin()), "does not end with OWNER/REPOSITORY"),
        ("/srv/project.git".to_owned(), "takes no pull requests"),
    ] {
        git(&desk.home, &["remote", "set-url", "origin", &url]);
        let updates = desk.editor.turn(&desk.session, "/pr").await;
        assert!(error_of(&updates).contains(why), "{url}: {updates:#?}");
    }
    assert!(desk.forge.asked().is_empty() && other.asked().is_empty());
    // A redirect is not followed with the token in hand.
    git(
        &desk.home,
        &["remote", "set-url", "origin", &format!("{}/someone/project.git", desk.forge.origin())],
    );
    desk.forge.answer(307, json!({}));
    let (_, updates) = answer(&desk.editor, &desk.session, "/pr", "yes").await;
    assert!(error_of(&updates).contains("answered 307"), "{updates:#?}");
    assert!(git_in(&desk.home, &desk.home.workspace(), &["status", "--porcelain"]).contains("made.txt"));
    desk.editor.shutdown().await;
}
