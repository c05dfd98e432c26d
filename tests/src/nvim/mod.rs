//! A real Neovim with the plugin, used as a person uses it: keys go in, the screen is looked at.
//!
//! Its configuration is an `init.lua` in a home of its own. Every picture that a test takes is kept in
//! `target/nvim-screens`.

mod picture;
mod rpc;
mod screen;

use crate::airlock_binary::airlock_binary;
use crate::components::installed;
use crate::deadline::deadline;
use crate::editor::Home;
use crate::scripted_claude::ScriptedClaude;
use rmpv::Value;
use rpc::Rpc;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How big the screen is, in cells.
const COLUMNS: u64 = 110;
const LINES: u64 = 34;

/// How often something is looked at that tells nobody when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How to start one.
#[derive(Clone)]
pub struct NeovimOptions {
    home: Home,
    environment: BTreeMap<String, OsString>,
    setup: String,
    init: String,
    files: Vec<String>,
}

impl NeovimOptions {
    /// In a home of its own; its Airlock talks to this Claude and has a real sandbox.
    pub fn new(claude: &ScriptedClaude) -> Self {
        let environment =
            [("ANTHROPIC_BASE_URL", claude.base_url()), ("ANTHROPIC_API_KEY", "test-key".to_owned())];
        Self {
            home: Home::new(),
            environment: environment.map(|(name, value)| (name.to_owned(), value.into())).into(),
            setup: String::new(),
            init: String::new(),
            files: Vec::new(),
        }
    }

    /// For tests that are about the conversation alone.
    pub fn without_sandbox(self) -> Self {
        self.env("USE_SANDBOX", "false")
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// Uses a home that is there already.
    pub fn home(mut self, home: &Home) -> Self {
        self.home = home.clone();
        self
    }

    /// Lua that stands in `setup{…}`, after the name of the binary, and may replace it.
    pub fn setup(mut self, lua: &str) -> Self {
        self.setup = lua.to_owned();
        self
    }

    /// Lua that stands in the user's `init.lua` before that.
    pub fn init(mut self, lua: &str) -> Self {
        self.init = lua.to_owned();
        self
    }

    /// Writes a file of the workspace.
    pub fn write(self, path: &str, text: &str) -> Self {
        self.home.write(path, text);
        self
    }

    /// Opens a file of the workspace at the start.
    pub fn file(mut self, path: &str) -> Self {
        self.files.push(path.to_owned());
        self
    }

    fn write_configuration(&self) {
        let folder = self.home.config().join("nvim");
        std::fs::create_dir_all(&folder).expect("a folder in the home");
        let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/nvim");
        let plugin = plugin.canonicalize().expect("the plugin is in the repository");
        // Where Debian keeps the parsers that come with Neovim.
        let parsers = installed("neovim/root").join("usr/lib/nvim");
        let init = format!(
            "vim.opt.runtimepath:prepend({plugin:?})\nvim.opt.runtimepath:append({parsers:?})\nvim.o.swapfile = false\nvim.o.shada = \"\"\n{}\n\
             require(\"airlock\").setup({{ cmd = {{ {:?}, \"lsp\" }}, {} }})\n",
            self.init,
            airlock_binary(),
            self.setup
        );
        std::fs::write(folder.join("init.lua"), init).expect("a file in the home");
    }

    fn command(&self) -> Command {
        let root = installed("neovim/root");
        // Its own loader and libraries: it is built for a newer Debian than this may be.
        let mut command = Command::new(root.join("usr/lib64/ld-linux-x86-64.so.2"));
        command
            .arg("--library-path")
            .arg(root.join("usr/lib/x86_64-linux-gnu"))
            .arg(root.join("usr/bin/nvim"))
            .arg("--embed")
            .args(&self.files)
            .current_dir(self.home.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("VIM", root.join("usr/share/nvim"))
            .env("VIMRUNTIME", root.join("usr/share/nvim/runtime"))
            .envs(self.home.variables())
            .envs(&self.environment);
        command
    }
}

/// A running Neovim. It is killed when this is dropped.
pub struct Neovim {
    process: Child,
    rpc: Rpc,
    home: Home,
    pictures: PathBuf,
}

impl Drop for Neovim {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the screen:\n{}", self.screen());
        }
        let servers = self.servers();
        // It fails only when the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        // The home goes next, and a server that is about to end still needs it.
        let since = Instant::now();
        while servers.iter().any(|pid| is_server(*pid)) && since.elapsed() < deadline() {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Neovim {
    /// Starts it, and waits until it takes keys.
    pub async fn start(options: NeovimOptions) -> Self {
        options.write_configuration();
        let mut process =
            options.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Neovim starts");
        let input = process.stdout.take().expect("it is piped");
        let output = process.stdin.take().expect("it is piped");
        let target = airlock_binary().parent().and_then(Path::parent).expect("it is in the target folder");
        let neovim = Self {
            process,
            rpc: Rpc::new(input, output),
            home: options.home.clone(),
            pictures: target.join("nvim-screens"),
        };
        let traits = Value::Map(vec![("rgb".into(), true.into()), ("ext_linegrid".into(), true.into())]);
        neovim.call("nvim_ui_attach", vec![COLUMNS.into(), LINES.into(), traits]).await;
        neovim.lua("return vim.v.vim_did_enter").await;
        neovim
    }

    /// The user's home, with the workspace in it.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Types keys in Neovim's notation: `ihello<Esc>`.
    pub async fn press(&self, keys: &str) {
        self.call("nvim_input", vec![keys.into()]).await;
    }

    /// Types a text as it is.
    pub async fn type_text(&self, text: &str) {
        self.press(&text.replace('<', "<lt>")).await;
    }

    /// Types a command line, from whatever mode.
    pub async fn command(&self, command: &str) {
        self.press("<C-\\><C-n>").await;
        self.type_text(&format!(":{command}")).await;
        self.press("<CR>").await;
    }

    /// Runs Lua in it, for what a person would see but the screen does not tell.
    pub async fn lua(&self, code: &str) -> Value {
        self.call("nvim_exec_lua", vec![code.into(), Value::Array(Vec::new())]).await
    }

    /// A text that Lua gives.
    pub async fn lua_text(&self, code: &str) -> String {
        let value = self.lua(code).await;
        value.as_str().unwrap_or_else(|| panic!("{code} gives {value}, which is no text")).to_owned()
    }

    /// The lines of a buffer whose name contains this.
    pub async fn buffer(&self, name: &str) -> String {
        let code = format!(
            "for _, buf in ipairs(vim.api.nvim_list_bufs()) do\n\
             if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf):find({name:?}, 1, true) then\n\
             return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n') end end return ''"
        );
        self.lua_text(&code).await
    }

    async fn call(&self, method: &str, arguments: Vec<Value>) -> Value {
        let answer = tokio::time::timeout(deadline(), self.rpc.request(method, arguments.clone())).await;
        match answer {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => panic!("{method} {arguments:?}: {error}\n{}", self.screen()),
            Err(_) => panic!("Neovim does not answer {method} {arguments:?}\n{}", self.screen()),
        }
    }

    /// What is on the screen, without white space at the ends of lines.
    pub fn screen(&self) -> String {
        self.rpc.with_screen(screen::Screen::text)
    }

    /// Waits until the screen is as wanted, and gives it.
    pub async fn wait(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let mut drawn = self.rpc.drawn();
        let looking = async {
            loop {
                drawn.borrow_and_update();
                let screen = self.screen();
                if wanted(&screen) {
                    return screen;
                }
                if drawn.changed().await.is_err() {
                    panic!("Neovim ended before this was on the screen: {what}\n{screen}");
                }
            }
        };
        match tokio::time::timeout(deadline(), looking).await {
            Ok(screen) => screen,
            Err(_) => panic!("never on the screen: {what}\n{}", self.screen()),
        }
    }

    /// Waits until a text is on the screen.
    pub async fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text)).await
    }

