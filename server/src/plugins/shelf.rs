//! The plugins of one session, as they are now: the user's own, and those of the workspace if it is trusted.

use super::place::{Place, folders, stamp};
use super::plugin::Plugin;
use super::section::ListedCommand;
use super::shared::Plugins;
use super::slot::Slot;
use super::tool::{PluginTool, changes_files, invoke_command};
use crate::limits::PLUGINS_MAX;
use crate::tools::{Tool, ToolContext};
use crate::trust::TrustedWorkspace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a workspace keeps its plugins.
pub const WORKSPACE_PLUGINS: &str = ".airlock/plugins";

/// The plugins of one session.
pub struct Shelf {
    plugins: Arc<Plugins>,
    slots: Vec<Arc<Slot>>,
    /// Something is other than when a refresh last came to its end.
    changed: bool,
    /// Takes what the user should know.
    tell: Arc<dyn Fn(String) + Send + Sync>,
}

/// What the user thinks of the workspace.
#[derive(Clone, Copy)]
pub enum WorkspaceSide<'a> {
    /// Its plugins count.
    Trusted(&'a TrustedWorkspace),
    /// They counted, and then something changed. Those that were trusted stay; nothing new is read.
    Changed,
    /// They do not count.
    None,
}

/// A slash command of a plugin.
pub struct PluginCommand {
    slot: Arc<Slot>,
    plugins: Arc<Plugins>,
    /// The plugin's name.
    pub plugin: String,
    /// What people see.
    pub listed: ListedCommand,
}

impl Shelf {
    /// Looks for plugins. It is quick: nothing is compiled, and what is known is not read again. Gives what is wrong.
    /// It waits for the disk.
    pub fn open(
        plugins: &Arc<Plugins>,
        workspace: WorkspaceSide<'_>,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> (Self, Vec<String>) {
        let (plugins, slots, tell) = (Arc::clone(plugins), Vec::new(), Arc::new(tell));
        let mut shelf = Self { plugins, slots, changed: false, tell };
        let (new, mut problems) = shelf.scan(workspace);
        let opened = new.into_iter().map(|place| Slot::open(place, &shelf.plugins)).collect();
        shelf.add(opened, &mut problems);
        shelf.changed = false;
        (shelf, problems)
    }

    /// Brings the shelf up to date. Gives whether something is other than before, and what is wrong.
    pub async fn refresh(&mut self, workspace: WorkspaceSide<'_>) -> (bool, Vec<String>) {
        let (new, mut problems) = self.scan(workspace);
        if !new.is_empty() {
            let plugins = Arc::clone(&self.plugins);
            let opened = tokio::task::spawn_blocking(move || {
                new.into_iter().map(|place| Slot::open(place, &plugins)).collect()
            });
            match opened.await {
                Ok(opened) => self.add(opened, &mut problems),
                Err(error) => problems.push(format!("plugins cannot be looked at: {error}")),
            }
        }
        for slot in &self.slots {
            if let Err(why) = slot.refresh(&self.plugins).await {
                problems.push(broken(slot, &why));
            }
            // It may also have changed within the turn before.
            self.changed |= slot.take_news();
            // A component that carries no list is asked, once.
            let unasked = |plugin: &Arc<Plugin>| plugin.listing().is_none() && !plugin.is_silent();
            if let Some(plugin) = slot.plugin().filter(unasked) {
                match plugin.list(&self.plugins).await {
                    Ok(_) => self.changed = true,
                    Err(why) => problems
                        .push(format!("the plugin {} cannot say what it offers: {why}", plugin.name())),
                }
            }
        }
        (std::mem::take(&mut self.changed), problems)
    }

