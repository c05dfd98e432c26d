//! One plugin as its files are: who it is, what it offers, and its component once that was needed.

use super::engine::{Loaded, digest_of};
use super::index::{Index, Known};
use super::interface::Names;
use super::manifest::{COMPONENT, MANIFEST, Manifest};
use super::place::{Place, Stamp};
use super::section::{self, Listing};
use super::shared::Plugins;
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;

/// A plugin.
pub struct Plugin {
    /// Who it is and what it asks for.
    pub manifest: Manifest,
    /// Of its component.
    pub digest: String,
    /// Where it is.
    pub place: Place,
    /// What the disk told of its files before they were read.
    pub(super) stamp: Stamp,
    listing: OnceLock<Listing>,
    /// It was asked what it offers, and could not say.
    silent: OnceLock<()>,
    loaded: OnceCell<Arc<Loaded>>,
}

impl Plugin {
    /// Reads a plugin's files, as far as they are not known yet.
    pub(super) fn read(place: &Place, stamp: &Stamp, index: &Index) -> Result<Self, String> {
        let folder = place.folder();
        let of_file = |name: &'static str| {
            let path = folder.join(name);
            move |why: String| format!("{}: {why}", path.display())
        };
        let manifest = place.manifest().and_then(|text| Manifest::parse(&text)).map_err(of_file(MANIFEST))?;
        // A workspace's bytes are read each time: what counts is what was trusted, not when it was changed.
        let known = if place.is_workspaces() { None } else { index.get(&folder, stamp) };
        let known = match known {
            Some(known) => known,
            None => {
                let bytes = place.component().map_err(of_file(COMPONENT))?;
                let digest = digest_of(&bytes);
                // First: a component of another version should say that and nothing else.
                Names::read(&bytes).and_then(|names| names.check()).map_err(of_file(COMPONENT))?;
                let listing = section::read(&bytes).map_err(of_file(COMPONENT))?;
                let listing = listing.or_else(|| index.listing(&digest));
                let known = Known { stamp: *stamp, digest, listing };
                index.put(&folder, known.clone());
                known
            }
        };
        let listing = known.listing.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self {
            manifest,
            digest: known.digest,
            place: place.clone(),
            stamp: *stamp,
            listing,
            silent: OnceLock::new(),
            loaded: OnceCell::new(),
        })
    }

    /// The bytes of its component, as they are now.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        self.place.component()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// What it offers; `None` when it carries no list and has not been asked yet.
    pub fn listing(&self) -> Option<&Listing> {
        self.listing.get()
    }

    /// Whether it was asked what it offers, and could not say. Nothing but other files changes that.
    pub(super) fn is_silent(&self) -> bool {
        self.silent.get().is_some()
    }

    /// What it offers, by asking it if need be.
    pub async fn list(&self, plugins: &Plugins) -> Result<&Listing, String> {
        if let Some(listing) = self.listing.get() {
            return Ok(listing);
        }
        match self.ask(plugins).await {
            Ok(listing) => {
                plugins.learned(self, &listing);
                Ok(self.listing.get_or_init(|| listing))
            }
            Err(why) => {
                self.silent.get_or_init(|| ());
                Err(why)
            }
        }
    }

    async fn ask(&self, plugins: &Plugins) -> Result<Listing, String> {
        let loaded = self.load(plugins).await?;
        let context = plugins.call_context(self, super::powers::Powers::default());
        plugins.engine()?.list(&loaded, context).await.map_err(|fault| fault.to_string())
    }

    /// Its component, ready to be called. Compiled where that was never done.
    pub async fn load(&self, plugins: &Plugins) -> Result<Arc<Loaded>, String> {
        let load = || async {
            let (engine, digest, place) = (plugins.engine()?, self.digest.clone(), self.place.clone());
            let loaded =
                tokio::task::spawn_blocking(move || engine.load(&digest, || place.component())).await;
            loaded.map_err(|error| error.to_string())?
        };
        self.loaded.get_or_try_init(load).await.map(Arc::clone)
    }
}
