//! The world of a case of `airlock plugin test`: what the host answers there, and what it was told. Nothing of it is
//! real, and the walls are: what a plugin does not ask for in `plugin.toml` is denied in a rehearsal too.

use super::host::CallContext;
use super::plugin::Plugin;
use super::powers::Powers;
use super::shared::Plugins;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// What there is before the call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Rehearsal {
    /// The plugin's settings.
    pub config: Option<Value>,
    /// The files of the workspace.
    pub files: BTreeMap<String, String>,
    /// What servers answer.
    pub http: Vec<RehearsedAnswer>,
    /// What comes of commands.
    pub exec: Vec<RehearsedCommand>,
    /// The plugin's store.
    pub kv: BTreeMap<String, String>,
    /// What the user has in front of them.
    pub editor: RehearsedEditor,
    /// What the user did not grant, in the words of `airlock plugin grant`.
    pub denied: BTreeSet<String>,
    /// Whether the user stopped the turn.
    pub cancelled: bool,
}

/// An answer of a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RehearsedAnswer {
    /// To this method.
    #[serde(default = "get")]
    pub method: String,
    /// At this address.
    pub url: String,
    /// Its status.
    #[serde(default = "ok")]
    pub status: u16,
    /// Its headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Text as it is, other data as JSON.
    #[serde(default)]
    pub body: Value,
}

/// What comes of a command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RehearsedCommand {
    /// The command line, exactly.
    pub command: String,
    /// How it ends.
    #[serde(default)]
    pub exit_code: i32,
    /// What it says.
    #[serde(default)]
    pub output: String,
}

/// What the user has in front of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RehearsedEditor {
    /// A list.
    pub diagnostics: Vec<Value>,
    /// A list.
    pub open_documents: Vec<Value>,
    /// An object, or nothing.
    pub selection: Value,
}

/// What the host was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsed {
    /// The texts that were proposed, by their files.
    pub proposed: BTreeMap<String, String>,
    /// The requests, as `METHOD URL`.
    pub requests: Vec<String>,
    /// The commands.
    pub ran: Vec<String>,
    /// The store, as it is now.
    pub kv: BTreeMap<String, String>,
    /// The lines of the log, each after its level.
    pub log: Vec<String>,
}

/// A rehearsal in work. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Stage(Arc<Mutex<(Rehearsal, Rehearsed)>>);

impl Rehearsal {
    /// Begins it.
    pub fn stage(&self) -> Stage {
        let told = Rehearsed { kv: self.kv.clone(), ..Rehearsed::default() };
        Stage(Arc::new(Mutex::new((self.clone(), told))))
    }
}

impl Stage {
    /// What it was told so far.
    pub fn told(&self) -> Rehearsed {
        self.lock().1.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, (Rehearsal, Rehearsed)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plugins {
    /// What a call of a plugin has around it in a case: what the case says, within what the plugin asks for.
    pub fn rehearsal_context(&self, plugin: &Plugin, stage: &Stage) -> Result<CallContext, String> {
        let (config, denied, cancelled) = {
            let (world, _) = &*stage.lock();
            (world.config.clone(), world.denied.clone(), world.cancelled)
        };
        let asks = &plugin.manifest.asks;
        let mut refused = Powers::default();
        for word in &denied {
            let part = asks.part(word).ok_or_else(|| {
                format!("the case denies {word:?}, and the plugin asks for {}", asks.words().join(", "))
            })?;
            refused = refused.with(part);
        }
        let cancel = CancellationToken::new();
        if cancelled {
            cancel.cancel();
        }
        let log = stage.clone();
        Ok(CallContext {
            cancel,
            config: config.map_or_else(|| "{}".into(), |config| config.to_string().into()),
            log: Arc::new(move |level, line| log.lock().1.log.push(format!("{level}: {line}"))),
            stage: Some(stage.clone()),
            ..self.call_context(plugin, asks.beyond(&refused))
        })
    }
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}
