//! Every setting, with its default.

use crate::limits;
use crate::patterns::Patterns;
use crate::problem::Problem;
use crate::secret::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the user configured. It has no `Debug`: it holds a secret.
#[derive(Clone, PartialEq)]
pub struct Settings {
    /// The key for the Messages API.
    pub api_key: Option<Secret>,
    /// Where the Messages API is: `http` or `https`, without a slash at its end. What cannot be used stays an error:
    /// another server than the one that the user meant must not get the key.
    pub base_url: Result<String, Problem>,
    /// The model to ask.
    pub model: String,
    /// The most that one answer may hold, in tokens.
    pub max_tokens: u32,
    /// Whether there is a sandbox at all; without one there is only chat.
    pub use_sandbox: bool,
    /// The workspace where no editor says which; absolute.
    pub safedir: Option<PathBuf>,
    /// Whether the model thinks.
    pub thinking: Thinking,
    /// What kind of wall the sandbox must have.
    pub isolation: IsolationWish,
    /// The image whose tools the sandbox has; without one, the host's.
    pub image: Option<String>,
    /// Messages that one turn may ask of the model.
    pub max_rounds: u32,
    /// Tokens that one session may use.
    pub max_session_tokens: Option<u64>,
    /// What one session may cost.
    pub max_session_cost_usd: Option<f64>,
    /// What one session may take of the disk.
    pub max_session_disk_gib: u64,
    /// How long the model's stream may be silent.
    pub stream_silence_s: u64,
    /// How often a request is tried again.
    pub retries: u32,
    /// How long a permission request waits for its answer.
    pub permission_timeout_s: u64,
    /// What is accepted only by itself, besides what Airlock knows to run later.
    pub protected: Patterns,
    /// What models cost.
    pub prices: BTreeMap<String, Prices>,
    /// Where pull requests may be made, each under its origin, such as `https://github.com`.
    pub forges: BTreeMap<String, Forge>,
    /// What plugins are told, each under its name.
    pub plugins: BTreeMap<String, PluginSettings>,
}

/// What the user set for a plugin. It has no `Debug`: it holds secrets.
#[derive(Clone, PartialEq)]
pub struct PluginSettings {
    /// What the plugin can read: a JSON object.
    pub config: serde_json::Value,
    /// What the plugin cannot read: Airlock puts it into its requests.
    pub secrets: BTreeMap<String, Secret>,
}

/// A place where repositories live. It has no `Debug`: it holds a secret.
#[derive(Clone, PartialEq)]
pub struct Forge {
    /// What it speaks.
    pub kind: ForgeKind,
    /// Where its API is, without a slash at its end.
    pub api: String,
    /// The token for it.
    pub token: Secret,
}

/// What a forge speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgeKind {
    /// GitHub's API.
    Github,
    /// The API of Gitea and Forgejo.
    Gitea,
}

/// Whether the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// As the model does by itself.
    Auto,
    /// Not.
    Off,
}

/// What kind of wall the user wants around the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationWish {
    /// The strongest there is on this machine.
    Auto,
    /// A microVM or nothing.
    Microvm,
    /// A container.
    Container,
}

/// What a model costs, in USD for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens read from the prompt cache.
    pub cache_read: f64,
    /// Tokens written to the prompt cache.
    pub cache_write: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            api_key: None,
            base_url: Ok("https://api.anthropic.com".to_owned()),
            model: "claude-sonnet-5".to_owned(),
            max_tokens: 8096,
            use_sandbox: true,
            safedir: None,
            thinking: Thinking::Auto,
            isolation: IsolationWish::Auto,
            image: None,
            max_rounds: limits::TURN_ROUNDS_MAX,
            max_session_tokens: None,
            max_session_cost_usd: None,
            max_session_disk_gib: limits::SESSION_DISK_GIB,
            stream_silence_s: limits::STREAM_SILENCE_MAX_MS / 1000,
            retries: limits::RETRIES_MAX,
            permission_timeout_s: limits::PERMISSION_ANSWER_MAX_MS / 1000,
            protected: Patterns::default(),
            prices: BTreeMap::new(),
            forges: BTreeMap::new(),
            plugins: BTreeMap::new(),
        }
    }
}

impl IsolationWish {
    /// The word for it in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Microvm => "microvm",
            Self::Container => "container",
        }
    }
}
