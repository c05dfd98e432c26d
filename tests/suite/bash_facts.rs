//! What `bash` promises, through the whole of Airlock: the editor's side, the model's side, and the processes between.

use crate::sandboxed::{bash, call, ready};
use airlock_tests::deadline::DEADLINE;
use airlock_tests::editor::{Editor, EditorOptions};
use airlock_tests::scripted_claude::{Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

async fn session(claude: &ScriptedClaude) -> (Editor, String) {
    let editor = ready(EditorOptions::new(claude)).await;
    let session = editor.new_session().await;
    (editor, session)
}

/// A time to sleep that no other test's process has, so that this one's can be found.
fn own_time() -> String {
    static TIMES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    format!("1{:05}.{}", TIMES.fetch_add(1, std::sync::atomic::Ordering::Relaxed), std::process::id())
}

fn processes(time: &str) -> usize {
    let output = Command::new("pgrep").args(["-fx", &format!("sleep {time}")]).output().expect("pgrep");
    String::from_utf8(output.stdout).expect("UTF-8").lines().count()
}

/// Waits until that many processes sleep so, and gives how long that took.
async fn until_processes(time: &str, wanted: usize) -> Duration {
    let begun = Instant::now();
    while processes(time) != wanted {
        assert!(begun.elapsed() < DEADLINE, "{} processes sleep", processes(time));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    begun.elapsed()
}

/// The duration is the one thing that differs each time.
fn without_time(result: &str) -> String {
    let (head, tail) = result.rsplit_once(", ").expect("a duration");
    assert!(tail.ends_with(" s]"), "{result}");
    format!("{head}]")
}

#[tokio::test]
async fn exit_codes_signals_and_both_outputs_apart_and_in_order() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    let command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 3";
    let called = bash(&editor, &claude, &session, command).await;
    let expected = "out 1\nout 2\nout 3\n[stderr]\nerr 1\nerr 2\nerr 3\n[exit code 3]";
    assert_eq!((without_time(&called.result).as_str(), called.is_error), (expected, true));
    let last = called.updates.iter().rfind(|update| update["kind"] == "tool_call_update").expect("an update");
    assert_eq!((&last["status"], &last["exitCode"]), (&json!("failed"), &json!(3)));
    let called = bash(&editor, &claude, &session, "kill -SEGV $$").await;
    assert_eq!((without_time(&called.result).as_str(), called.is_error), ("[ended by signal 11]", true));
    let called = bash(&editor, &claude, &session, "printf no-newline").await;
    assert_eq!(
        (without_time(&called.result).as_str(), called.is_error),
        ("no-newline\n[exit code 0]", false)
    );
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn bytes_that_are_no_text_are_repaired_where_shown_and_whole_in_files() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    let command = "for i in $(seq 0 255); do printf \"\\\\x$(printf %02x $i)\"; done | tee all; echo; printf 'a\\xffb\\xe2\\x82'";
    let called = bash(&editor, &claude, &session, command).await;
    assert!(called.result.contains("a\u{fffd}b\u{fffd}\n[exit code 0"), "{}", called.result);
    assert!(called.result.contains("ABCDEFG"), "{}", called.result);
    let upper = editor.home().state().join("airlock/sandboxes").join(&session).join("upper");
    assert_eq!(std::fs::read(upper.join("all")).unwrap(), (0..=255).collect::<Vec<u8>>());
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn directory_and_environment_are_kept_between_calls() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    bash(&editor, &claude, &session, "mkdir -p a/b; cd a/b; export GREETING='good day'; not_exported=1")
        .await;
    let called = bash(&editor, &claude, &session, "pwd; echo \"$GREETING\"; echo \"[$not_exported]\"").await;
    assert_eq!(without_time(&called.result), "/workspace/a/b\ngood day\n[]\n[exit code 0]");
    editor.shutdown().await;
    claude.finish();
}

/// A command with a child, one that left its group, and one that nobody waits for. It ignores what can be ignored.
fn family(time: &str) -> String {
    format!("trap '' TERM INT HUP; setsid sleep {time} & (sleep {time} &) ; echo begun; sleep {time}")
}

#[tokio::test]
async fn a_timeout_ends_a_command_with_all_its_descendants_within_two_seconds() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    let time = own_time();
    let input = json!({"command": family(&time), "timeout_s": 1});
    let called = call(&editor, &claude, &session, "bash", input).await;
    assert!(
        called.result.starts_with("begun\n[ended after 1 s because its time was up, "),
        "{}",
        called.result
    );
    let took = until_processes(&time, 0).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(!bash(&editor, &claude, &session, "true").await.is_error);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_cancel_ends_a_command_with_all_its_descendants_within_two_seconds() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    let time = own_time();
    claude.push(Reply::calls("toolu_cancelled", "bash", json!({"command": family(&time)})));
    editor.prompt(&session, "go").await;
    until_output(&editor, &session, "begun").await;
    until_processes(&time, 3).await;
    let begun = Instant::now();
    editor.cancel(&session);
    let updates = editor.updates_until_turn_end(&session).await;
    assert_eq!(updates.last().unwrap()["stopReason"], "cancelled");
    until_processes(&time, 0).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(!bash(&editor, &claude, &session, "true").await.is_error);
    editor.shutdown().await;
    claude.finish();
}

