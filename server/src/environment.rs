//! The process environment: the one module that reads it.
//!
//! Architecture invariant: everything below the binary's `main` gets an [`Environment`] and reads no variable,
//! home or working directory of its own. A test gives it another one.

use crate::secret::Secret;
use etcetera::BaseStrategy;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the user's machine tells the program.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The user's configuration directory of Airlock.
    pub config_dir: PathBuf,
    /// Where Airlock keeps histories and trust.
    pub state_dir: PathBuf,
    /// Where Airlock keeps what it can make again.
    pub cache_dir: PathBuf,
    /// Where the process was started.
    pub working_dir: PathBuf,
}

/// The variables that Airlock itself looks at. With [`OF_THE_USERS_PROGRAMS`], no other is kept.
const OUR_OWN: [&str; 13] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "MODEL",
    "MAX_TOKENS",
    "SAFEDIR",
    "USE_SANDBOX",
    "AIRLOCK_LOG",
    "NO_COLOR",
    "TERM",
    "PATH",
    "XDG_RUNTIME_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSH_COMMAND",
];

/// What the user's own git, ssh and credential helpers need.
pub const OF_THE_USERS_PROGRAMS: [&str; 20] = [
    "HOME",
    "USER",
    "LOGNAME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "GIT_SSH",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// Every name that is looked at.
fn names() -> impl Iterator<Item = &'static str> {
    OUR_OWN.into_iter().chain(OF_THE_USERS_PROGRAMS)
}

/// Variables that begin like this hold secrets of plugins.
const PLUGIN_SECRET: &str = "AIRLOCK_SECRET_";

/// Takes the key and the secrets of plugins out of what a program of the host's is given: what nobody has nobody can
/// leak.
pub fn hide_secrets(command: &mut tokio::process::Command) {
    let is_secret = |name: &str| name == "ANTHROPIC_API_KEY" || name.starts_with(PLUGIN_SECRET);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_secret(&name.to_string_lossy())) {
        command.env_remove(name);
    }
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this module owns the process environment")]
    pub fn of_process() -> anyhow::Result<Self> {
        let directories = etcetera::choose_base_strategy()
            .map_err(|_| anyhow::anyhow!("no home directory: set HOME to yours and start again"))?;
        let state_base = directories.state_dir().unwrap_or_else(|| directories.data_dir());
        // One that is not UTF-8 is not one that is not set: it is to be found wrong by who uses it.
        let value = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        let variables = names().filter_map(|name| Some((name.to_owned(), value(name)?)));
        let secrets = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| name.starts_with(PLUGIN_SECRET))?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Ok(Self {
            variables: variables.chain(secrets).collect(),
            config_dir: directories.config_dir().join("airlock"),
            state_dir: state_base.join("airlock"),
            cache_dir: directories.cache_dir().join("airlock"),
            working_dir: std::env::current_dir()?,
        })
    }

    /// An environment for tests: only these variables, and directories beneath `home`.
    pub fn for_test(home: &Path, variables: &[(&str, &str)]) -> Self {
        Self {
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            config_dir: home.join("config"),
            state_dir: home.join("state"),
            cache_dir: home.join("cache"),
            working_dir: home.to_owned(),
        }
    }

    /// The same with another folder for what is kept: for what is to leave no trace.
    pub fn keeping_in(&self, state_dir: PathBuf) -> Self {
        Self { state_dir, ..self.clone() }
    }

    /// An installed program, found as a shell finds it. Debian keeps some where only root looks.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default().split(':').chain(["/usr/sbin", "/sbin"]);
        path.filter(|folder| folder.starts_with('/')).map(|folder| Path::new(folder).join(name)).find(
            |file| {
                file.metadata().is_ok_and(|metadata| {
                    metadata.is_file()
                        && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
                })
            },
        )
    }

    /// The variable for a secret of a plugin: `AIRLOCK_SECRET_ISSUE_FETCHER__TOKEN` is the secret `TOKEN` of
    /// `issue-fetcher`. There is none for a name that could be taken for another one, such as `issue_fetcher`.
    pub fn plugin_secret_variable(plugin: &str, name: &str) -> Option<String> {
        let ambiguous = plugin.contains('_') || plugin.contains("--") || plugin.ends_with('-');
        let plugin = plugin.to_ascii_uppercase().replace('-', "_");
        (!ambiguous).then(|| format!("{PLUGIN_SECRET}{plugin}__{name}"))
    }

    /// A secret of a plugin, when its variable is set.
    pub fn plugin_secret(&self, plugin: &str, name: &str) -> Option<Secret> {
        Secret::new(self.variables.get(&Self::plugin_secret_variable(plugin, name)?)?)
    }

    /// A variable; an empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        debug_assert!(names().any(|known| known == name), "{name} is not looked at");
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_for_the_secrets_of_two_plugins() {
        let (plugins, secrets) = (
            ["a", "b", "a-b", "a_b", "a--b", "a-", "a_", "a-b-c", "a1", "a-1"],
            ["C", "B_C", "B__C", "_C", "__C", "1", "1_C", "_"],
        );
        let mut seen = BTreeMap::new();
        for (plugin, secret) in plugins.iter().flat_map(|plugin| secrets.map(|secret| (plugin, secret))) {
            if let Some(variable) = Environment::plugin_secret_variable(plugin, secret) {
                let other = seen.insert(variable.clone(), (plugin, secret));
                assert_eq!(other, None, "{variable} is also for {plugin} {secret}");
            }
        }
        assert_eq!(
            Environment::plugin_secret_variable("issue-fetcher", "TOKEN").as_deref(),
            Some("AIRLOCK_SECRET_ISSUE_FETCHER__TOKEN")
        );
    }
}
