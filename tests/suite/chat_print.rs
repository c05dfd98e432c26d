//! `airlock chat` for scripts: the real binary, the scripted Claude, pipes.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::deadline::within;
use airlock_tests::scripted_claude::{Gate, Reply, ScriptedClaude};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// What a finished run left.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

async fn run(command: &AirlockCommand) -> Ran {
    run_with_input(command, "").await
}

async fn run_with_input(command: &AirlockCommand, input: &str) -> Ran {
    let mut child = piped(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).await.expect("airlock reads");
    drop(stdin);
    let output =
        within(child.wait_with_output(), || "airlock does not end".to_owned()).await.expect("a child");
    Ran {
        status: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Airlock between pipes. The command holds its home, so it must outlive the child.
fn piped(command: &AirlockCommand) -> Child {
    let mut process = command.process();
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    process.spawn().expect("airlock starts")
}

async fn status_and_stderr(mut child: Child) -> (i32, String) {
    let mut stderr = String::new();
    let ended = async {
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).await.expect("UTF-8");
        child.wait().await.expect("a child")
    };
    let status = within(ended, || "airlock does not end".to_owned()).await;
    (status.code().expect("it was not killed"), stderr)
}

async fn send_signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs").to_string();
    assert!(Command::new("kill").args([name, &id]).status().await.expect("kill starts").success());
}

fn print(claude: &ScriptedClaude, prompt: &str) -> AirlockCommand {
    AirlockCommand::new(claude, &["chat", "--print", prompt])
}

fn ls(number: u32) -> Reply {
    Reply::calls(&format!("toolu_{number}"), "bash", json!({"command": "ls"}))
}

#[tokio::test]
async fn the_answer_alone_is_on_stdout() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::new().thinking("Hm.", "signature").text_in(["Two ", "lines,\n", "said."]));
    let ran = run(&print(&claude, "hello")).await;
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, "Two lines,\nsaid.\n", ""));
    assert!(claude.requests()[0].last_user_text().contains("hello"));
    claude.finish();
}

