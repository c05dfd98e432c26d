//! Plugins without an agent: installed in a home of their own and called in this very process.

use crate::guests;
use airlock::environment::Environment;
use airlock::plugins::{Bounds, CallContext, Content, Fault, Place, Plugin, Plugins, Powers, ToolError};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A home with plugins.
pub struct PluginDesk {
    home: TempDir,
    plugins: Arc<Plugins>,
}

/// What a call gave: the outer error is ours, the inner one the plugin's own.
pub type Called = Result<Result<String, ToolError>, Fault>;

impl PluginDesk {
    /// With the bounds that everybody has.
    #[allow(clippy::new_without_default, reason = "it makes folders")]
    pub fn new() -> Self {
        Self::with(Bounds::default(), &[])
    }

    /// With a bound on computing that a test can wait for.
    pub fn impatient() -> Self {
        Self::with(Bounds { cpu_max: Duration::from_millis(300), ..Bounds::default() }, &[])
    }

    /// With these bounds and variables.
    pub fn with(bounds: Bounds, variables: &[(&str, &str)]) -> Self {
        let home = TempDir::with_prefix("airlock-plugins-").expect("a temporary folder");
        let environment = Environment::for_test(home.path(), variables);
        let plugins = Plugins::with_bounds(&environment, Default::default(), bounds);
        Self { home, plugins }
    }

    /// The home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// What all plugins share.
    pub fn plugins(&self) -> &Arc<Plugins> {
        &self.plugins
    }

    /// The same plugins as another process would find them.
    pub fn again(&self) -> Arc<Plugins> {
        let environment = Environment::for_test(self.home.path(), &[]);
        Plugins::new(&environment, Default::default())
    }

    /// The folder of the user's plugins.
    pub fn folder(&self) -> PathBuf {
        self.plugins.user_folder()
    }

    /// Installs a plugin.
    pub fn install(&self, name: &str, more: &str, component: &[u8]) -> Arc<Plugin> {
        self.try_install(name, more, component).expect("a plugin")
    }

    /// The same, which may be refused.
    pub fn try_install(&self, name: &str, more: &str, component: &[u8]) -> Result<Arc<Plugin>, String> {
        let folder = guests::install(&self.folder(), name, more, component);
        self.plugins.open(&Place::User(folder))
    }

    /// Calls a tool of a plugin that has all it asks for.
    pub async fn call(&self, plugin: &Plugin, tool: &str, input: Value) -> Called {
        self.call_with(plugin, tool, input, plugin.manifest.asks.clone(), |_| ()).await
    }

    /// The same with these powers and another surrounding.
    pub async fn call_with(
        &self,
        plugin: &Plugin,
        tool: &str,
        input: Value,
        powers: Powers,
        change: impl FnOnce(&mut CallContext),
    ) -> Called {
        let mut context = self.plugins.call_context(plugin, powers);
        change(&mut context);
        let engine = self.plugins.engine().map_err(Fault::new)?;
        let loaded = plugin.load(&self.plugins).await.map_err(Fault::new)?;
        let called = engine.call_tool(&loaded, context, tool, &input.to_string()).await?;
        Ok(called.map(|contents| {
            let texts = contents.into_iter().map(|content| match content {
                Content::Text(text) | Content::Json(text) => text,
            });
            texts.collect::<Vec<_>>().join("\n")
        }))
    }
}
