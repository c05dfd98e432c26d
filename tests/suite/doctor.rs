//! `airlock doctor`, as a user calls it, on machines in each state. Where all is well, down to the microVM, is in
//! `microvm.rs`.

use crate::desk::configure;
use airlock_tests::airlock_binary::airlock_binary;
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::components::installed;
use airlock_tests::deadline::within;
use airlock_tests::editor::Home;
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::terminal::Terminal;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// A call of the doctor.
async fn call(claude: &ScriptedClaude, home: &Home, arguments: &[&str]) -> Output {
    let command = AirlockCommand::new(claude, &[&["doctor"], arguments].concat()).with_home(home);
    ended(command.env("PATH", programs(home)).without_env("USE_SANDBOX").process()).await
}

async fn ended(mut command: tokio::process::Command) -> Output {
    let output = within(command.stdin(Stdio::null()).output(), || "airlock doctor does not end".into());
    output.await.expect("airlock starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The `PATH` of a home: a folder with what the test put there, and nothing else.
fn programs(home: &Home) -> PathBuf {
    home.path().join("programs")
}

/// The machine's own programs of these names; those in `/usr/sbin` are found in any case.
fn link(home: &Home, names: &[&str]) {
    std::fs::create_dir_all(programs(home)).expect("a folder");
    for name in names {
        let path = std::env::var_os("PATH").expect("a PATH");
        let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists());
        let found = found.unwrap_or_else(|| panic!("{name} is installed"));
        std::os::unix::fs::symlink(found, programs(home).join(name)).expect("a link");
    }
}

/// A program of that name which is this script.
fn script(home: &Home, name: &str, script: &str) {
    std::fs::create_dir_all(programs(home)).expect("a folder");
    let program = programs(home).join(name);
    std::fs::write(&program, format!("#!/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n{script}\n"))
        .expect("a file");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("our own file");
}

/// What the doctor said as JSON.
struct Report(Value);

impl Report {
    fn of(output: &Output) -> Self {
        let said = text(&output.stdout);
        let report: Value = serde_json::from_str(&said)
            .unwrap_or_else(|error| panic!("{error}: {said} {}", text(&output.stderr)));
        assert_eq!(report["version"], 1);
        assert_eq!(report["well"], output.status.success(), "{report:#}");
        Self(report)
    }

    /// State, text and remedy of a check.
    fn check(&self, name: &str) -> (&str, &str, String) {
        let checks = self.0["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["name"] == name);
        let check = check.unwrap_or_else(|| panic!("no {name} in {:#}", self.0));
        let remedy = check["remedy"]["text"].as_str().unwrap_or_default().to_owned();
        (check["state"].as_str().expect("a state"), check["text"].as_str().expect("a text"), remedy)
    }

    fn state(&self, name: &str) -> &str {
        self.check(name).0
    }
}

/// All paths below a folder.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = entries
        .flat_map(|path| {
            let below = if path.is_dir() && !path.is_symlink() { tree(&path) } else { Vec::new() };
            std::iter::once(path).chain(below)
        })
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn doctor_proves_the_sandbox_by_starting_one_and_leaves_nothing() {
    let claude = ScriptedClaude::start().await;
    let command = AirlockCommand::new(&claude, &["doctor"]).without_env("USE_SANDBOX");
    let before = tree(command.home().path());
    let doctor =
        command.process().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("airlock starts");
    let owner = format!("{}@", doctor.id().expect("it runs"));
    let output = within(doctor.wait_with_output(), || "airlock doctor does not end".into()).await.unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("[ok] Sandbox: one was started: a container on this machine's kernel"), "{said}");
    assert!(said.contains(&format!("[ok] API key: set, for {}", claude.base_url())), "{said}");
    assert!(!said.contains("test-key"), "the key is never shown: {said}");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(tree(command.home().path()), before, "nothing is made or left");
    let owners =
        crate::sandboxed::podman(&["ps", "--all", "--format", "{{index .Labels \"airlock.owner\"}}"]);
    assert!(!owners.lines().any(|line| line.starts_with(&owner)), "{owner} in {owners}");
    assert_eq!(claude.hits(), 0, "it costs nothing");
}

#[tokio::test]
async fn where_nothing_is_installed_each_thing_is_named_with_what_gets_it() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let before = tree(home.path());
    let output = call(&claude, &home, &["--json"]).await;
    let report = Report::of(&output);
    assert_eq!(output.status.code(), Some(1));
    let (state, found, remedy) = report.check("podman");
    assert_eq!((state, found), ("failed", "podman is not installed"));
    assert!(remedy.contains("install podman"), "{remedy}");
    assert_eq!(
        report.check("sandbox"),
        ("failed", "none can be started: podman is not installed", String::new())
    );
    assert_eq!((report.state("git"), report.state("krun")), ("hint", "hint"));
    assert_eq!((report.state("state"), report.state("key")), ("ok", "ok"));
    assert_eq!(report.0["isolation"], Value::Null);
    assert_eq!(tree(home.path()), before, "nothing is made");

    let without_key = AirlockCommand::new(&claude, &["doctor"]).with_home(&home).env("PATH", programs(&home));
    let output =
        ended(without_key.without_env("ANTHROPIC_API_KEY").without_env("USE_SANDBOX").process()).await;
    let said = text(&output.stdout);
    assert!(said.contains("[!!] API key: none\n     set ANTHROPIC_API_KEY"), "{said}");
    assert!(said.contains("[!!] Podman: podman is not installed\n     install it: `"), "{said}");
    assert!(said.ends_with("`airlock doctor --fix` does what it can about it.\n"), "{said}");
}

