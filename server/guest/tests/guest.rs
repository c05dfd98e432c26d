//! The guest over its link, without a sandbox around it: what it promises about commands and files.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests arrange the world themselves")]

use airlock_guest::program::{Guest, serve};
use airlock_guest::*;
use std::path::Path;
use tempfile::TempDir;

struct World {
    link: Link,
    workspace: TempDir,
}

/// A command's output and end.
#[derive(Debug)]
struct Ran {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exited: Exited,
}

impl World {
    fn new() -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let (here, there) = tokio::io::duplex(64 << 10);
        tokio::spawn(serve(there, Guest::new(workspace.path().to_owned())));
        Self { link: Link::new(here), workspace }
    }

    fn path(&self) -> &Path {
        self.workspace.path()
    }

    async fn start(&self, command: &str, timeout_ms: u64) -> CallStream {
        let exec = Exec { command: command.to_owned(), timeout_ms, background: false };
        self.link.call(&Call::Exec(exec)).await.unwrap()
    }

    async fn run(&self, command: &str) -> Ran {
        finish(self.start(command, 20_000).await).await
    }

    async fn stdout(&self, command: &str) -> String {
        String::from_utf8(self.run(command).await.stdout).unwrap()
    }

    async fn ask(&self, call: Call) -> Result<Answer, String> {
        self.link.ask(&call, None).await.map_err(|error| error.to_string())
    }
}

async fn finish(mut stream: CallStream) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match stream.next().await.unwrap() {
            Said::Stdout(bytes) => stdout.extend(bytes),
            Said::Stderr(bytes) => stderr.extend(bytes),
            Said::Answer(Answer::Exited(exited)) => return Ran { stdout, stderr, exited },
            other => panic!("{other:?}"),
        }
    }
}

/// Waits until a process is gone, as the reaper sees to.
async fn until_gone(pid: &str) {
    let path = format!("/proc/{pid}");
    for _ in 0..200 {
        if !Path::new(&path).exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("process {pid} still lives: {:?}", std::fs::read_to_string(format!("{path}/status")));
}

#[tokio::test]
async fn exit_codes_signals_and_both_outputs_arrive_as_they_are() {
    let world = World::new();
    let ran = world.run("echo out; echo err >&2; exit 3").await;
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!((ran.exited.code, ran.exited.signal), (Some(3), None));
    let ran = world.run("kill -TERM $$").await;
    assert_eq!((ran.exited.code, ran.exited.signal), (None, Some(15)));
    let ran = world.run("if then").await;
    assert!(ran.exited.code != Some(0) && !ran.stderr.is_empty());
    for (command, code) in
        [("false", 1), ("set -e; false; echo no", 1), ("set -u; (exit 7)", 7), ("exec sh -c 'exit 5'", 5)]
    {
        let ran = world.run(command).await;
        assert_eq!((ran.exited.code, ran.stdout.as_slice()), (Some(code), &b""[..]), "{command}");
    }
    let ran = world.run("trap 'echo bye' EXIT; echo hello").await;
    assert_eq!(
        (ran.exited.code, ran.stdout.as_slice()),
        (Some(0), &b"hello\nbye\n"[..]),
        "a trap of its own"
    );
}

#[tokio::test]
async fn every_process_carries_the_mark_of_its_own_call() {
    let world = World::new();
    let mark = "env | grep ^AIRLOCK_CALL=";
    let first = world.stdout(mark).await;
    world.run("export X=1; cd /").await;
    let second = world.stdout(mark).await;
    assert!(first.starts_with("AIRLOCK_CALL=") && second.starts_with("AIRLOCK_CALL="), "{first}{second}");
    assert_ne!(first, second, "or what a later call left behind would be taken for the first one's");
}

#[tokio::test]
async fn the_state_is_kept_although_a_command_removed_where_it_was() {
    let world = World::new();
    world.run("export X=kept; cd /").await;
    world.run("rm -rf \"${TMPDIR:-/tmp}\"/.airlock-$PPID-*").await;
    assert_eq!(world.stdout("echo $X $PWD").await, "kept /\n");
}

#[tokio::test]
async fn output_is_eight_bit_clean() {
    let world = World::new();
    let all: Vec<u8> = (0..=255).collect();
    std::fs::write(world.path().join("all"), &all).unwrap();
    assert_eq!(world.run("cat all").await.stdout, all);
}

#[tokio::test]
async fn directory_exports_and_functions_are_kept_and_nothing_of_ours_is_seen() {
    let world = World::new();
    world.run("mkdir -p 'a b'; cd 'a b'; export X='1 \"2\"'; hi() { echo \"hi $1\"; }").await;
    assert!(world.stdout("pwd").await.ends_with("a b\n"));
    assert_eq!(world.stdout("printf %s \"$X\"").await, "1 \"2\"");
    assert_eq!(world.stdout("hi you").await, "hi you\n");
    assert_eq!(world.stdout("echo $# $1").await, "0\n");
    world.run("cd /; exit 4").await;
    assert_eq!(world.stdout("pwd").await, "/\n", "kept although the command left with exit");
    world.run("cd /nowhere").await;
    assert_eq!(world.stdout("pwd").await, "/\n");
}

#[tokio::test]
async fn a_bash_that_waits_for_the_next_command_may_die() {
    let world = World::new();
    world.run("export X=kept").await;
    for _ in 0..20 {
        // Every other bash of this shell. Those that were killed are gone when the command ends.
        let others = "$(grep -lsa AIRLOCK_CALL=${AIRLOCK_CALL%-*}- /proc/[0-9]*/environ)";
        let command = format!(
            "for p in {others}; do p=${{p//[!0-9]/}}; [ $p = $$ ] || {{ kill -9 $p; all=\"$all $p\"; }}; done; \
             for p in $all; do while [ -e /proc/$p ]; do :; done; done; echo $all"
        );
        assert_ne!(world.stdout(&command).await, "\n");
        assert_eq!(world.stdout("echo $X").await, "kept\n");
    }
}

#[tokio::test]
async fn a_command_finds_its_folder_as_it_is_now_although_its_bash_stood_there_before() {
    let world = World::new();
    world.run("mkdir inside; cd inside").await;
    std::fs::remove_dir(world.path().join("inside")).unwrap();
    std::fs::create_dir(world.path().join("inside")).unwrap();
    std::fs::write(world.path().join("inside/new"), "").unwrap();
    assert_eq!(world.stdout("ls").await, "new\n");
    std::fs::remove_dir_all(world.path().join("inside")).unwrap();
    let ran = world.run("pwd -P").await;
    let workspace = world.path().canonicalize().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap().trim_end(), workspace.to_str().unwrap());
    assert!(String::from_utf8(ran.stderr).unwrap().contains("No such file or directory"));
}

