//! What was learned of each plugin's files, so that twenty plugins are listed without reading twenty components.
//!
//! It is a cache: whatever is wrong with it, it is made again. It lies beside the compiled code, where nobody else writes.

use super::place::Stamp;
use super::section::Listing;
use crate::limits::PLUGIN_INDEX_MAX_BYTES;
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known, by folder.
pub(super) struct Index {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: Option<BTreeMap<String, Known>>,
    changed: bool,
}

/// What is known of a plugin's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    /// Of the component.
    pub(super) digest: String,
    /// `None`: the component carries no list, and has not been asked.
    pub(super) listing: Option<Listing>,
}

impl Index {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, state: Mutex::default() }
    }

    /// What is known of the files in a folder, when they are still the same.
    pub(super) fn get(&self, folder: &Path, stamp: &Stamp) -> Option<Known> {
        let mut state = self.state();
        let known = self.entries(&mut state).get(folder.to_str()?)?;
        (known.stamp == *stamp).then(|| known.clone())
    }

    /// What a component of this digest offers, wherever it was.
    pub(super) fn listing(&self, digest: &str) -> Option<Listing> {
        let mut state = self.state();
        self.entries(&mut state).values().find(|known| known.digest == digest)?.listing.clone()
    }

    /// Learns something.
    pub(super) fn put(&self, folder: &Path, known: Known) {
        let Some(folder) = folder.to_str() else { return };
        let mut state = self.state();
        if self.entries(&mut state).insert(folder.to_owned(), known.clone()) != Some(known) {
            state.changed = true;
        }
    }

    /// Writes down what was learned.
    pub(super) fn save(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.changed) {
            return;
        }
        // Plugins that are gone would else pile up.
        self.entries(&mut state).retain(|folder, _| Path::new(folder).exists());
        let written = serde_json::to_vec(&state.entries).map_err(std::io::Error::from).and_then(|text| {
            if let Some(folder) = self.path.parent() {
                storage::make_private_folder(folder)?;
            }
            storage::replace(&self.path, &text)
        });
        if let Err(error) = written {
            tracing::warn!(path = %self.path.display(), %error, "what is known of plugins cannot be kept");
        }
    }

    fn entries<'s>(&self, state: &'s mut State) -> &'s mut BTreeMap<String, Known> {
        state.entries.get_or_insert_with(|| {
            let text = storage::read_bytes(&self.path, PLUGIN_INDEX_MAX_BYTES).ok().flatten();
            text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