    /// Whether there are no plugins.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The plugins' tools, in their order.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for slot in &self.slots {
            let Some(plugin) = slot.plugin() else { continue };
            for listed in plugin.listing().iter().flat_map(|listing| &listing.tools) {
                let (slot, plugins) = (Arc::clone(slot), Arc::clone(&self.plugins));
                tools.push(Arc::new(PluginTool::new(
                    slot,
                    plugins,
                    Arc::clone(&plugin),
                    listed,
                    Arc::clone(&self.tell),
                )));
            }
        }
        tools
    }

    /// The plugins' slash commands. The first of a name counts.
    pub fn commands(&self) -> Vec<PluginCommand> {
        let mut names = BTreeSet::new();
        let mut commands = Vec::new();
        for slot in &self.slots {
            let Some(plugin) = slot.plugin() else { continue };
            for listed in plugin.listing().iter().flat_map(|listing| &listing.commands) {
                if names.insert(listed.name.clone()) {
                    let (slot, plugins) = (Arc::clone(slot), Arc::clone(&self.plugins));
                    let (plugin, listed) = (plugin.name().to_owned(), listed.clone());
                    commands.push(PluginCommand { slot, plugins, plugin, listed });
                }
            }
        }
        commands
    }

    /// Compiles what was never compiled, where nobody waits for it.
    pub fn warm_up(&self) {
        for plugin in self.slots.iter().filter_map(|slot| slot.plugin()) {
            let plugins = Arc::clone(&self.plugins);
            tokio::spawn(async move {
                // Whoever calls it gets the error again.
                if let Err(why) = plugin.load(&plugins).await {
                    tracing::debug!(plugin = plugin.name(), %why, "a plugin does not load");
                }
            });
        }
    }

    /// Finds the folders that came and went. Gives those that came, and what is wrong.
    fn scan(&mut self, workspace: WorkspaceSide<'_>) -> (Vec<Place>, Vec<String>) {
        let mut problems = Vec::new();
        let mut places = BTreeMap::new();
        let mut order = Vec::new();
        match folders(&self.plugins.user_folder(), PLUGINS_MAX) {
            Ok(folders) => {
                for folder in folders {
                    order.push(folder.clone());
                    places.insert(folder.clone(), Place::User(folder));
                }
            }
            Err(why) => problems.push(why),
        }
        if let WorkspaceSide::Trusted(trusted) = workspace {
            for name in workspace_plugins(trusted) {
                let path = format!("{WORKSPACE_PLUGINS}/{name}");
                let place = Place::Workspace(trusted.clone(), path);
                order.push(place.folder());
                places.insert(place.folder(), place);
            }
        }
        let before = self.slots.len();
        self.slots.retain(|slot| match workspace {
            WorkspaceSide::Changed if slot.is_workspaces() => true,
            _ => places.contains_key(&slot.folder()),
        });
        self.changed |= self.slots.len() != before;
        for slot in &self.slots {
            if let Some(place) = places.remove(&slot.folder()) {
                slot.trust(place);
            }
        }
        let new = order.iter().filter_map(|folder| places.remove(folder)).collect();
        (new, problems)
    }

    fn add(&mut self, opened: Vec<(Slot, Option<String>)>, problems: &mut Vec<String>) {
        for (slot, problem) in opened {
            problems.extend(problem.map(|why| broken(&slot, &why)));
            self.slots.push(Arc::new(slot));
            self.changed = true;
        }
        self.plugins.index.save();
    }
}

/// What the disk tells of a workspace's plugins, trusted or not: another answer means that trust is to be looked at.
pub fn workspace_stamp(root: &Path) -> Vec<(PathBuf, String)> {
    let folders = folders(&root.join(WORKSPACE_PLUGINS), PLUGINS_MAX).unwrap_or_default();
    folders.into_iter().map(|folder| (folder.clone(), format!("{:?}", stamp(&folder)))).collect()
}

fn workspace_plugins(trusted: &TrustedWorkspace) -> Vec<String> {
    let names = trusted.paths_below(WORKSPACE_PLUGINS).filter_map(|path| {
        let mut parts = path.strip_prefix(WORKSPACE_PLUGINS)?.trim_start_matches('/').split('/');
        let name = parts.next()?;
        (parts.next() == Some(super::manifest::MANIFEST) && parts.next().is_none()).then(|| name.to_owned())
    });
    names.collect::<BTreeSet<_>>().into_iter().take(PLUGINS_MAX).collect()
}

fn broken(slot: &Slot, why: &str) -> String {
    match slot.plugin() {
        Some(plugin) => format!(
            "the plugin {} changed and cannot be used, so the last good one goes on: {why}",
            plugin.name()
        ),
        None => format!("a plugin cannot be used: {why}"),
    }
}

impl PluginCommand {
    /// Whether its plugin asks for a way to change what the agent sees.
    pub fn changes_files(&self) -> bool {
        self.slot.plugin().is_some_and(|plugin| changes_files(&plugin))
    }

    /// The prompt that it stands for.
    pub async fn expand(&self, arguments: &str, context: ToolContext) -> Result<String, String> {
        invoke_command(&self.slot, &self.plugins, &self.listed.name, arguments, context).await
    }
}
