//! Finding a plugin by its name, its folder or its file.

use super::World;
use crate::paths::WorkspaceRoot;
use crate::plugins::{COMPONENT, MANIFEST, Place, Plugin, WORKSPACE_PLUGINS, workspace_stamp};
use crate::trust::{TrustState, TrustStore};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A plugin that was found, or why it cannot be used.
pub(super) struct Found {
    pub(super) folder: PathBuf,
    pub(super) plugin: Result<Arc<Plugin>, String>,
}

impl World {
    /// The workspace that the user means.
    pub(super) fn workspace(&self, wanted: Option<&Path>) -> anyhow::Result<WorkspaceRoot> {
        let working_dir = &self.environment.working_dir;
        let folder = match wanted {
            Some(folder) => working_dir.join(folder),
            None => self.settings.safedir.clone().unwrap_or_else(|| working_dir.clone()),
        };
        Ok(WorkspaceRoot::open(&folder)?)
    }

    /// All plugins that count here: the user's own, then those of a trusted workspace.
    pub(super) fn all(&self, workspace: &WorkspaceRoot) -> Vec<Found> {
        let mut found: Vec<Found> = self
            .plugins
            .user_folders()
            .into_iter()
            .map(|folder| Found { plugin: self.plugins.open(&Place::User(folder.clone())), folder })
            .collect();
        let trust = TrustStore::new(&self.environment).state(workspace).0;
        for (folder, _) in workspace_stamp(workspace.as_host()) {
            let plugin = match &trust {
                TrustState::Trusted(trusted) => {
                    let name = folder.file_name().unwrap_or_default().to_string_lossy();
                    self.plugins
                        .open(&Place::Workspace(trusted.clone(), format!("{WORKSPACE_PLUGINS}/{name}")))
                }
                TrustState::Changed { .. } => {
                    Err("the workspace changed since you trusted it: say /trust in a chat there".to_owned())
                }
                TrustState::Untrusted => {
                    Err("the workspace is not trusted: say /trust in a chat there".to_owned())
                }
            };
            found.push(Found { folder, plugin });
        }
        found
    }

    /// The plugin in a folder, or whose component or manifest this is.
    pub(super) fn at(&self, path: &Path) -> anyhow::Result<Arc<Plugin>> {
        let path = self.environment.working_dir.join(path);
        let folder = match path.file_name().and_then(|name| name.to_str()) {
            Some(COMPONENT | MANIFEST) => path.parent().map_or(path.clone(), Path::to_owned),
            _ => path,
        };
        if !folder.join(MANIFEST).is_file() {
            bail!("there is no {MANIFEST} in {}: give a plugin's folder", folder.display());
        }
        self.plugins.open(&Place::User(folder)).map_err(anyhow::Error::msg)
    }

    /// The plugin of this name, installed or in the working directory, or in this folder.
    pub(super) fn named(&self, name: &str, workspace: Option<&Path>) -> anyhow::Result<Arc<Plugin>> {
        if name.contains(['/', '.']) {
            return self.at(Path::new(name));
        }
        let all = self.all(&self.workspace(workspace)?);
        let is_it = |found: &&Found| match &found.plugin {
            Ok(plugin) => plugin.name() == name,
            Err(_) => found.folder.file_name().is_some_and(|folder| folder == name),
        };
        match all.iter().find(is_it) {
            Some(found) => found.plugin.clone().map_err(anyhow::Error::msg),
            None => {
                let here = &self.environment.working_dir;
                if here.join(MANIFEST).is_file()
                    && let Some(plugin) = self.at(here).ok().filter(|plugin| plugin.name() == name)
                {
                    return Ok(plugin);
                }
                let names: Vec<&str> = all
                    .iter()
                    .filter_map(|found| found.plugin.as_ref().ok())
                    .map(|plugin| plugin.name())
                    .collect();
                let there_are = match names.as_slice() {
                    [] => "none is installed".to_owned(),
                    names => format!("there are {}", names.join(", ")),
                };
                bail!("there is no plugin {name:?}: {there_are}")
            }
        }
    }

    /// The plugin that has this tool: the one in the working directory, else an installed one.
    pub(super) async fn with_tool(
        &self,
        tool: &str,
        workspace: &WorkspaceRoot,
    ) -> anyhow::Result<Arc<Plugin>> {
        let here = &self.environment.working_dir;
        let mut candidates = Vec::new();
        if here.join(MANIFEST).is_file() {
            candidates.push(self.at(here).context("the plugin in this folder cannot be used")?);
        }
        candidates.extend(self.all(workspace).into_iter().filter_map(|found| found.plugin.ok()));
        let mut names = Vec::new();
        for plugin in candidates {
            let Ok(listing) = plugin.list(&self.plugins).await else { continue };
            if listing.tools.iter().any(|listed| listed.name == tool) {
                return Ok(Arc::clone(&plugin));
            }
            names.extend(listing.tools.iter().map(|listed| listed.name.clone()));
        }
        match names.as_slice() {
            [] => bail!(
                "there is no tool {tool:?}, and no plugin either: run this in a plugin's folder, or install one"
            ),
            names => bail!("there is no tool {tool:?}; there are {}", names.join(", ")),
        }
    }
}
