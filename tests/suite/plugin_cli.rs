//! `airlock plugin` as people and scripts call it.

use crate::sandbox_ends::services_of;
use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::echo_server::EchoServer;
use airlock_tests::editor::Home;
use airlock_tests::guests::{install, probe, probe_with};
use airlock_tests::scripted_claude::ScriptedClaude;
use airlock_tests::terminal::Terminal;
use serde_json::json;

struct Shell {
    command: AirlockCommand,
}

struct Ran {
    well: bool,
    stdout: String,
    stderr: String,
}

impl Shell {
    async fn new() -> Self {
        let claude = ScriptedClaude::start().await;
        let command = AirlockCommand::new(&claude, &[]);
        claude.finish();
        Self { command }
    }

    fn with_sandbox(self) -> Self {
        Self { command: self.command.without_env("USE_SANDBOX") }
    }

    fn home(&self) -> &Home {
        self.command.home()
    }

    /// The folders of sandboxes that `airlock plugin run` made.
    fn sandboxes_of_runs(&self) -> Vec<String> {
        let left = std::fs::read_dir(self.home().state().join("airlock/sandboxes")).unwrap().flatten();
        let names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("plugin-run")).collect()
    }

    async fn plugin(&self, arguments: &[&str]) -> Ran {
        let all: Vec<&str> = [&["plugin"][..], arguments].concat();
        let mut process = self.command.again(&all).process();
        let output = process.stdin(std::process::Stdio::null()).output().await.expect("airlock starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { well: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    async fn well(&self, arguments: &[&str]) -> String {
        let ran = self.plugin(arguments).await;
        assert!(ran.well, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    async fn badly(&self, arguments: &[&str]) -> String {
        let ran = self.plugin(arguments).await;
        assert!(!ran.well, "{arguments:?}: {}", ran.stdout);
        ran.stderr
    }
}

#[tokio::test]
async fn a_plugin_is_tried_inspected_installed_listed_granted_and_revoked() {
    let shell = Shell::new().await;
    let built = install(
        &shell.home().path().join("built"),
        "probe",
        "description = \"Tries everything\"\n[wants]\nkv = true\neditor = true",
        probe(),
    );
    let built = built.to_str().unwrap();
    assert_eq!(shell.well(&["run", "--plugin", built, "echo", "{\"n\":1}"]).await, "{\"n\":1}\n");
    let inspected = shell.well(&["inspect", built]).await;
    for word in [
        "probe 0.1.0",
        "Tries everything",
        "tool echo (read)",
        "command /probe [of what]",
        "sha256",
        "airlock:plugin/kv@0.1.0",
        "It asks for, and does not have:\n  editor",
        "airlock plugin grant probe",
    ] {
        assert!(inspected.contains(word), "{word}: {inspected}");
    }
    let installed = shell.well(&["install", "--global", built]).await;
    assert!(
        installed.contains("Installed probe in") && installed.contains("  kv — keep a small store"),
        "{installed}"
    );
    let listed = shell.well(&["list"]).await;
    assert!(listed.contains("probe 0.1.0 (yours) Tries everything"), "{listed}");
    assert!(listed.contains("missing  editor, kv"), "{listed}");
    let denied = shell.badly(&["run", "kv_set", &json!({"key": "a", "value": "b"}).to_string()]).await;
    assert!(denied.contains("denied: the plugin probe has no grant kv"), "{denied}");
    shell.well(&["grant", "probe", "kv"]).await;
    let listed = shell.well(&["list"]).await;
    assert!(listed.contains("granted  kv") && listed.contains("missing  editor"), "{listed}");
    assert_eq!(shell.well(&["run", "kv_set", "{\"key\":\"a\",\"value\":\"b\"}"]).await, "kept\n");
    assert_eq!(shell.well(&["run", "kv_get", "{\"key\":\"a\"}"]).await, "b\n");
    shell.well(&["revoke", "probe", "kv"]).await;
    assert!(shell.badly(&["run", "kv_get", "{\"key\":\"a\"}"]).await.contains("denied"));
    assert_eq!(shell.well(&["run", "--grant", "kv", "kv_get", "{\"key\":\"a\"}"]).await, "b\n");
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do() {
    let shell = Shell::new().await;
    assert!(shell.well(&["list"]).await.contains("No plugins."));
    for (arguments, word) in [
        (vec!["run", "echo"], "no plugin either"),
        (vec!["inspect"], "no plugin.toml"),
        (vec!["grant", "probe"], "none is installed"),
        (vec!["install"], "no plugin.toml"),
    ] {
        let said = shell.badly(&arguments).await;
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
    let plugins = shell.home().config().join("airlock/plugins");
    install(&plugins, "probe", "[wants]\nkv = true", &probe_with(&["echo", "panic"]));
    for (arguments, word) in [
        (vec!["run", "eco"], "there are echo, panic"),
        (vec!["run", "echo", "{"], "not JSON"),
        (vec!["run", "echo", "[]"], "schema"),
        (vec!["run", "panic", "{\"why\":\"just so\"}"], "the probe panics: just so"),
        (vec!["grant", "probe", "exec"], "does not ask for \"exec\"; it asks for kv"),
        (vec!["grant", "prob"], "there are probe"),
    ] {
        let said = shell.badly(&arguments).await;
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
    install(&plugins, "broken", "", b"nothing");
    let ran = shell.plugin(&["list"]).await;
    assert!(
        !ran.well && ran.stdout.contains("broken") && ran.stdout.contains("no WebAssembly component"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("probe 0.1.0"), "one that is broken hides no other: {}", ran.stdout);
}

#[tokio::test]
async fn a_workspaces_plugin_is_installed_there_and_waits_for_trust() {
    let shell = Shell::new().await;
    let built = install(&shell.home().path().join("built"), "probe", "", &probe_with(&["echo"]));
    let said = shell.well(&["install", built.to_str().unwrap()]).await;
    assert!(said.contains("/trust"), "{said}");
    assert!(shell.home().workspace().join(".airlock/plugins/probe/plugin.wasm").exists());
    let listed = shell.plugin(&["list"]).await;
    assert!(listed.stdout.contains("not trusted"), "{}", listed.stdout);
}

#[tokio::test]
async fn run_has_a_workspace_and_a_sandbox_when_it_needs_them_and_leaves_nothing_behind() {
    let shell = Shell::new().await.with_sandbox();
    shell.home().write("a.txt", "one\n");
    let wants = "[wants]\nworkspace = [\"read\", \"propose\"]\nexec = true";
    let plugins = shell.home().config().join("airlock/plugins");
    install(&plugins, "probe", wants, &probe_with(&["read", "propose", "exec"]));
    let read = shell.well(&["run", "--grant", "all", "read", "{\"path\":\"a.txt\"}"]).await;
    assert_eq!(read, "one\n\n");
    let ran = shell
        .plugin(&["run", "--grant", "all", "propose", "{\"path\":\"b.txt\",\"content\":\"two\\n\"}"])
        .await;
    assert!(
        ran.well && ran.stderr.contains("proposed for b.txt") && ran.stderr.contains("+two"),
        "{}",
        ran.stderr
    );
    assert!(!shell.home().workspace().join("b.txt").exists());
    assert_eq!(shell.sandboxes_of_runs(), Vec::<String>::new());
}

#[tokio::test]
async fn a_run_that_is_interrupted_leaves_no_sandbox_and_no_podman() {
    let shell = Shell::new().await.with_sandbox();
    let plugins = shell.home().config().join("airlock/plugins");
    install(&plugins, "probe", "[wants]\nexec = true", &probe_with(&["exec"]));
    let input = json!({"command": "sleep 1000", "timeout_ms": 600_000}).to_string();
    let run = ["plugin", "run", "--grant", "all", "exec", &input];
    let terminal = Terminal::start(&shell.command.again(&run));
    let started = |_: &str| !services_of(shell.home()).is_empty();
    terminal.wait("a podman of its own", started).await;
    terminal.press(&["C-c"]);
    assert_eq!(terminal.wait_for_end().await, 130, "{}", terminal.screen());
    assert_eq!(services_of(shell.home()), Vec::<String>::new());
    assert_eq!(shell.sandboxes_of_runs(), Vec::<String>::new());
}

#[tokio::test]
async fn secrets_come_from_the_users_configuration_and_local_names_from_the_users_word() {
    let (shell, server) = (Shell::new().await, EchoServer::start().await);
    let origin = server.origin();
    let config = "[plugins.probe.secrets]\nTOKEN = \"from-the-file\"\n[plugins.probe.config]\ndepth = 3\nnames = [\"a\"]\n";
    let folder = shell.home().config().join("airlock");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let wants = format!(
        "[wants]\nhttp = [{{origin = \"{origin}\"}}]\n[secrets.TOKEN]\norigin = \"{origin}\"\nheader = \"x-token\""
    );
    install(&folder.join("plugins"), "probe", &wants, &probe_with(&["http", "config"]));
    let url = json!({"url": format!("{origin}/echo")}).to_string();
    // Everything is not the user's secret, unless they name it.
    let ran = shell.plugin(&["run", "--grant", "all", "http", &url]).await;
    assert!(ran.well && !server.asked()[0].headers.contains_key("x-token"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("granted: http:{origin}\n")), "{}", ran.stderr);
    let said = shell.well(&["run", "--grant", "all", "--grant", "secret:TOKEN", "http", &url]).await;
    assert_eq!(server.asked()[1].headers["x-token"], "from-the-file");
    assert!(!said.contains("from-the-file"), "{said}");
    assert_eq!(shell.well(&["run", "config"]).await, "{\"depth\":3,\"names\":[\"a\"]}\n");
    let asked = shell.well(&["inspect", "probe"]).await;
    assert!(!asked.contains("is not set"), "{asked}");
    std::fs::remove_file(folder.join("config.toml")).unwrap();
    let asked = shell.well(&["inspect", "probe"]).await;
    assert!(asked.contains("AIRLOCK_SECRET_PROBE__TOKEN"), "{asked}");
}

#[tokio::test]
async fn a_name_of_the_own_network_is_reached_after_grant_local_alone() {
    let (shell, server) = (Shell::new().await, EchoServer::start().await);
    let name = crate::plugin_http::name_of_this_machine();
    let origin = format!("http://{name}:{}", server.address().port());
    let wants = format!("[wants]\nhttp = [{{origin = \"{origin}\"}}]");
    let plugins = shell.home().config().join("airlock/plugins");
    install(&plugins, "probe", &wants, &probe_with(&["http"]));
    let url = json!({"url": format!("{origin}/echo")}).to_string();
    let said = shell.well(&["grant", "probe"]).await;
    assert!(!said.contains("your own network"), "{said}");
    let refused = shell.badly(&["run", "http", &url]).await;
    assert!(refused.contains("which plugins do not reach"), "{refused}");
    let said = shell.well(&["grant", "probe", &format!("http:{origin}"), "--local"]).await;
    assert!(said.contains("also in your own network"), "{said}");
    let ran = shell.plugin(&["run", "http", &url]).await;
    // Such a name may mean `::1` alone, where nobody listens.
    assert!(ran.well || ran.stderr.contains("cannot be reached"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("do not reach") && server.asked().len() == usize::from(ran.well));
    // What is granted again without the word keeps it.
    shell.well(&["grant", "probe"]).await;
    assert!(!shell.plugin(&["run", "http", &url]).await.stderr.contains("do not reach"));
}

#[tokio::test]
async fn run_says_who_runs_with_what_and_how_far_it_is() {
    let shell = Shell::new().await;
    let wants = "[wants]\nkv = true";
    let here =
        install(&shell.home().path().join("built"), "probe", wants, &probe_with(&["progress", "kv_get"]));
    for file in ["plugin.toml", "plugin.wasm"] {
        std::fs::copy(here.join(file), shell.home().workspace().join(file)).unwrap();
    }
    let folder = shell.home().workspace();
    let ran = shell.plugin(&["run", "progress", "{\"text\":\"step\",\"times\":2}"]).await;
    assert!(ran.stderr.contains("step 0\nstep 1\n"), "{}", ran.stderr);
    let who = format!("plugin probe 0.1.0 in {}, granted: ", folder.display());
    assert!(ran.stderr.contains(&format!("{who}nothing but computing\n")), "{}", ran.stderr);
    let ran = shell.plugin(&["run", "--grant", "all", "kv_get", "{\"key\":\"a\"}"]).await;
    assert!(ran.well && ran.stderr.contains(&format!("{who}kv\n")), "{}", ran.stderr);
    // The plugin in this folder has a name, installed or not, and what it is told to do with it works.
    let denied = shell.badly(&["run", "kv_get", "{\"key\":\"a\"}"]).await;
    assert!(denied.contains("airlock: denied: the plugin probe has no grant kv"), "{denied}");
    assert!(denied.contains("`airlock plugin grant probe kv`"), "{denied}");
    let said = shell.well(&["grant", "probe", "kv"]).await;
    assert!(said.contains(&folder.display().to_string()), "{said}");
    assert_eq!(shell.well(&["run", "kv_get", "{\"key\":\"a\"}"]).await, "null\n");
}
