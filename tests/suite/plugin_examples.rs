//! Each example plugin, called by the agent in a real session with its grants, and its own cases. The one in Python is
//! among the plugins from nothing.

use crate::plugin_author::{Author, example};
use airlock_tests::editor::Home;
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use airlock_tests::scripted_forge::ScriptedForge;
use airlock_tests::workbench::Workbench;
use serde_json::{Value, json};
use std::process::Command;

/// An author who has built an example, run its cases, installed it and granted what it asks for.
async fn installed(name: &str) -> Author {
    let folder = example(name).await;
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, &folder);
    let tested = author.runs(&["plugin", "test"]).await;
    assert!(tested.ends_with(" passed, 0 failed\n"), "{tested}");
    author.runs(&["plugin", "install", "--global"]).await;
    author.runs(&["plugin", "grant", name]).await;
    author
}

async fn bench(home: &Home) -> Workbench {
    Workbench::with(|options| options.home(home)).await
}

/// For a plugin that asks nothing of the sandbox: its start would be told at any moment.
async fn bench_without_sandbox(home: &Home) -> Workbench {
    Workbench::with(|options| options.home(home).env("USE_SANDBOX", "false")).await
}

fn parsed(result: &str) -> Value {
    serde_json::from_str(result).unwrap_or_else(|error| panic!("{error}: {result}"))
}

#[tokio::test]
async fn word_stats_and_query_only_compute() {
    let author = installed("word-stats").await;
    let query = example("query").await;
    let tested = author.in_folder(&query).runs(&["plugin", "test"]).await;
    assert!(tested.ends_with("3 passed, 0 failed\n"), "{tested}");
    author.in_folder(&query).runs(&["plugin", "install", "--global"]).await;
    let bench = bench_without_sandbox(author.home()).await;
    let stats = parsed(&bench.call("word_stats", json!({"text": "to be or not to be", "top": 1})).await);
    assert_eq!((&stats["words"], &stats["frequent"][0]["word"]), (&json!(6), &json!("be")));
    let input = json!({"text": "[package]\nname = \"a\"\n", "filter": ".package.name"});
    assert_eq!(bench.call("query", input).await, r#"["a"]"#);
    bench.end().await;
}

#[tokio::test]
async fn todos_are_collected_from_the_workspace_and_its_unsaved_buffers() {
    let author = installed("todos").await;
    let home = author.home();
    home.write("src/a.rs", "// TODO(ann): saved\n");
    home.write("src/b.rs", "\n");
    let bench = bench(home).await;
    bench.editor.open(&home.file_uri("src/b.rs"), "fn b() {} // FIXME: unsaved\n");
    let found = parsed(&bench.call("collect_todos", json!({"files": "src/*.rs"})).await);
    let todos = json!([
        {"path": "src/a.rs", "line": 1, "kind": "TODO", "owner": "ann", "text": "saved"},
        {"path": "src/b.rs", "line": 1, "kind": "FIXME", "text": "unsaved"},
    ]);
    assert_eq!(found["todos"], todos, "{found}");
    bench.end().await;
}

#[tokio::test]
async fn an_issue_is_fetched_with_a_secret_that_only_the_server_sees() {
    let built = example("issues").await;
    let forge = ScriptedForge::start("/nonexistent", "").await;
    forge.answer(200, json!({"number": 7, "title": "It breaks", "state": "open", "user": {"login": "ann"}}));
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, &built);
    // The author's own build for the server of their company.
    let folder = author.home().path().join("issues");
    std::fs::create_dir_all(&folder).expect("a folder");
    let manifest = std::fs::read_to_string(built.join("plugin.toml")).expect("a manifest");
    let manifest = manifest.replace("https://api.github.com", &forge.origin());
    std::fs::write(folder.join("plugin.toml"), manifest).expect("a file");
    std::fs::copy(built.join("plugin.wasm"), folder.join("plugin.wasm")).expect("a file");
    let config = format!(
        "[plugins.issues.config]\napi = \"{}\"\n[plugins.issues.secrets]\nGITHUB_TOKEN = \"ghp_very_secret\"\n",
        forge.origin()
    );
    let config_dir = author.home().config().join("airlock");
    std::fs::create_dir_all(&config_dir).expect("a folder");
    std::fs::write(config_dir.join("config.toml"), config).expect("a file");
    let author = author.in_folder(&folder);
    author.runs(&["plugin", "install", "--global"]).await;
    author.runs(&["plugin", "grant", "issues"]).await;
    let bench = bench_without_sandbox(author.home()).await;
    let result = bench.call("fetch_issue", json!({"repository": "someone/project", "number": 7})).await;
    assert_eq!(result, "#7 It breaks (open, by ann)\n\n");
    let asked = forge.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].what, "GET /repos/someone/project/issues/7");
    assert_eq!(asked[0].headers["authorization"], "Bearer ghp_very_secret");
    for request in bench.claude.requests() {
        assert!(!request.body.to_string().contains("ghp_very_secret"), "the model saw the secret");
    }
    bench.end().await;
}

#[tokio::test]
async fn tests_run_in_the_sandbox_and_only_failures_are_told() {
    let author = installed("test-summary").await;
    let tests = "import unittest\nclass T(unittest.TestCase):\n    def test_good(self): pass\n    \
                 def test_bad(self): self.assertEqual(1, 2)\n";
    author.home().write("test_it.py", tests);
    let bench = bench(author.home()).await;
    let report = parsed(&bench.call("run_tests", json!({})).await);
    assert_eq!((&report["passed"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
    let failure = &report["failures"][0];
    assert!(failure["name"].as_str().is_some_and(|name| name.contains("test_bad")), "{report}");
    assert!(failure["message"].as_str().is_some_and(|message| message.contains("1 != 2")), "{report}");
    bench.end().await;
}

#[tokio::test]
async fn standup_puts_the_commits_into_the_prompt() {
    let author = installed("standup").await;
    let workspace = author.home().workspace();
    for words in [
        vec!["init", "--quiet"],
        vec![
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=a@example.com",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "Fix the door",
        ],
    ] {
        let status = Command::new("git").args(&words).current_dir(&workspace).status().expect("git starts");
        assert!(status.success(), "git {words:?}");
    }
    let bench = bench(author.home()).await;
    bench.claude.push(Reply::says("Yesterday: the door."));
    bench.editor.turn(&bench.session, "/standup 2 days ago").await;
    let prompt = bench.claude.requests().last().expect("a request").last_user_text();
    assert!(
        prompt.contains("Commits since 2 days ago:") && prompt.contains("Fix the door (Ann)"),
        "{prompt}"
    );
    bench.end().await;
}