#[tokio::test]
async fn podman_without_krun_is_well_unless_the_user_insists_on_microvms() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["podman", "crun", "runc", "git"]);
    let report = Report::of(&call(&claude, &home, &["--json"]).await);
    assert_eq!((&report.0["well"], &report.0["isolation"]), (&true.into(), &"container".into()));
    let (state, found, remedy) = report.check("krun");
    assert_eq!((state, found), ("hint", "the runtime \"krun\" is not installed"));
    assert!(!remedy.is_empty());
    for name in ["podman", "runtime", "overlay", "git", "sandbox"] {
        assert_eq!(report.state(name), "ok", "{:#}", report.0);
    }

    configure(&home, "config.toml", "isolation = \"microvm\"");
    let report = Report::of(&call(&claude, &home, &["--json"]).await);
    assert_eq!((report.state("krun"), report.state("sandbox")), ("failed", "failed"), "{:#}", report.0);
    configure(&home, "config.toml", "isolation = \"container\"");
    let report = Report::of(&call(&claude, &home, &["--json"]).await);
    assert!(report.0["well"] == true && !report.0.to_string().contains("krun"), "{:#}", report.0);
}

/// The real krun, where `/dev/kvm` is there for everybody to use and cannot start anything.
#[tokio::test]
async fn where_kvm_cannot_be_used_the_boot_says_so_and_not_the_file() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["podman", "crun", "runc", "git"]);
    let krun = installed("lab/krun/krun");
    let libraries = krun.parent().expect("it is in a folder").display();
    let run = format!("LD_LIBRARY_PATH={libraries} exec {} \"$@\"", krun.display());
    script(&home, "krun", &run);
    assert!(Path::new("/dev/kvm").exists(), "without /dev/kvm no runtime for microVMs is tried");
    let mount = "mount --bind /dev/zero /dev/kvm";
    let report = Report::of(&in_namespace(&claude, &home, mount, &["--json"]).await);
    assert_eq!((report.state("krun"), report.state("kvm")), ("ok", "ok"), "{:#}", report.0);
    let (state, found, remedy) = report.check("microvm");
    assert!(state == "hint" && found.starts_with("none came up: "), "{:#}", report.0);
    assert!(remedy.contains("dmesg"), "{remedy}");
    assert_eq!(report.0["isolation"], "container");

    configure(&home, "config.toml", "isolation = \"microvm\"");
    let report = Report::of(&in_namespace(&claude, &home, mount, &["--json"]).await);
    let (state, found, remedy) = report.check("sandbox");
    assert!(state == "failed" && found.starts_with("none can be started: "), "{:#}", report.0);
    assert!(remedy.contains("dmesg"), "{remedy}");
}