    /// Waits until a text is on the screen no more.
    pub async fn wait_until_gone(&self, text: &str) -> String {
        self.wait(&format!("no {text:?}"), |screen| !screen.contains(text)).await
    }

    /// Waits until Lua gives true. It is asked again when the screen changed, and now and then.
    pub async fn wait_for_lua(&self, code: &str) {
        let mut drawn = self.rpc.drawn();
        let looking = async {
            while self.lua(code).await != Value::Boolean(true) {
                let _ = tokio::time::timeout(LOOK_AGAIN, drawn.changed()).await;
            }
        };
        if tokio::time::timeout(deadline(), looking).await.is_err() {
            panic!("never true: {code}\n{}", self.screen());
        }
    }

    /// Keeps the screen as a picture and as text.
    pub fn keep_picture(&self, name: &str) {
        std::fs::create_dir_all(&self.pictures).expect("a folder in the target folder");
        let (text, svg) = self.rpc.with_screen(|screen| (screen.text(), picture::svg(screen)));
        for (ending, content) in [("txt", text), ("svg", svg)] {
            std::fs::write(self.pictures.join(format!("{name}.{ending}")), content).expect("a file");
        }
    }

    /// Keeps figures beside the pictures.
    pub fn keep_note(&self, name: &str, text: &str) {
        std::fs::create_dir_all(&self.pictures).expect("a folder in the target folder");
        std::fs::write(self.pictures.join(format!("{name}.txt")), text).expect("a file");
        println!("{name}: {text}");
    }

    /// How long a key that moves the cursor takes until the screen shows it.
    pub async fn key_latency(&self, key: &str) -> Duration {
        let mut drawn = self.rpc.drawn();
        let cursor = || self.rpc.with_screen(|screen| screen.cursor);
        let (before, pressed) = (cursor(), Instant::now());
        self.press(key).await;
        let moved = async {
            while cursor() == before {
                drawn.changed().await.expect("Neovim runs");
            }
        };
        if tokio::time::timeout(deadline(), moved).await.is_err() {
            panic!("{key} did not move the cursor\n{}", self.screen());
        }
        pressed.elapsed()
    }

    /// The process of the server that runs for this workspace.
    pub fn server_pid(&self) -> u32 {
        *self.servers().first().expect("a server runs")
    }

    /// The servers that it started and that still run.
    fn servers(&self) -> Vec<u32> {
        let ours = self.process.id();
        let children =
            std::fs::read_to_string(format!("/proc/{ours}/task/{ours}/children")).unwrap_or_default();
        let pids = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.filter(|pid| is_server(*pid)).collect()
    }

    /// `:qa!`, and waits for the end.
    pub async fn quit(mut self) {
        let servers = self.servers();
        self.press("<C-\\><C-n>:qa!<CR>").await;
        let ended = async {
            while self.process.try_wait().expect("a child of ours").is_none() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            while servers.iter().any(|pid| is_server(*pid)) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(deadline(), ended).await.is_err() {
            panic!("Neovim does not quit, or its server does not\n{}", self.screen());
        }
    }
}

/// Whether a process is an Airlock that serves an editor.
fn is_server(pid: u32) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains("airlock\0lsp")
}
