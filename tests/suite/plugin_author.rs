//! What the suites of plugins share: the real binary as an author calls it, and the examples, built once.

use airlock_tests::airlock_command::AirlockCommand;
use airlock_tests::components::installed;
use airlock_tests::editor::Home;
use airlock_tests::scripted_claude::ScriptedClaude;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// A build on a machine that has never built a plugin takes minutes.
const BUILD_MAX: Duration = Duration::from_secs(900);

/// An author with a terminal.
pub(crate) struct Author {
    command: AirlockCommand,
    folder: PathBuf,
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) well: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Author {
    /// In a home of their own, at work in this folder.
    pub(crate) fn at(claude: &ScriptedClaude, folder: &Path) -> Self {
        let mut command = AirlockCommand::new(claude, &[]);
        // The author's Rust, which is found from the home that the tests have.
        let real_home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
        for (name, place) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command =
                command.env(name, std::env::var_os(name).unwrap_or_else(|| real_home.join(place).into()));
        }
        for name in ["RUSTUP_TOOLCHAIN", "SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "https_proxy", "HTTPS_PROXY"] {
            if let Some(value) = std::env::var_os(name) {
                command = command.env(name, value);
            }
        }
        Self { command, folder: folder.to_owned() }
    }

    /// With componentize-py on the path.
    pub(crate) fn with_python(mut self) -> Self {
        let tools = installed("componentize-py/bin/componentize-py");
        let tools = tools.parent().expect("it is in a folder").display().to_string();
        let path = std::env::var("PATH").expect("a PATH");
        self.command = self.command.env("PATH", format!("{tools}:{path}"));
        self
    }

    /// With another variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    /// The same at work in another folder.
    pub(crate) fn in_folder(&self, folder: &Path) -> Self {
        Self { command: self.command.clone(), folder: folder.to_owned() }
    }

    /// The author's home.
    pub(crate) fn home(&self) -> &Home {
        self.command.home()
    }

    /// Calls the binary, whatever comes of it.
    pub(crate) async fn tries(&self, arguments: &[&str]) -> Said {
        let mut process = self.command.again(arguments).process();
        let output = process.current_dir(&self.folder).stdin(std::process::Stdio::null()).output();
        let output = tokio::time::timeout(BUILD_MAX, output).await;
        let output =
            output.unwrap_or_else(|_| panic!("airlock {arguments:?} did not end")).expect("airlock starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Said { well: output.status.success(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Calls the binary, which must succeed; gives its stdout.
    pub(crate) async fn runs(&self, arguments: &[&str]) -> String {
        let said = self.tries(arguments).await;
        assert!(said.well, "airlock {arguments:?} failed:\n{}\n{}", said.stdout, said.stderr);
        said.stdout
    }

    /// Calls the binary, which must fail; gives its stderr.
    pub(crate) async fn fails(&self, arguments: &[&str]) -> String {
        let said = self.tries(arguments).await;
        assert!(!said.well, "airlock {arguments:?} succeeded:\n{}", said.stdout);
        said.stderr
    }
}

/// The folder of an example, built by the real binary once a test process.
pub(crate) async fn example(name: &str) -> PathBuf {
    type Built = Arc<OnceCell<()>>;
    static EXAMPLES: Mutex<BTreeMap<String, Built>> = Mutex::const_new(BTreeMap::new());
    let folder = plugins().join(name);
    let built = Arc::clone(EXAMPLES.lock().await.entry(name.to_owned()).or_default());
    let build = || async {
        let claude = ScriptedClaude::start().await;
        Author::at(&claude, &folder).runs(&["plugin", "build"]).await;
    };
    built.get_or_init(build).await;
    folder
}

/// The repository's plugins.
pub(crate) fn plugins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins").canonicalize().expect("the repository's plugins")
}

/// A folder of this name where cargo builds, made anew: what is built there is found again by the next run.
pub(crate) fn fresh_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("our own folder");
    }
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