async fn until_output(editor: &Editor, session: &str, text: &str) {
    let mut output = String::new();
    while !output.contains(text) {
        let update = editor.next_update(session).await;
        output.push_str(update["output"].as_str().unwrap_or_default());
    }
}

#[tokio::test]
async fn what_runs_in_the_background_survives_and_each_result_lists_it() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    let time = own_time();
    let begun = Instant::now();
    let called = bash(&editor, &claude, &session, &format!("echo begun; sleep {time} &")).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "a grandchild that holds the pipe holds up nothing");
    let listed = |result: &str| result.contains(&format!(": sleep {time}]"));
    assert!(called.result.starts_with("begun\n[exit code 0") && listed(&called.result), "{}", called.result);
    let input = json!({"command": "echo to the log; sleep 1000", "background": true});
    let started = call(&editor, &claude, &session, "bash", input).await.result;
    let log = started.rsplit_once(' ').expect("the log's path").1.to_owned();
    let next = bash(&editor, &claude, &session, &format!("until grep -s . {log}; do sleep 0.01; done")).await;
    assert!(next.result.starts_with("to the log\n") && listed(&next.result), "{}", next.result);
    assert!(next.result.contains(": echo to the log; sleep 1000]"), "{}", next.result);
    assert_eq!(processes(&time), 1);
    let kill = format!("pkill -fx 'sleep {time}'; while pgrep -fx 'sleep {time}' > /tmp/x; do :; done");
    let killed = bash(&editor, &claude, &session, &kill).await.result;
    assert!(!listed(&killed) && killed.contains("sleep 1000"), "{killed}");
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn a_flood_and_a_spinner_are_bounded_in_time_and_size() {
    let claude = ScriptedClaude::start().await;
    let (editor, session) = session(&claude).await;
    bash(&editor, &claude, &session, "true").await;
    let before = peak_mib(&editor);
    for command in
        ["yes", "while :; do printf '\\r|\\r/'; done", "head -c 1G /dev/zero | tr '\\0' x; sleep 1000"]
    {
        let input = json!({"command": command, "timeout_s": 2});
        let begun = Instant::now();
        let called = call(&editor, &claude, &session, "bash", input).await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{command} took {:?}", begun.elapsed());
        assert!(called.result.contains("because its time was up"), "{command}");
        assert!(called.result.len() < 200 << 10, "{command}: {} bytes", called.result.len());
        let shown: usize = called.updates.iter().map(shown_bytes).sum();
        assert!(shown < 200 << 10, "{command}: {shown} bytes shown");
    }
    let grew = peak_mib(&editor) - before;
    assert!(grew < 32, "the server grew by {grew} MiB");
    let next = bash(&editor, &claude, &session, "echo next").await;
    assert!(next.result.starts_with("next\n"), "{}", next.result);
    editor.shutdown().await;
    claude.finish();
}

/// The most memory that the server ever had.
fn peak_mib(editor: &Editor) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.pid().expect("it runs")));
    let status = status.expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

fn shown_bytes(update: &Value) -> usize {
    update["output"].as_str().map_or(0, str::len)
}
