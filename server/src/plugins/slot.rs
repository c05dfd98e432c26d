//! A place for a plugin, whose files may change at any time. A broken file leaves the last good plugin in it.

use super::place::{Place, Stamp};
use super::plugin::Plugin;
use super::powers::Powers;
use super::shared::Plugins;
use crate::neutral::neutral_line;
use crate::tools::{Consent, ConsentQuestion};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A place for a plugin.
pub(super) struct Slot {
    state: Mutex<State>,
    /// Held while files are read again, and while the user is asked.
    busy: tokio::sync::Mutex<()>,
}

struct State {
    place: Place,
    stamp: Stamp,
    plugin: Option<Arc<Plugin>>,
    /// It took another one's place, and nobody has looked at what it offers.
    is_news: bool,
    /// What the user would not give in this session. They are not asked twice.
    refused: Powers,
}

impl Slot {
    /// Looks at a place for the first time; what is wrong there is told, and looked at again when it changes.
    /// It waits for the disk.
    pub(super) fn open(place: Place, plugins: &Plugins) -> (Self, Option<String>) {
        let stamp = place.stamp();
        let (plugin, problem) = match Plugin::read(&place, &stamp, &plugins.index) {
            Ok(plugin) => (Some(Arc::new(plugin)), None),
            Err(why) => (None, Some(why)),
        };
        let state = State { place, stamp, plugin, is_news: false, refused: Powers::default() };
        (Self { state: Mutex::new(state), busy: tokio::sync::Mutex::default() }, problem)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.state().place.folder()
    }

    pub(super) fn is_workspaces(&self) -> bool {
        self.state().place.is_workspaces()
    }

    /// The last good plugin.
    pub(super) fn plugin(&self) -> Option<Arc<Plugin>> {
        self.state().plugin.clone()
    }

    /// Whether there is another plugin than when this was last asked.
    pub(super) fn take_news(&self) -> bool {
        std::mem::take(&mut self.state().is_news)
    }

    /// Takes a newer proof that the workspace's bytes are trusted; what changed is read at the next look.
    pub(super) fn trust(&self, place: Place) {
        let mut state = self.state();
        // Another proof may be for other bytes, whatever the disk says of their age.
        if state.place.trusted() != place.trusted() {
            state.stamp = [None, None];
        }
        state.place = place;
    }

    /// Looks whether the files changed. Another plugin is taken only when it can be loaded and says what it offers;
    /// else the last good one stays, and the error says why.
    pub(super) async fn refresh(&self, plugins: &Arc<Plugins>) -> Result<(), String> {
        let (place, stamp) = {
            let state = self.state();
            let stamp = state.place.stamp();
            if state.stamp == stamp {
                return Ok(());
            }
            (state.place.clone(), stamp)
        };
        let _busy = self.busy.lock().await;
        if self.state().stamp == stamp {
            return Ok(());
        }
        let read = async {
            let plugin = read(&place, stamp, plugins).await?;
            plugin.load(plugins).await.map_err(|why| format!("{}: {why}", place.folder().display()))?;
            plugin.list(plugins).await.map_err(|why| format!("{}: {why}", place.folder().display()))?;
            Ok(Arc::new(plugin))
        };
        let read: Result<_, String> = read.await;
        plugins.index.save();
        let mut state = self.state();
        state.stamp = stamp;
        state.plugin = Some(read?);
        state.is_news = true;
        Ok(())
    }

    /// What a plugin has now. Where it asks for more than it was ever granted, the user is asked, once a session.
    pub(super) async fn powers(&self, plugin: &Arc<Plugin>, plugins: &Plugins, consent: &Consent) -> Powers {
        let asks = &plugin.manifest.asks;
        if asks.is_empty() {
            return Powers::default();
        }
        let granted = plugins.grants().granted(plugin);
        let missing = asks.beyond(&granted);
        if missing.is_empty() || missing.beyond(&self.state().refused).is_empty() {
            return asks.within(&granted);
        }
        let _busy = self.busy.lock().await;
        // Another call may have asked meanwhile.
        let granted = plugins.grants().granted(plugin);
        let missing = asks.beyond(&granted);
        if missing.is_empty() || missing.beyond(&self.state().refused).is_empty() {
            return asks.within(&granted);
        }
        if consent.ask(question(plugin, &missing, &granted)).await {
            match grant(plugin, plugins, &missing).await {
                Ok(()) => return asks.within(&plugins.grants().granted(plugin)),
                // What was said counts for this call all the same.
                Err(why) => {
                    tracing::warn!(%why, "a grant is not kept");
                    return asks.within(&granted.with(missing));
                }
            }
        }
        let mut state = self.state();
        state.refused = state.refused.clone().with(missing);
        asks.within(&granted)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a plugin's files, on a thread that may wait for the disk.
async fn read(place: &Place, stamp: Stamp, plugins: &Arc<Plugins>) -> Result<Plugin, String> {
    let (place, plugins) = (place.clone(), Arc::clone(plugins));
    let read = tokio::task::spawn_blocking(move || Plugin::read(&place, &stamp, &plugins.index)).await;
    read.map_err(|error| error.to_string())?
}

/// Keeps a grant, on a thread that may wait for other processes.
async fn grant(plugin: &Arc<Plugin>, plugins: &Plugins, powers: &Powers) -> Result<(), String> {
    let (grants, plugin, powers) = (plugins.grants().clone(), Arc::clone(plugin), powers.clone());
    let granted = tokio::task::spawn_blocking(move || grants.grant(&plugin, &powers)).await;
    granted.map_err(|error| error.to_string())?
}

fn question(plugin: &Plugin, missing: &Powers, granted: &Powers) -> ConsentQuestion {
    let (name, folder) = (plugin.name(), plugin.place.folder());
    let more = if granted.is_empty() { "" } else { " more than before" };
    let mut lines = missing.lines();
    lines.extend([
        String::new(),
        format!("plugin {name} {} in {}", plugin.manifest.version, folder.display()),
        format!("sha256 {}", plugin.digest),
        format!("Taken back with `airlock plugin revoke {name}`."),
    ]);
    // Whatever a plugin or its folder is called, a line of it stays one line.
    let lines: Vec<String> = lines.iter().map(|line| neutral_line(line)).collect();
    let title = format!("The plugin {name} asks for{more}: {}", missing.words().join(", "));
    ConsentQuestion { title: neutral_line(&title), detail: lines.join("\n") }
}
