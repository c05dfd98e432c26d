//! What an author is told when something is wrong.

use crate::plugin_author::{Author, example, fresh_folder};
use airlock_tests::scripted_claude::ScriptedClaude;
use std::path::Path;

async fn author() -> (ScriptedClaude, Author) {
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, Path::new("/"));
    let workspace = author.home().workspace();
    let author = author.in_folder(&workspace);
    (claude, author)
}

/// A folder in the author's workspace with these files.
fn folder(author: &Author, files: &[(&str, &str)]) {
    for (path, text) in files {
        author.home().write(path, text);
    }
}

const MANIFEST: &str = "name = \"mine\"\nversion = \"0.1.0\"\n";

#[tokio::test]
async fn a_missing_target_is_told_with_the_command_that_gets_it() {
    let (_claude, author) = author().await;
    folder(&author, &[("plugin.toml", MANIFEST), ("Cargo.toml", "[package]\nname = \"mine\"\n")]);
    // A Rust without the target.
    let rustc = "#!/bin/sh\necho /nowhere/wasm32-wasip2/lib\n";
    let cargo = "#!/bin/sh\necho the build was begun >&2\nexit 1\n";
    for (name, script) in [("rustc", rustc), ("cargo", cargo)] {
        let program = author.home().write(&format!("bin/{name}"), script);
        std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("our own file");
    }
    let path = author.home().workspace().join("bin");
    let author = author.env("PATH", path.to_str().expect("UTF-8"));
    let error = author.fails(&["plugin", "build"]).await;
    assert!(error.contains("rustup target add wasm32-wasip2"), "{error}");
    assert!(!error.contains("the build was begun"), "{error}");
    let nothing = author.home().workspace().join("nothing");
    let error = author.env("PATH", nothing.to_str().expect("UTF-8")).fails(&["plugin", "build"]).await;
    assert!(error.contains("cargo is not installed") && error.contains("https://rustup.rs"), "{error}");
}

#[tokio::test]
async fn a_folder_that_is_no_plugin_is_told_what_to_do() {
    let (_claude, author) = author().await;
    let error = author.fails(&["plugin", "build"]).await;
    assert!(
        error.contains("plugin.toml is not there") && error.contains("airlock plugin new NAME"),
        "{error}"
    );
    folder(&author, &[("plugin.toml", MANIFEST)]);
    let error = author.fails(&["plugin", "build"]).await;
    assert!(error.contains("neither a Cargo.toml nor an app.py") && error.contains("--component"), "{error}");
    let error = author.fails(&["plugin", "test"]).await;
    assert!(error.contains("no case to run"), "{error}");
    folder(&author, &[("tests/a.json", r#"{"name": "a", "tool": "t", "expect": {"json": 1}}"#)]);
    let error = author.fails(&["plugin", "test"]).await;
    assert!(error.contains("airlock plugin build"), "{error}");
    folder(&author, &[("app.py", "")]);
    let error = author.env("PATH", "/nonexistent").fails(&["plugin", "build"]).await;
    assert!(error.contains("pip install componentize-py==0.25.1"), "{error}");
}

#[tokio::test]
async fn a_component_of_another_tool_is_checked_and_finished() {
    let built = example("word-stats").await.join("plugin.wasm");
    let (_claude, author) = author().await;
    folder(
        &author,
        &[("plugin.toml", &format!("{MANIFEST}[wants]\nexec = true\n")), ("broken.wasm", "no component")],
    );
    let built = built.to_str().expect("UTF-8");
    let said = author.tries(&["plugin", "build", "--component", built]).await;
    assert!(said.well, "{}", said.stderr);
    assert!(
        said.stdout.contains("tool word_stats") && said.stdout.contains("asks for exec"),
        "{}",
        said.stdout
    );
    assert!(said.stderr.contains("asks for exec, and nothing uses it"), "{}", said.stderr);
    let error = author.fails(&["plugin", "build", "--component", "broken.wasm"]).await;
    assert!(error.contains("broken.wasm") && error.contains("component"), "{error}");
    assert!(
        author.runs(&["plugin", "run", "word_stats", r#"{"text": "a b"}"#]).await.contains("\"words\":2")
    );
}

#[tokio::test]
async fn what_does_not_compile_leaves_the_last_component() {
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, &fresh_folder("broken-build"));
    author.runs(&["plugin", "new", "shout"]).await;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-build/shout");
    let author = author
        .in_folder(&folder)
        .env("CARGO_TARGET_DIR", &format!("{}/from-nothing-built", env!("CARGO_TARGET_TMPDIR")));
    std::fs::write(folder.join("plugin.wasm"), "the last one").expect("a file");
    let source = "#[airlock_plugin::tool]\nfn shout(text: &str) -> String { text.to_owned() }\n\
                  #[airlock_plugin::tool]\nfn silent() {}\n";
    std::fs::write(folder.join("src/lib.rs"), source).expect("a file");
    let error = author.fails(&["plugin", "build"]).await;
    assert!(error.contains("a tool owns its arguments: String for &str"), "{error}");
    assert!(error.contains("the model must be told what the tool does"), "{error}");
    assert!(error.contains("cargo could not build"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.join("plugin.wasm")).expect("a file"), "the last one");
    claude.finish();
}