/// A call in a mount namespace of its own, in which root has mounted what this script says.
async fn in_namespace(claude: &ScriptedClaude, home: &Home, mount: &str, arguments: &[&str]) -> Output {
    let command = AirlockCommand::new(claude, &[]).with_home(home).env("PATH", programs(home));
    let words = command.without_env("USE_SANDBOX").words();
    let mut process = tokio::process::Command::new("unshare");
    let script = format!("set -e\n{mount}\nexec \"$@\"");
    process.args(["--mount", "sh", "-c", &script, "sh"]).args(words).arg("doctor").args(arguments);
    ended(process).await
}

/// Runtimes only say of this that a child of theirs has gone.
#[tokio::test]
async fn where_the_kernel_makes_no_user_namespace_the_reason_is_told() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["podman", "crun", "runc", "git"]);
    configure(&home, "config.toml", "isolation = \"container\"");
    let other_root = home.path().join("other-root");
    std::fs::create_dir(&other_root).expect("a folder");
    let root = other_root.display();
    let chroot = format!("mount --rbind / {root}\nset -- chroot {root} \"$@\"");
    let setting = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\"";
    let forbidden = format!("set -- unshare --user --map-root-user sh -c '{setting}' sh \"$@\"");
    for (world, expected) in
        [(chroot, "a chroot can have none"), (forbidden, "sysctl -w user.max_user_namespaces=")]
    {
        let report = Report::of(&in_namespace(&claude, &home, &world, &["--json"]).await);
        let (state, found, remedy) = report.check("user_namespaces");
        assert!(state == "failed" && found.contains("no user namespace"), "{:#}", report.0);
        assert!(remedy.contains(expected), "{remedy}");
        assert!(report.check("sandbox").1.contains("no user namespace"), "{:#}", report.0);
    }
}

/// Fedora, as far as a file can make it so. Containers are enough for its user.
fn fedora(home: &Home) -> String {
    configure(home, "config.toml", "isolation = \"container\"");
    let file = home.path().join("os-release");
    std::fs::write(&file, "ID=fedora\nPRETTY_NAME=\"Fedora Linux 42\"\n").expect("a file");
    format!("mount --bind {} /etc/os-release", file.display())
}

/// A package manager that notes what it is asked for, and has podman.
fn dnf(home: &Home) -> PathBuf {
    let note = home.path().join("dnf-was-asked");
    let podman = format!("ln -s /usr/bin/podman {}/podman", programs(home).display());
    script(
        home,
        "dnf",
        &format!("echo \"$(id -u) $@ ${{ANTHROPIC_API_KEY-none}}\" >> {}\n{podman}", note.display()),
    );
    note
}

#[tokio::test]
async fn fix_shows_what_it_would_run_and_runs_nothing_where_nobody_can_be_asked() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["crun", "git"]);
    let (fedora, note) = (fedora(&home), dnf(&home));
    let output = in_namespace(&claude, &home, &fedora, &["--fix"]).await;
    let said = text(&output.stdout);
    assert!(said.starts_with("Airlock ") && said.contains(" on Fedora Linux 42\n"), "{said}");
    assert!(said.ends_with("\nThis would be run:\n  dnf install --assumeyes podman crun\n"), "{said}");
    assert!(text(&output.stderr).contains("give --yes"), "{}", text(&output.stderr));
    assert_eq!((output.status.code(), note.exists()), (Some(2), false));
}

#[tokio::test]
async fn fix_installs_what_is_missing_and_looks_again() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["crun", "git"]);
    let (fedora, note) = (fedora(&home), dnf(&home));
    let output = in_namespace(&claude, &home, &fedora, &["--fix", "--yes"]).await;
    let said = text(&output.stdout);
    let (first, again) = said.split_once("\nLooking again:\n").expect("it looks again");
    assert!(
        first.contains("[!!] Podman: ") && first.contains("\n> dnf install --assumeyes podman"),
        "{first}"
    );
    assert!(again.contains("[ok] Podman: ") && again.contains("[ok] Sandbox: one was started"), "{again}");
    assert!(output.status.success(), "{said} {}", text(&output.stderr));
    let asked = std::fs::read_to_string(note).expect("dnf was asked");
    assert_eq!(asked, "0 install --assumeyes podman crun none\n", "once, as root, and without the key");
}

