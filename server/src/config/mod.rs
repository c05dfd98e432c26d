//! What the user configured.
//!
//! Later wins: defaults, the user's `config.toml`, environment variables. A trusted workspace's
//! `.airlock/config.toml` comes on top, and may only narrow what the user allowed.
//!
//! Architecture invariant: nothing here fails. What is wrong becomes a [`Problem`] and is left out; the rest is used.

mod check;
mod file;
mod forges;
mod plugins;
mod settings;
mod user;
mod variables;
mod workspace;

#[cfg(test)]
mod tests;

pub use crate::problem::{Place, Problem};
pub use settings::{Forge, ForgeKind, IsolationWish, PluginSettings, Prices, Settings, Thinking};
pub use workspace::{WORKSPACE_CONFIG, WorkspaceSettings};

use crate::environment::Environment;
use std::path::PathBuf;

/// The user's settings, and what is wrong with what they come from.
pub fn load(environment: &Environment) -> (Settings, Vec<Problem>) {
    let mut settings = Settings::default();
    let mut problems = Vec::new();
    user::apply(&user_file(environment), &mut settings, &mut problems);
    variables::apply(environment, &mut settings, &mut problems);
    (settings, problems)
}

/// The user's configuration file, which need not exist.
pub fn user_file(environment: &Environment) -> PathBuf {
    environment.config_dir.join("config.toml")
}
