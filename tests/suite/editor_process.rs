//! The editor and the process it starts, tried on a server that does as it is told.

use airlock_tests::components;
use airlock_tests::editor::{Editor, EditorOptions};
use serde_json::{Value, json};

fn options() -> EditorOptions {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/fake_server.py");
    EditorOptions::with_base_url("http://127.0.0.1:9").program(components::python(), &["-I", script])
}

fn frame(method: &str) -> String {
    let body = json!({"jsonrpc": "2.0", "method": method}).to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn the_server_gets_a_home_of_its_own_and_nothing_of_ours() {
    let editor = Editor::start(options().with_sandbox().env("MODEL", "m").without_env("ANTHROPIC_API_KEY"));
    let answer = editor.initialize().await;
    let mut names: Vec<_> = answer["env"].as_object().expect("an environment").keys().collect();
    // What Python and the C library set for themselves.
    names.retain(|name| !["LC_CTYPE", "__CF_USER_TEXT_ENCODING"].contains(&name.as_str()));
    names.sort();
    let xdg = ["CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "RUNTIME_DIR", "STATE_HOME"]
        .map(|name| format!("XDG_{name}"));
    let mut expected: Vec<String> = ["ANTHROPIC_BASE_URL", "HOME", "MODEL", "PATH"].map(str::to_owned).into();
    expected.extend(xdg);
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
    assert_eq!(answer["env"]["HOME"], editor.home().path().to_str().expect("UTF-8"));
    assert_eq!(answer["cwd"], editor.home().workspace().to_str().expect("UTF-8"));
    editor.shutdown().await;
}

#[tokio::test]
async fn initialize_tells_what_the_editor_can() {
    let plain = Editor::start(options().without_extension().encodings(&["utf-8", "utf-32"]));
    let sent = &plain.initialize().await["params"]["capabilities"];
    assert_eq!(sent["general"]["positionEncodings"], json!(["utf-8", "utf-32"]));
    assert_eq!(sent["experimental"], Value::Null);
    plain.shutdown().await;
    let knowing = Editor::start(options());
    let sent = &knowing.initialize().await["params"]["capabilities"];
    assert_eq!(sent["experimental"]["airlock"]["permission"], true);
    knowing.shutdown().await;
}

#[tokio::test]
#[should_panic = "messages were left unread"]
async fn what_the_server_wrote_before_the_drop_counts_even_if_it_was_not_received_yet() {
    let editor = Editor::ready(options()).await;
    // One write: once the first is read, the second is on its way.
    editor.notify("raw", json!(frame("heard") + &frame("unheard")));
    editor.next_notification("heard").await;
}

#[tokio::test]
#[should_panic = "airlock ended with exit status: 3"]
async fn a_bad_exit_status_fails_the_test() {
    let mut editor = Editor::ready(options()).await;
    editor.notify("exit", json!(3));
    let status = editor.exit_status().await;
    assert!(status.success(), "airlock ended with {status}");
}

#[tokio::test]
async fn a_killed_server_gives_its_last_words_and_may_tear_a_frame() {
    let editor = Editor::ready(options()).await;
    let home = editor.home().clone();
    let torn = "Content-Length: 100\r\n\r\n{";
    editor.notify("raw", json!(frame("heard") + &frame("last") + torn));
    editor.next_notification("heard").await;
    let left = editor.kill9().await;
    assert_eq!(left, [json!({"jsonrpc": "2.0", "method": "last"})]);
    assert!(home.workspace().is_dir(), "the home outlives its first editor");
    Editor::ready(options().home(&home)).await.shutdown().await;
}

#[tokio::test]
async fn a_server_whose_input_closes_ends_by_itself() {
    let mut editor = Editor::ready(options()).await;
    editor.close_stdin();
    assert!(editor.exit_status().await.success());
}

#[tokio::test]
async fn stderr_is_in_the_report() {
    let mut editor = Editor::ready(options()).await;
    editor.notify("stderr", json!("it hurts"));
    editor.close_stdin();
    editor.exit_status().await;
    assert!(editor.report().contains("it hurts"), "{}", editor.report());
}

#[test]
fn the_real_binary_is_built_and_starts() {
    let binary = airlock_tests::airlock_binary::airlock_binary();
    let output = std::process::Command::new(binary).arg("--version").output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
}
