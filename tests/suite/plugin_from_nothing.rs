//! A plugin from nothing, as a new user would write it: the real binary, the real cargo, a chat over LSP.

use crate::plugin_author::{Author, fresh_folder, plugins};
use crate::sandboxed::{Called, call};
use crate::world;
use airlock_tests::editor::{EditorOptions, Home};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::workbench::Workbench;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Has the agent call a tool in a chat in this home.
async fn called_in_a_chat(claude: &ScriptedClaude, home: &Home, tool: &str, input: Value) -> Called {
    let editor = world::ready_with(EditorOptions::new(claude).home(home)).await;
    let session = editor.new_session().await;
    let called = call(&editor, claude, &session, tool, input).await;
    let requests = claude.requests();
    let tools = requests.last().expect("a request").body["tools"].as_array().cloned().unwrap_or_default();
    assert!(tools.iter().any(|told| told["name"] == tool), "the model was not told of {tool}: {tools:#?}");
    editor.shutdown().await;
    called
}

#[tokio::test]
async fn a_plugin_from_nothing_is_called_by_the_agent() {
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, &fresh_folder("from-nothing"));
    let told = author.runs(&["plugin", "new", "shout"]).await;
    assert!(told.contains("cd shout") && told.contains("airlock plugin build"), "{told}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("from-nothing/shout");
    let author = author.in_folder(&folder);
    // What was built the last time is used again.
    let author =
        author.env("CARGO_TARGET_DIR", &format!("{}/from-nothing-built", env!("CARGO_TARGET_TMPDIR")));

    let locked = |folder: &Path| {
        let lock = std::fs::read_to_string(folder.join("Cargo.lock")).expect("a lock file");
        lock.split("\n\n").map(|entry| entry.trim().to_owned()).collect::<BTreeSet<_>>()
    };
    let versions = locked(&folder);
    let built = author.runs(&["plugin", "build"]).await;
    assert_eq!(locked(&folder), versions, "the lock file of the template is not that of the SDK");
    assert!(built.contains("tool shout: Counts the words of a text."), "{built}");
    assert!(author.runs(&["plugin", "test"]).await.ends_with("2 passed, 0 failed\n"));
    assert_eq!(author.runs(&["plugin", "run", "shout", r#"{"text": "one two"}"#]).await, "2\n");
    let size = folder.join("plugin.wasm").metadata().expect("a component").len();
    assert!(size <= 150_000, "the template's component has {size} bytes");

    let inspected = author.runs(&["plugin", "inspect"]).await;
    for interface in ["log", "run", "workspace", "editor", "exec", "http", "kv"] {
        let import = format!("airlock:plugin/{interface}@");
        assert!(!inspected.contains(&import), "it imports what it does not use:\n{inspected}");
    }

    let source = "\
use airlock_plugin::tool;

/// Says a text in capital letters.
#[tool]
fn shout(text: String, times: Option<usize>) -> String {
    vec![text.to_uppercase(); times.unwrap_or(1)].join(\" \")
}

airlock_plugin::export!(tools: [shout]);
";
    std::fs::write(folder.join("src/lib.rs"), source).expect("a file");
    let failed = author.tries(&["plugin", "test"]).await;
    assert!(failed.well, "the component is still the old one: {}", failed.stdout);
    author.runs(&["plugin", "build"]).await;
    let failed = author.tries(&["plugin", "test"]).await;
    assert!(!failed.well && failed.stdout.contains("words are counted ... FAILED"), "{}", failed.stdout);
    assert!(
        failed.stdout.contains("expected the data 3\n     got the text \"ONE TWO  THREE\""),
        "{}",
        failed.stdout
    );
    assert_eq!(author.runs(&["plugin", "run", "shout", r#"{"text": "hey"}"#]).await, "HEY\n");
    author.runs(&["plugin", "install", "--global"]).await;
    let called = called_in_a_chat(&claude, author.home(), "shout", json!({"text": "hey", "times": 2})).await;
    assert_eq!((called.result.as_str(), called.is_error), ("HEY HEY", false));
    claude.finish();
}

/// With the lines of the example, so that it is shown to be what the template gives.
#[tokio::test]
async fn a_plugin_in_python_from_nothing_is_called_by_the_agent() {
    let claude = ScriptedClaude::start().await;
    let author = Author::at(&claude, &fresh_folder("from-nothing-python")).with_python();
    let told = author.runs(&["plugin", "new", "python-outline", "--language", "python"]).await;
    assert!(told.contains("app.py") && told.contains("pip install componentize-py"), "{told}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("from-nothing-python/python-outline");
    let author = author.in_folder(&folder);
    for file in ["app.py", "plugin.toml", "wit/world.wit", "tests/cases.json"] {
        std::fs::copy(plugins().join("python-outline").join(file), folder.join(file)).expect(file);
    }
    let built = author.tries(&["plugin", "build"]).await;
    assert!(built.well, "{}", built.stderr);
    assert!(built.stdout.contains("tool python_outline: Outlines a Python file"), "{}", built.stdout);
    // It takes far longer than a second.
    assert!(built.stderr.contains("componentize-py is at work …"), "{}", built.stderr);
    let tested = author.runs(&["plugin", "test"]).await;
    assert!(tested.ends_with("3 passed, 0 failed\n"), "{tested}");
    author.home().write("a.py", "class A:\n    def go(self): pass\n");
    let workspace = author.home().workspace().display().to_string();
    let denied = author
        .fails(&["plugin", "run", "--workspace", &workspace, "python_outline", r#"{"path": "a.py"}"#])
        .await;
    assert!(denied.contains("airlock plugin grant python-outline workspace:read"), "{denied}");
    author.runs(&["plugin", "install", "--global"]).await;
    author.runs(&["plugin", "grant", "python-outline"]).await;

    let bench = Workbench::with(|options| options.home(author.home())).await;
    let outline = bench.call("python_outline", json!({"path": "a.py"})).await;
    assert!(outline.contains("class A") && outline.contains("def go(self)"), "{outline}");
    bench.end().await;
    claude.finish();
}

#[test]
fn the_python_example_is_the_template_with_its_own_lines() {
    let read = |path: &str| std::fs::read_to_string(plugins().join(path)).expect(path);
    let of_template = read("template/python/wit/world.wit");
    let of_example = read("python-outline/wit/world.wit");
    let uncommented =
        of_template.replace("// import airlock:plugin/workspace", "import airlock:plugin/workspace");
    assert_eq!(of_example, uncommented);
    assert_eq!(read("python-outline/airlock_plugin.py"), read("template/python/airlock_plugin.py"));
}
