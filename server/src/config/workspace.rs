//! A trusted workspace's `.airlock/config.toml`, which may only narrow what the user allowed.
//!
//! Architecture invariant: what comes out of here never sets the key, the base URL or a price, raises a limit or
//! weakens the isolation.

use super::check::{self, Fault, fault};
use super::file::{Entry, Source, Value, unknown_key};
use super::settings::{IsolationWish, Settings};
use super::user;
use crate::limits::CONFIG_FILE_MAX_BYTES;
use crate::problem::Problem;
use crate::trust::TrustedWorkspace;

/// Where a workspace keeps its settings.
pub const WORKSPACE_CONFIG: &str = ".airlock/config.toml";

/// What a workspace sets; `None` where it leaves the user's setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkspaceSettings {
    /// The model to ask.
    pub model: Option<String>,
    /// The most that one answer may hold, in tokens.
    pub max_tokens: Option<u32>,
    /// Messages that one turn may ask of the model, not more than the user allows.
    pub max_rounds: Option<u32>,
    /// Tokens that one session may use, not more than the user allows.
    pub max_session_tokens: Option<u64>,
    /// What one session may cost, not more than the user allows.
    pub max_session_cost_usd: Option<f64>,
    /// Whether the workspace insists on a microVM.
    pub require_microvm: bool,
}

impl WorkspaceSettings {
    /// Reads a trusted workspace's settings. What they may not set is a problem; the rest is used.
    pub fn load(workspace: &TrustedWorkspace, user: &Settings) -> (Self, Vec<Problem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        let text = match workspace.read_text(WORKSPACE_CONFIG, CONFIG_FILE_MAX_BYTES) {
            Ok(text) => text.unwrap_or_default(),
            Err(problem) => return (settings, vec![problem]),
        };
        let source = Source { path: &workspace.root().as_host().join(WORKSPACE_CONFIG), text: &text };
        match source.entries() {
            Err(problem) => problems.push(problem),
            Ok(entries) => {
                for Entry { key, line, value } in entries {
                    if let Err(fault) = settings.set(&key, &value, user) {
                        problems.push(source.problem(line, &key, fault));
                    }
                }
            }
        }
        (settings, problems)
    }

    fn set(&mut self, key: &str, value: &Value<'_>, user: &Settings) -> Result<(), Fault> {
        match key {
            "model" => self.model = Some(check::model(value.text()?)?),
            "max_tokens" => self.max_tokens = Some(check::small_in(value.whole()?, &check::TOKENS)?),
            "max_rounds" => {
                self.max_rounds = Some(not_above(user::rounds(value)?, Some(user.max_rounds))?);
            }
            "max_session_tokens" => {
                let tokens = user::session_tokens(value)?;
                self.max_session_tokens = Some(not_above(tokens, user.max_session_tokens)?);
            }
            "max_session_cost_usd" => {
                let cost = check::usd(value.number()?)?;
                self.max_session_cost_usd = Some(not_above(cost, user.max_session_cost_usd)?);
            }
            "isolation" => match check::isolation(value.text()?)? {
                IsolationWish::Microvm => self.require_microvm = true,
                same if same == user.isolation => {}
                _ => {
                    return fault(
                        format!(
                            "a workspace may not change your isolation {:?} to this",
                            user.isolation.as_str()
                        ),
                        "remove it; a workspace may only ask for \"microvm\"",
                    );
                }
            },
            known if user::KEYS.contains(&known) => {
                return fault(
                    "a workspace may not set this",
                    "remove it; if you want it, set it in your own config.toml",
                );
            }
            _ => return unknown_key(key, &user::KEYS),
        }
        Ok(())
    }
}

/// A limit of the workspace must not be above the user's.
fn not_above<T: PartialOrd + std::fmt::Display>(limit: T, users: Option<T>) -> Result<T, Fault> {
    match users {
        Some(users) if limit > users => {
            fault(format!("a workspace may not raise your limit of {users}"), "lower it or remove it")
        }
        _ => Ok(limit),
    }
}

impl Settings {
    /// These settings as a workspace narrows them.
    #[must_use]
    pub fn narrowed_by(&self, workspace: &WorkspaceSettings) -> Self {
        let mut narrowed = self.clone();
        if let Some(model) = &workspace.model {
            narrowed.model.clone_from(model);
        }
        if let Some(max_tokens) = workspace.max_tokens {
            narrowed.max_tokens = max_tokens;
        }
        // Once more the lower of both: the user's may be others than those that the workspace was loaded with.
        if let Some(max_rounds) = workspace.max_rounds {
            narrowed.max_rounds = max_rounds.min(self.max_rounds);
        }
        narrowed.max_session_tokens = lower(self.max_session_tokens, workspace.max_session_tokens);
        narrowed.max_session_cost_usd = lower(self.max_session_cost_usd, workspace.max_session_cost_usd);
        if workspace.require_microvm {
            narrowed.isolation = IsolationWish::Microvm;
        }
        narrowed
    }
}

fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other < one { other } else { one }),
        (one, other) => one.or(other),
    }
}
