//! The real binary as a user or a script calls it: in a home of its own, with little more than `PATH` around it.

use crate::airlock_binary::airlock_binary;
use crate::editor::Home;
use crate::scripted_claude::ScriptedClaude;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How to call it.
#[derive(Clone)]
pub struct AirlockCommand {
    binary: PathBuf,
    home: Home,
    arguments: Vec<OsString>,
    environment: BTreeMap<String, OsString>,
}

impl AirlockCommand {
    /// Calls it with these arguments; it talks to this Claude.
    pub fn new(claude: &ScriptedClaude, arguments: &[&str]) -> Self {
        let home = Home::new();
        let mut environment: BTreeMap<String, OsString> =
            home.variables().map(|(name, value)| (name.to_owned(), value.into())).into();
        environment.insert("PATH".to_owned(), std::env::var_os("PATH").unwrap_or_default());
        environment.insert("ANTHROPIC_BASE_URL".to_owned(), claude.base_url().into());
        environment.insert("ANTHROPIC_API_KEY".to_owned(), "test-key".into());
        environment.insert("USE_SANDBOX".to_owned(), "false".into());
        // What tmux is, should it be started there.
        environment.insert("TERM".to_owned(), "screen-256color".into());
        let binary = airlock_binary().to_owned();
        Self { binary, home, arguments: arguments.iter().map(Into::into).collect(), environment }
    }

    /// Calls another build of it.
    pub fn binary(self, binary: &Path) -> Self {
        Self { binary: binary.to_owned(), ..self }
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// Leaves a variable out.
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    /// The same with other arguments, in the same home.
    pub fn again(&self, arguments: &[&str]) -> Self {
        Self { arguments: arguments.iter().map(Into::into).collect(), ..self.clone() }
    }

    /// The same in another home.
    pub fn with_home(mut self, home: &Home) -> Self {
        let variables = home.variables().map(|(name, value)| (name.to_owned(), OsString::from(value)));
        self.environment.extend(variables);
        Self { home: home.clone(), ..self }
    }

    /// The user's home, with the workspace in it.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// As a process of ours, in the workspace. It dies with its handle.
    pub fn process(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.binary);
        command
            .args(&self.arguments)
            .current_dir(self.home.workspace())
            .env_clear()
            .envs(&self.environment)
            .kill_on_drop(true);
        command
    }

    /// As words for somebody else to start: the program `env`, the whole environment, the binary, its arguments.
    pub fn words(&self) -> Vec<OsString> {
        self.words_of([self.binary.clone().into()].into_iter().chain(self.arguments.iter().cloned()))
    }

    /// The same for another program, which has this environment.
    pub fn words_of(&self, program: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["env".into(), "-i".into()];
        words.extend(self.environment.iter().map(|(name, value)| {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            word
        }));
        words.extend(program);
        words
    }
}
