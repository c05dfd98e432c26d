//! What the user granted to plugins: `grants.json` in the user's state directory, which several processes share.
//!
//! A grant is for a component, known by its digest. A changed component in the same folder keeps what the one before it
//! had, so the user is asked again only when it wants more.

use super::place::Place;
use super::plugin::Plugin;
use super::powers::Powers;
use crate::environment::Environment;
use crate::limits::{GRANTS_MAX_BYTES, PLUGIN_LOCK_MAX_MS};
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What the user granted. It keeps nothing in memory: another process may write at any time.
#[derive(Clone, Debug)]
pub struct GrantStore {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u32,
    /// By the plugin's folder.
    plugins: BTreeMap<String, Granted>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Granted {
    name: String,
    digest: String,
    powers: Powers,
}

const VERSION: u32 = 1;

impl GrantStore {
    /// The user's store, which need not exist yet.
    pub fn new(environment: &Environment) -> Self {
        Self { path: environment.state_dir.join("grants.json") }
    }

    /// All that was ever granted to a plugin. A store that cannot be read grants nothing.
    pub fn granted(&self, plugin: &Plugin) -> Powers {
        match self.read() {
            Ok(book) => book.granted(&plugin.place, &plugin.digest),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "grants cannot be read, so plugins have none");
                Powers::default()
            }
        }
    }

    /// Grants something more.
    pub fn grant(&self, plugin: &Plugin, powers: &Powers) -> Result<(), String> {
        self.change(|book| {
            let powers = book.granted(&plugin.place, &plugin.digest).with(powers.clone());
            let (name, digest) = (plugin.name().to_owned(), plugin.digest.clone());
            book.plugins.insert(key(&plugin.place.folder()), Granted { name, digest, powers });
        })
    }

    /// Takes something back; also from the same component elsewhere, which would else bring it back.
    pub fn revoke(&self, plugin: &Plugin, powers: &Powers) -> Result<(), String> {
        self.change(|book| {
            let folder = key(&plugin.place.folder());
            for (other, granted) in &mut book.plugins {
                if *other == folder || granted.digest == plugin.digest {
                    granted.powers = granted.powers.without(powers);
                }
            }
            book.plugins.retain(|_, granted| !granted.powers.is_empty());
        })
    }

    fn change(&self, change: impl FnOnce(&mut Book)) -> Result<(), String> {
        let wrong = |error: io::Error| format!("grants cannot be kept in {}: {error}", self.path.display());
        let _lock =
            storage::lock(&self.path.with_extension("json.lock"), PLUGIN_LOCK_MAX_MS).map_err(wrong)?;
        let mut book = match self.read() {
            Ok(book) => book,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                storage::put_aside(&self.path, &self.path.with_extension("json.broken")).map_err(wrong)?;
                Book::default()
            }
            Err(error) => return Err(wrong(error)),
        };
        change(&mut book);
        let text = serde_json::to_vec_pretty(&book).map_err(|error| wrong(error.into()))?;
        if text.len() > GRANTS_MAX_BYTES {
            return Err(wrong(io::Error::other("there are too many; revoke some")));
        }
        storage::replace(&self.path, &text).map_err(wrong)
    }

    fn read(&self) -> io::Result<Book> {
        let Some(text) = storage::read_text(&self.path, GRANTS_MAX_BYTES)? else {
            return Ok(Book::default());
        };
        match serde_json::from_str::<Book>(&text) {
            Ok(book) if book.version == VERSION => Ok(book),
            Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "another version of airlock wrote it")),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

impl Default for Book {
    fn default() -> Self {
        Self { version: VERSION, plugins: BTreeMap::new() }
    }
}

impl Book {
    fn granted(&self, place: &Place, digest: &str) -> Powers {
        let here = self.plugins.get(&key(&place.folder()));
        let same = || self.plugins.values().find(|granted| granted.digest == digest);
        here.or_else(same).map(|granted| granted.powers.clone()).unwrap_or_default()
    }
}

fn key(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}