#[tokio::test]
async fn functions_with_the_names_of_built_in_commands_do_not_harm_the_shell() {
    let world = World::new();
    let names = ["read", "cd", "exec", "trap", "eval", "exit"];
    world.run(&names.map(|name| format!("{name}() {{ echo my {name}; }}; ")).concat()).await;
    assert_eq!(world.stdout("echo fine").await, "fine\n");
    assert_eq!(world.stdout("read").await, "my read\n");
}

#[tokio::test]
async fn a_command_may_be_long_but_has_no_nul_and_its_clock_begins_with_it() {
    let world = World::new();
    let exec = |command: &str| Exec { command: command.into(), timeout_ms: 20_000, background: false };
    let long = "x".repeat(250_000);
    assert_eq!(world.stdout(&format!("echo {long} | wc -c")).await.trim(), "250001");
    let refused = world.ask(Call::Exec(exec(&format!("echo {long}{long}")))).await.unwrap_err();
    assert!(refused.starts_with("it is too long: "), "{refused}");
    let refused = world.ask(Call::Exec(exec("echo a\0b"))).await;
    assert_eq!(refused, Err("a command cannot have a NUL byte in it".to_owned()));
    assert_eq!(world.stdout("echo $SECONDS").await, "0\n");
    assert_eq!(world.stdout("readlink /proc/self/fd/0; cat").await, "/dev/null\n");
}

#[tokio::test]
async fn the_shell_goes_on_when_its_own_folder_is_removed() {
    let world = World::new();
    world
        .run("rm -rf \"$(dirname \"$(ls -d ${TMPDIR:-/tmp}/.airlock-${AIRLOCK_CALL%-*}/command-*)\")\"")
        .await;
    assert_eq!(
        world.stdout("pwd -P").await.trim_end(),
        world.path().canonicalize().unwrap().to_str().unwrap()
    );
}

