//! What kind of editor starts Airlock, and in what environment.

use super::home::Home;
use crate::airlock_binary::airlock_binary;
use crate::ordinary_user::OrdinaryUser;
use crate::scripted_claude::ScriptedClaude;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// By default an editor that knows the extension, in a home of its own.
#[derive(Clone)]
pub struct EditorOptions {
    pub(super) binary: Option<PathBuf>,
    pub(super) arguments: Vec<OsString>,
    pub(super) home: Home,
    pub(super) environment: BTreeMap<String, OsString>,
    pub(super) capabilities: Value,
}

impl EditorOptions {
    /// Its Airlock talks to this Claude.
    pub fn new(claude: &ScriptedClaude) -> Self {
        Self::with_base_url(&claude.base_url())
    }

    /// Its Airlock talks to the API at this address.
    pub fn with_base_url(url: &str) -> Self {
        // Most tests are about the conversation; a sandbox for each of their sessions would only take time.
        let environment =
            [("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "test-key"), ("USE_SANDBOX", "false")];
        Self {
            binary: None,
            arguments: vec!["lsp".into()],
            home: Home::new(),
            environment: environment.map(|(name, value)| (name.to_owned(), value.into())).into(),
            capabilities: json!({
                "general": {"positionEncodings": ["utf-16"]},
                "window": {"workDoneProgress": true, "showDocument": {"support": true}},
                "workspace": {
                    "applyEdit": true,
                    "workspaceFolders": true,
                    "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
                },
                "experimental": {"airlock": {"permission": true}},
            }),
        }
    }

    /// An editor that knows nothing of Airlock's extension.
    pub fn without_extension(self) -> Self {
        self.capabilities(|capabilities| capabilities["experimental"] = Value::Null)
    }

    /// The position encodings that the editor offers, the best first.
    pub fn encodings(self, encodings: &[&str]) -> Self {
        self.capabilities(|capabilities| capabilities["general"]["positionEncodings"] = json!(encodings))
    }

    /// Changes the client's capabilities.
    pub fn capabilities(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.capabilities);
        self
    }

    /// Uses a home that is there already.
    pub fn home(mut self, home: &Home) -> Self {
        self.home = home.clone();
        self
    }

    /// Sets a variable of the environment, which else holds little more than `PATH` and `HOME`.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// With a real sandbox for each session.
    pub fn with_sandbox(self) -> Self {
        self.without_env("USE_SANDBOX")
    }

    /// Leaves a variable out, such as `ANTHROPIC_API_KEY`.
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    /// The real binary, started by this user in a home of theirs.
    pub fn user(mut self, user: &OrdinaryUser, home: &Home) -> Self {
        let words = user.words(&OrdinaryUser::binary(home), &["lsp"]);
        self.binary = Some(PathBuf::from(&words[0]));
        self.arguments = words[1..].to_vec();
        self.home(home)
    }

    /// Starts another program than the real binary.
    pub fn program(mut self, binary: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        self.binary = Some(binary.into());
        self.arguments = arguments.iter().map(Into::into).collect();
        self
    }

    /// The program, its arguments and its whole environment.
    pub(crate) fn command(&self) -> tokio::process::Command {
        let binary = self.binary.clone().unwrap_or_else(|| airlock_binary().to_owned());
        let mut command = tokio::process::Command::new(binary);
        command
            .args(&self.arguments)
            .current_dir(self.home.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.home.variables())
            .envs(&self.environment);
        command
    }

    /// The parameters of `initialize`.
    pub(super) fn initialize(&self) -> Value {
        let uri = self.home.workspace_uri();
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "airlock-tests"},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "workspace"}],
            "capabilities": self.capabilities,
        })
    }
}
