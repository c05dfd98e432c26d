//! What the plugins of all sessions share. The engine is made when the first plugin is needed: most people have none.

use super::engine::{Bounds, PluginEngine};
use super::grants::GrantStore;
use super::host::CallContext;
use super::http::HttpGate;
use super::index::{Index, Known};
use super::kv::KvStore;
use super::place::Place;
use super::plugin::Plugin;
use super::powers::Powers;
use super::section::Listing;
use crate::config::PluginSettings;
use crate::environment::Environment;
use crate::limits::PLUGINS_MAX;
use crate::secret::Secret;
use crate::tools::Progress;
use crate::view::EditorView;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// What the plugins of all sessions share.
pub struct Plugins {
    environment: Environment,
    settings: BTreeMap<String, PluginSettings>,
    bounds: Bounds,
    engine: OnceLock<Result<Arc<PluginEngine>, String>>,
    http: Arc<HttpGate>,
    grants: GrantStore,
    pub(super) index: Index,
}

impl Plugins {
    /// For this user.
    pub fn new(environment: &Environment, settings: BTreeMap<String, PluginSettings>) -> Arc<Self> {
        Self::with_bounds(environment, settings, Bounds::default())
    }

    /// The same with other bounds.
    pub fn with_bounds(
        environment: &Environment,
        settings: BTreeMap<String, PluginSettings>,
        bounds: Bounds,
    ) -> Arc<Self> {
        Arc::new(Self {
            settings,
            bounds,
            engine: OnceLock::new(),
            http: Arc::default(),
            grants: GrantStore::new(environment),
            index: Index::new(environment.cache_dir.join("plugins/index.json")),
            environment: environment.clone(),
        })
    }

    /// Where the user's own plugins are.
    pub fn user_folder(&self) -> PathBuf {
        self.environment.config_dir.join("plugins")
    }

    /// The folders in there.
    pub fn user_folders(&self) -> Vec<PathBuf> {
        super::place::folders(&self.user_folder(), PLUGINS_MAX).unwrap_or_default()
    }

    /// The plugin at a place.
    pub fn open(&self, place: &Place) -> Result<Arc<Plugin>, String> {
        let plugin = Plugin::read(place, &place.stamp(), &self.index).map(Arc::new);
        self.index.save();
        plugin
    }

    /// A component with the list of what it offers in it, which it is asked for: for who builds one.
    pub async fn finish(&self, component: Vec<u8>) -> Result<(Vec<u8>, Listing), String> {
        let (engine, digest) = (self.engine()?, super::engine::digest_of(&component));
        let (of_thread, bytes) = (Arc::clone(&engine), component.clone());
        let loaded = tokio::task::spawn_blocking(move || of_thread.load(&digest, || Ok(bytes))).await;
        let loaded = loaded.map_err(|error| error.to_string())??;
        let context = self.context("it".into(), &Powers::default(), Powers::default(), PathBuf::new());
        let listing = engine.list(&loaded, context).await.map_err(|fault| fault.to_string())?;
        let finished = super::section::write(&component, &listing)?;
        // The list is no code: what was compiled is that of the finished one too, and a large one takes long.
        engine.keep_as(&loaded, &super::engine::digest_of(&finished));
        Ok((finished, listing))
    }

    /// What the user granted.
    pub fn grants(&self) -> &GrantStore {
        &self.grants
    }

    /// What compiles and runs components.
    pub fn engine(&self) -> Result<Arc<PluginEngine>, String> {
        let cache = self.environment.cache_dir.join("plugins/compiled");
        self.engine.get_or_init(|| PluginEngine::new(cache, self.bounds).map(Arc::new)).clone()
    }

    /// What a call of a plugin has around it where nobody watches: no workspace, no editor.
    pub fn call_context(&self, plugin: &Plugin, powers: Powers) -> CallContext {
        let asks = &plugin.manifest.asks;
        let around = self.context(plugin.name().into(), asks, powers, self.store_path(plugin));
        CallContext { secrets: Arc::new(self.secrets(plugin)), ..around }
    }

    fn context(&self, name: Arc<str>, asks: &Powers, powers: Powers, store: PathBuf) -> CallContext {
        let settings = self.settings.get(&*name);
        let config = settings.map_or_else(|| "{}".to_owned(), |settings| settings.config.to_string());
        let of_log = Arc::clone(&name);
        CallContext {
            asks: Arc::new(asks.clone()),
            secrets: Arc::default(),
            powers,
            cancel: CancellationToken::new(),
            progress: Progress::nowhere(),
            view: None,
            editor: EditorView::default(),
            http: Arc::clone(&self.http),
            kv: Arc::new(KvStore::new(store)),
            config: config.into(),
            log: Arc::new(move |level, line| match level {
                "error" => tracing::error!(plugin = %of_log, "{line}"),
                "warn" => tracing::warn!(plugin = %of_log, "{line}"),
                "debug" => tracing::debug!(plugin = %of_log, "{line}"),
                _ => tracing::info!(plugin = %of_log, "{line}"),
            }),
            stage: None,
            plugin: name,
        }
    }

    /// The values of a plugin's secrets: from the environment, else from the user's configuration.
    fn secrets(&self, plugin: &Plugin) -> BTreeMap<String, Secret> {
        let configured = self.settings.get(plugin.name()).map(|settings| &settings.secrets);
        let names = plugin.manifest.asks.secrets.keys();
        names
            .filter_map(|name| {
                let from_file = || configured.and_then(|secrets| secrets.get(name)).cloned();
                let secret = self.environment.plugin_secret(plugin.name(), name).or_else(from_file)?;
                Some((name.clone(), secret))
            })
            .collect()
    }

    /// Those of a plugin's secrets that the user has not given.
    pub fn missing_secrets(&self, plugin: &Plugin) -> Vec<String> {
        let given = self.secrets(plugin);
        plugin.manifest.asks.secrets.keys().filter(|name| !given.contains_key(*name)).cloned().collect()
    }

    fn store_path(&self, plugin: &Plugin) -> PathBuf {
        let folder = super::engine::digest_of(plugin.place.folder().as_os_str().as_encoded_bytes());
        self.environment.state_dir.join(format!("plugins/store/{}-{}.json", plugin.name(), &folder[..8]))
    }

    /// Remembers what a component said when it was asked.
    pub(super) fn learned(&self, plugin: &Plugin, listing: &Listing) {
        let known = Known {
            // Of when it was read: its files may be others by now.
            stamp: plugin.stamp,
            digest: plugin.digest.clone(),
            listing: Some(listing.clone()),
        };
        self.index.put(&plugin.place.folder(), known);
        self.index.save();
    }
}