#[tokio::test]
async fn a_subshell_that_runs_on_is_listed_with_the_command_that_left_it() {
    let world = World::new();
    let command = "(while :; do sleep 1000; done) &";
    let ran = world.run(command).await;
    let commands: Vec<_> = ran.exited.left_running.iter().map(|job| job.command.as_str()).collect();
    assert!(commands.contains(&command), "{commands:?}");
    for job in &ran.exited.left_running {
        world.run(&format!("kill -9 {}", job.pid)).await;
    }
}

#[tokio::test]
async fn a_timeout_kills_grandchildren_also_those_that_left_the_group() {
    let world = World::new();
    let command = "setsid sleep 1000 & echo $!; (sleep 1000 & echo $!; wait) ; wait";
    let ran = finish(world.start(command, 300).await).await;
    assert!(ran.exited.timed_out);
    let pids = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_ended_by_a_cancel() {
    let world = World::new();
    let mut stream = world.start("trap '' TERM INT HUP; echo ready; while :; do sleep 1; done", 60_000).await;
    assert_eq!(stream.next().await.unwrap(), Said::Stdout(b"ready\n".to_vec()));
    stream.cancel().await.unwrap();
    let ran = finish(stream).await;
    assert_eq!(ran.exited.signal, Some(9));
    assert_eq!(world.stdout("echo next").await, "next\n");
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_its_command() {
    let world = World::new();
    let mut stream = world.start("echo $$; sleep 1000", 60_000).await;
    let Said::Stdout(pid) = stream.next().await.unwrap() else { panic!() };
    drop(stream);
    until_gone(std::str::from_utf8(&pid).unwrap().trim()).await;
}

#[tokio::test]
async fn what_runs_on_is_listed_and_does_not_hold_up_the_answer() {
    let world = World::new();
    let ran = world.run("sleep 1000 & echo started").await;
    assert_eq!(ran.stdout, b"started\n");
    assert_eq!(ran.exited.left_running.len(), 1);
    let pid = ran.exited.left_running[0].pid;
    let Ok(Answer::Jobs { jobs }) = world.ask(Call::Jobs).await else { panic!() };
    assert_eq!(jobs, ran.exited.left_running);
    world.run(&format!("kill {pid}")).await;
    until_gone(&pid.to_string()).await;
    assert_eq!(world.ask(Call::Jobs).await, Ok(Answer::Jobs { jobs: vec![] }));
}

#[tokio::test]
async fn a_background_command_survives_and_its_output_can_be_read() {
    let world = World::new();
    let exec = Exec { command: "echo hello; sleep 1000".into(), timeout_ms: 1, background: true };
    let Ok(Answer::Started(job)) = world.ask(Call::Exec(exec)).await else { panic!() };
    let log = job.log.clone().unwrap();
    let seen = world.stdout(&format!("until grep -q hello {log}; do sleep 0.01; done; cat {log}")).await;
    assert_eq!(seen, "hello\n");
    let Ok(Answer::Jobs { jobs }) = world.ask(Call::Jobs).await else { panic!() };
    assert!(jobs.iter().any(|running| running.pid == job.pid), "{jobs:?}");
    world.run(&format!("kill -9 -- -{}", job.pid)).await;
    until_gone(&job.pid.to_string()).await;
}

#[tokio::test]
async fn a_flood_is_bounded_and_keeps_both_ends() {
    let world = World::new();
    let ran = world.run("echo first; yes | head -c 300000000; echo last").await;
    assert!(ran.stdout.starts_with(b"first\n") && ran.stdout.ends_with(b"last\n"));
    assert_eq!(ran.stdout.len(), HEAD_MAX_BYTES + TAIL_MAX_BYTES);
    assert_eq!(ran.exited.stdout_left_out + ran.stdout.len() as u64, 300_000_011);
}

#[tokio::test]
async fn orphans_are_collected() {
    let world = World::new();
    let pid = world.stdout("(setsid bash -c 'echo $BASHPID; exec true' &) ; sleep 0.05").await;
    until_gone(pid.trim()).await;
}

#[tokio::test]
async fn many_calls_run_at_once_and_none_waits_for_another() {
    let world = World::new();
    let mut slow = world.start("sleep 1000", 60_000).await;
    let all = (0..32).map(|number| {
        let world = &world;
        async move { assert_eq!(world.stdout(&format!("echo {number}")).await, format!("{number}\n")) }
    });
    futures::future::join_all(all).await;
    slow.cancel().await.unwrap();
    assert_eq!(finish(slow).await.exited.signal, Some(9));
}

#[tokio::test]
async fn files_are_written_read_edited_listed_searched_and_removed() {
    let world = World::new();
    let write = Call::Write { path: "src/deep/a.txt".into() };
    let answer = world.link.ask(&write, Some(b"one\ntwo\nthree\n")).await.unwrap();
    assert_eq!(answer, Answer::Done { note: "created, 14 bytes".into() });
    let read = Read { path: "src/deep/a.txt".into(), first_line: 2, lines: 1 };
    let text = Text { text: "two\n".into(), first_line: 2, total_lines: 3, cut: false };
    assert_eq!(world.ask(Call::Read(read)).await, Ok(Answer::Text(text)));
    let edits = vec![Replacement { old: "two".into(), new: "zwei".into() }];
    world.ask(Call::Edit(Edit { path: "src/deep/a.txt".into(), edits })).await.unwrap();
    std::fs::write(world.path().join(".gitignore"), "ignored\n").unwrap();
    std::fs::write(world.path().join("ignored"), "zwei").unwrap();
    std::fs::write(world.path().join("binary"), b"zwei\0").unwrap();
    let list = List { path: String::new(), depth: 9, entries_max: 100 };
    let Ok(Answer::Lines { text, cut: false }) = world.ask(Call::List(list)).await else { panic!() };
    assert_eq!(text, ".gitignore\nbinary\nsrc/\n  deep/\n    a.txt\n");
    let search = |glob: Option<&str>| {
        let glob = glob.map(str::to_owned);
        Call::Search(Search {
            pattern: "z\\w+".into(),
            path: String::new(),
            glob,
            context_lines: 1,
            matches_max: 10,
        })
    };
    let Ok(Answer::Lines { text, .. }) = world.ask(search(Some("*.txt"))).await else { panic!() };
    assert_eq!(text, "src/deep/a.txt-1-one\nsrc/deep/a.txt:2:zwei\nsrc/deep/a.txt-3-three\n");
    let Ok(Answer::Lines { text, .. }) = world.ask(search(Some("*.rs"))).await else { panic!() };
    assert_eq!(text, "");
    world.ask(Call::Remove { path: "src".into() }).await.unwrap();
    assert!(!world.path().join("src").exists());
}

#[tokio::test]
async fn an_image_comes_as_its_bytes_and_another_binary_as_its_size() {
    let world = World::new();
    let png = [&b"\x89PNG\r\n\x1a\n\0"[..], &[7; 300_000]].concat();
    std::fs::write(world.path().join("a.png"), &png).unwrap();
    std::fs::write(world.path().join("b.bin"), b"\0\x01").unwrap();
    let read = |path: &str| Call::Read(Read { path: path.into(), first_line: 1, lines: 10 });
    let mut stream = world.link.call(&read("a.png")).await.unwrap();
    let mut bytes = Vec::new();
    let answer = loop {
        match stream.next().await.unwrap() {
            Said::Data(piece) => bytes.extend(piece),
            Said::Answer(answer) => break answer,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(bytes, png);
    assert_eq!(answer, Answer::Binary { bytes: png.len() as u64, media_type: Some("image/png".into()) });
    assert_eq!(world.ask(read("b.bin")).await, Ok(Answer::Binary { bytes: 2, media_type: None }));
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_a_missing_one_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let path = world.path().join("run.sh");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    world.link.ask(&Call::Write { path: "run.sh".into() }, Some(b"new")).await.unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let missing = Call::Read(Read { path: "nope".into(), first_line: 1, lines: 1 });
    assert!(world.ask(missing).await.is_err_and(|error| error.contains("No such file")));
}

#[tokio::test]
async fn the_hello_names_the_kernel_that_runs() {
    let world = World::new();
    let Ok(Answer::Hello(hello)) = world.ask(Call::Hello).await else { panic!() };
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(hello.boot_id, boot_id.trim());
    assert!(hello.memory_kib > 0 && hello.cpus > 0 && hello.version == VERSION);
}

#[tokio::test]
async fn a_link_that_ends_says_so_to_everyone() {
    let (here, there) = tokio::io::duplex(1024);
    let link = Link::new(here);
    drop(there);
    link.closed().await;
    assert!(matches!(link.ask(&Call::Hello, None).await, Err(LinkError::Broken(_))));
}
