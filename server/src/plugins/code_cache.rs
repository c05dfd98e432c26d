//! Compiled code on the disk, so that a component is compiled once.
//!
//! Loading it runs it: whoever writes these files is in. So they are in a folder of ours that nobody else may enter,
//! never in a workspace, and one that others may write to is not used. The key is the component's own digest and all
//! that decides what the compiler makes of it.

use crate::limits::PLUGIN_CACHE_FILES_MAX;
use crate::storage;
use sha2::{Digest as _, Sha256};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use wasmtime::Engine;
use wasmtime::component::Component;

/// A folder of compiled code.
pub(super) struct CodeCache {
    folder: PathBuf,
}

impl CodeCache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The compiled component of this digest; `None` when there is none that can be used.
    #[expect(unsafe_code, reason = "the file is ours, see above, and wasmtime checks its version")]
    pub(super) fn get(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let path = self.path(engine, digest);
        if !self.is_ours() || !path.symlink_metadata().ok()?.is_file() {
            return None;
        }
        match unsafe { Component::deserialize_file(engine, &path) } {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "compiled code cannot be used and is made again");
                None
            }
        }
    }

    /// Keeps a compiled component. Without it the next start is slower, so a failure is no more than a word in the log.
    pub(super) fn put(&self, engine: &Engine, digest: &str, component: &Component) {
        let kept = || -> std::io::Result<()> {
            storage::make_private_folder(&self.folder)?;
            if !self.is_ours() {
                return Err(std::io::Error::other("others may write to its folder"));
            }
            let code = component.serialize().map_err(|error| std::io::Error::other(error.to_string()))?;
            storage::replace(&self.path(engine, digest), &code)?;
            self.prune()
        };
        if let Err(error) = kept() {
            tracing::warn!(folder = %self.folder.display(), %error, "compiled code cannot be kept");
        }
    }

    /// Whether the folder is the user's own and nobody else can write to it.
    fn is_ours(&self) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        self.folder
            .symlink_metadata()
            .is_ok_and(|folder| folder.is_dir() && folder.uid() == ours && folder.mode() & 0o077 == 0)
    }

    fn path(&self, engine: &Engine, digest: &str) -> PathBuf {
        let mut compatible = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut compatible);
        let parts = format!("{digest} {} {:x}", env!("CARGO_PKG_VERSION"), compatible.finish());
        let name: String = Sha256::digest(parts).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.cwasm"))
    }

    /// Removes the oldest when there are too many.
    fn prune(&self) -> std::io::Result<()> {
        let names = storage::names_with_suffix(&self.folder, ".cwasm")?;
        if names.len() <= PLUGIN_CACHE_FILES_MAX {
            return Ok(());
        }
        let age = |name: &String| self.folder.join(name).metadata().and_then(|file| file.modified()).ok();
        let mut aged: Vec<_> = names.iter().map(|name| (age(name), name)).collect();
        aged.sort();
        for (_, name) in aged.iter().take(names.len() - PLUGIN_CACHE_FILES_MAX) {
            storage::remove(&self.folder.join(name))?;
        }
        Ok(())
    }
}