#[tokio::test]
async fn a_command_that_fails_is_told_and_the_rest_is_not_run() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let fedora = fedora(&home);
    script(&home, "dnf", "echo 'no such package'; exit 3");
    let output = in_namespace(&claude, &home, &fedora, &["--fix", "--yes"]).await;
    assert!(text(&output.stderr).contains("ended with exit status: 3"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
}

/// Somebody who is not root, and to whom nobody gave ids.
#[tokio::test]
async fn an_ordinary_user_without_ids_is_told_the_command_and_fix_runs_it_as_root() {
    let (claude, user) = (ScriptedClaude::start().await, OrdinaryUser::get());
    let home = user.home();
    link(&home, &["podman", "crun", "git", "newuidmap", "newgidmap"]);
    let note = home.path().join("asked");
    script(&home, "sudo", &format!("echo sudo \"$@\" >> {}", note.display()));
    user.take_over(home.path());
    let empty = home.path().join("empty");
    std::fs::write(&empty, "somebody:100000:65536\n").expect("a file");
    let script = format!(
        "set -e\nfor file in /etc/subuid /etc/subgid; do mount --bind {} $file; done\nexec \"$@\"",
        empty.display()
    );
    // The user first, then their environment, then their own copy of the binary.
    let command = AirlockCommand::new(&claude, &[]).with_home(&home).env("PATH", programs(&home));
    let as_root = command.without_env("USE_SANDBOX").words();
    let (binary, environment) = as_root.split_last().expect("the binary comes last");
    assert_eq!(binary, airlock_binary().as_os_str());
    let mut words = user.words(Path::new("env"), &[]);
    words.extend(environment[1..].iter().cloned());
    words.extend([OrdinaryUser::binary(&home).into(), OsString::from("doctor")]);
    let run = |arguments: &'static [&'static str]| {
        let mut process = tokio::process::Command::new("unshare");
        process.args(["--mount", "sh", "-c", &script, "sh"]).args(&words).args(arguments);
        process.current_dir(home.workspace());
        ended(process)
    };
    let report = Report::of(&run(&["--json"]).await);
    let (state, found, remedy) = report.check("user_ids");
    assert!(
        state != "ok" && found.contains("has no ids to give to a sandbox in /etc/subuid"),
        "{:#}",
        report.0
    );
    let command = "usermod --add-subuids 165536-231071 --add-subgids 165536-231071 ";
    assert!(remedy.contains(&format!("`sudo {command}")), "{remedy}");
    let said = text(&run(&["--fix", "--yes"]).await.stdout);
    let asked = std::fs::read_to_string(note).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(asked.contains(&format!("sudo {command}")), "{asked}");
}

#[tokio::test]
async fn in_a_terminal_fix_asks_and_a_no_runs_nothing() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    let note = home.path().join("asked");
    for manager in ["apt-get", "dnf", "pacman", "zypper", "apk"] {
        script(&home, manager, &format!("echo {manager} >> {}", note.display()));
    }
    let command = AirlockCommand::new(&claude, &["doctor", "--fix"]).with_home(&home);
    let terminal = Terminal::start(&command.env("PATH", programs(&home)).without_env("USE_SANDBOX"));
    let screen = terminal.wait_for("Run it? [y/N]").await;
    assert!(screen.contains("This would be run:"), "{screen}");
    terminal.send("n");
    assert_eq!(terminal.wait_for_end().await, 1);
    assert!(terminal.screen().contains("Nothing was run.") && !note.exists(), "{}", terminal.screen());
}

/// A podman that never answers: the user does not wait for it either.
#[tokio::test]
async fn an_interrupted_doctor_ends_at_once_and_leaves_nothing() {
    let (claude, home) = (ScriptedClaude::start().await, Home::new());
    link(&home, &["crun"]);
    let pipe = home.path().join("reached");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let version = "for word; do :; done; [ \"$word\" != --version ] || { echo podman version 4.3.1; exit; }";
    let served = format!("{version}\necho up > {}; exec sleep 1000", pipe.display());
    script(&home, "podman", &served);
    let before = tree(home.path());
    let command = AirlockCommand::new(&claude, &["doctor"]).with_home(&home).env("PATH", programs(&home));
    let mut process = command.without_env("USE_SANDBOX").process();
    let doctor = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("airlock starts");
    let reached = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe));
    within(reached, || "podman is not started".into()).await.expect("a thread").expect("a pipe");
    let id = doctor.id().expect("it runs").to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = within(doctor.wait_with_output(), || "airlock doctor does not end".into()).await.unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stdout));
    assert_eq!(tree(home.path()), before);
}