#[tokio::test]
async fn the_exit_status_is_zero_only_when_the_turn_ended_well() {
    let claude = ScriptedClaude::start().await;
    for (reply, told) in [
        (Reply::status(400).error("invalid_request_error", "nonsense"), "nonsense"),
        (Reply::status(401), "API key"),
        (Reply::says("I will").stop("refusal"), "declined"),
        (Reply::says("Once upon").stop("max_tokens"), "MAX_TOKENS"),
    ] {
        claude.push(reply);
        let ran = run(&print(&claude, "hello")).await;
        assert_eq!(ran.status, 1, "{told}");
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        assert!(!ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    claude.finish();
}

#[tokio::test]
async fn a_missing_key_and_a_mistyped_command_are_told_without_asking_the_model() {
    let claude = ScriptedClaude::start().await;
    let ran = run(&print(&claude, "hello").without_env("ANTHROPIC_API_KEY")).await;
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    assert!(ran.stderr.contains("there is no API key: set ANTHROPIC_API_KEY"), "{}", ran.stderr);
    let ran = run(&print(&claude, "/hlep")).await;
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    assert!(ran.stderr.contains("there is no command /hlep: did you mean /help?"), "{}", ran.stderr);
    assert_eq!(claude.requests().len(), 0);
    let ran = run(&print(&claude, "/help")).await;
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(ran.stdout.contains("`/quit`"), "{}", ran.stdout);
}

#[tokio::test]
async fn a_wrong_call_is_a_misuse_and_says_what_to_do() {
    let claude = ScriptedClaude::start().await;
    for (arguments, status, told) in [
        (&[][..], 2, "Usage: airlock <COMMAND>"),
        (&["chat", "--print", " "], 2, "the prompt is empty"),
        (&["chat", "--print", "-"], 1, "nothing came on stdin"),
        (&["chat", "--workspace", "/nowhere", "hello"], 1, "cannot open the workspace /nowhere"),
        (&["chta"], 2, "chat"),
    ] {
        let ran = run(&AirlockCommand::new(&claude, arguments)).await;
        assert_eq!((ran.status, &*ran.stdout), (status, ""), "{arguments:?}");
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
    }
    for arguments in [&["--version"][..], &["--help"], &["chat", "--help"], &["lsp", "--help"]] {
        let ran = run(&AirlockCommand::new(&claude, arguments)).await;
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}");
        assert!(ran.stdout.contains("airlock"), "{}", ran.stdout);
    }
    assert_eq!(claude.hits(), 0);
}

#[tokio::test]
async fn a_prompt_may_come_on_stdin() {
    let claude = ScriptedClaude::start().await;
    for arguments in [&["chat", "--print", "-"][..], &["chat", "--print"], &["chat"]] {
        claude.on("second line", "Read.");
        let ran = run_with_input(&AirlockCommand::new(&claude, arguments), "first\nsecond line\n").await;
        assert_eq!((ran.status, &*ran.stdout), (0, "Read.\n"), "{arguments:?}: {}", ran.stderr);
    }
    claude.finish();
}

#[tokio::test]
async fn what_the_model_says_cannot_take_over_the_terminal() {
    let claude = ScriptedClaude::start().await;
    let evil = "\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{202e}x\u{e0041}\ry";
    claude.push(Reply::says(evil).tool_use("toolu_1", "bash", json!({"command": evil})));
    claude.push(Reply::new().text_in(["da", "\u{1b}", "[31mnger"]));
    let ran = run(&print(&claude, "hello")).await;
    assert_eq!(ran.stdout, "␛]52;c;aGk=␇<U+009B>2J<U+202E>x<U+E0041>␍y\n\nda␛[31mnger\n");
    assert!(ran.stderr.contains("● $ ␛]52;c;aGk=␇<U+009B>2J<U+202E>x<U+E0041>␍y\n"), "{}", ran.stderr);
    claude.finish();
}

#[tokio::test]
async fn tool_calls_are_told_on_stderr() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says("I look.").tool_use("toolu_1", "bash", json!({"command": "ls"})));
    claude.push("Nothing there.");
    let ran = run(&print(&claude, "hello")).await;
    assert_eq!((ran.status, &*ran.stdout), (0, "I look.\n\nNothing there.\n"));
    assert!(ran.stderr.starts_with("● $ ls\n  there is no sandbox"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n  failed"), "{}", ran.stderr);
    claude.finish();
}

#[tokio::test]
async fn without_a_terminal_permission_is_refused() {
    let claude = ScriptedClaude::start().await;
    claude.replies([1, 2, 3].map(ls));
    let ran = run(&print(&claude, "hello")).await;
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    let refusals: Vec<&str> =
        ran.stderr.lines().filter(|line| line.contains("nobody can be asked")).collect();
    assert_eq!(
        refusals,
        [
            "warning: The agent made the same call 3 times with the same result. Go on? Refused, for nobody can be asked here"
        ]
    );
    claude.finish();
}

#[tokio::test]
async fn nobody_who_reads_on_ends_it_quietly() {
    let claude = ScriptedClaude::start().await;
    let gate = Gate::new();
    claude.push(Reply::says("one\n").gate(&gate).more("two\n").more(&"x".repeat(1 << 20)).silence());
    let command = print(&claude, "count");
    let mut child = piped(&command);
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    within(stdout.read_line(&mut line), || "no line".to_owned()).await.expect("UTF-8");
    assert_eq!(line, "one\n");
    drop(stdout);
    gate.open();
    assert_eq!(status_and_stderr(child).await, (141, String::new()));
    claude.wait_for_hangups(1).await;
}

#[tokio::test]
async fn a_signal_stops_the_turn_and_is_told_by_the_exit_status() {
    let claude = ScriptedClaude::start().await;
    for (signals, (name, status)) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)].into_iter().enumerate() {
        let gate = Gate::new();
        claude.push(Reply::says("half").gate(&gate).more(" an answer"));
        let command = print(&claude, "hello");
        let child = piped(&command);
        gate.reached().await;
        send_signal(&child, name).await;
        assert_eq!(status_and_stderr(child).await, (status, String::new()), "{name}");
        claude.wait_for_hangups(signals + 1).await;
    }
}

#[tokio::test]
async fn a_reader_who_stopped_reading_does_not_keep_a_signal_from_being_heard() {
    let claude = ScriptedClaude::start().await;
    claude.push(Reply::says(&"x".repeat(8 << 20)).silence());
    let command = print(&claude, "hello");
    let mut child = piped(&command);
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().expect("a pipe");
    within(stdout.read_exact(&mut first), || "no answer".to_owned()).await.expect("a byte");
    send_signal(&child, "-INT").await;
    assert_eq!(status_and_stderr(child).await, (130, String::new()));
    drop(stdout);
}

#[tokio::test]
async fn the_log_is_never_on_stdout_and_never_holds_the_key() {
    let claude = ScriptedClaude::start().await;
    claude.push("Logged.");
    let command =
        print(&claude, "hello").env("AIRLOCK_LOG", "trace").env("ANTHROPIC_API_KEY", "sk-hush-hush");
    let ran = run(&command).await;
    assert_eq!((ran.status, &*ran.stdout), (0, "Logged.\n"));
    assert!(ran.stderr.contains("DEBUG airlock::"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("hush"), "{}", ran.stderr);
    claude.push("Still.");
    let ran = run(&command.env("AIRLOCK_LOG", "airlock=loud")).await;
    assert_eq!((ran.status, &*ran.stdout), (0, "Still.\n"));
    assert!(ran.stderr.contains("AIRLOCK_LOG is not understood"), "{}", ran.stderr);
    claude.finish();
}
