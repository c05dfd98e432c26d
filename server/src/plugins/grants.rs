//! What the user granted to plugins: `grants.json` in the user's state directory, which several processes share.
//!
//! A grant is for a component, known by its name and its digest. A changed component of that name in the same folder
//! keeps what the one before it had, so the user is asked again only when it wants more. Another name is another plugin:
//! secrets are looked up by it.

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

#[derive(Deserialize)]
struct Versioned {
    version: u32,
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
            Ok(book) => book.granted(plugin),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "grants cannot be read, so plugins have none");
                Powers::default()
            }
        }
    }

    /// Grants something more.
    pub fn grant(&self, plugin: &Plugin, powers: &Powers) -> Result<(), String> {
        self.change(|book| {
            let powers = book.granted(plugin).with(powers.clone());
            let (name, digest) = (plugin.name().to_owned(), plugin.digest.clone());
            book.plugins.insert(key(&plugin.place.folder()), Granted { name, digest, powers });
        })
    }

    /// Takes something back; also from the same component elsewhere, which would else bring it back.
    pub fn revoke(&self, plugin: &Plugin, powers: &Powers) -> Result<(), String> {
        self.change(|book| {
            let folder = key(&plugin.place.folder());
            for (other, granted) in &mut book.plugins {
                let same = granted.digest == plugin.digest && granted.name == plugin.name();
                if *other == folder || same {
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
        let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        // First: a newer version may have written what this one cannot read.
        let Versioned { version } = serde_json::from_str(&text).map_err(wrong)?;
        if version != VERSION {
            let why =
                "another version of airlock wrote it: use that one, or move the file away and grant again";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        serde_json::from_str(&text).map_err(wrong)
    }
}

impl Default for Book {
    fn default() -> Self {
        Self { version: VERSION, plugins: BTreeMap::new() }
    }
}

impl Book {
    fn granted(&self, plugin: &Plugin) -> Powers {
        let of_name = |granted: &&Granted| granted.name == plugin.name();
        let here = self.plugins.get(&key(&plugin.place.folder())).filter(of_name);
        let same = || self.plugins.values().filter(of_name).find(|granted| granted.digest == plugin.digest);
        here.or_else(same).map(|granted| granted.powers.clone()).unwrap_or_default()
    }
}

fn key(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_that_would_be_too_many_are_refused_and_those_there_stay() {
        let folder = tempfile::tempdir().unwrap();
        let store = GrantStore { path: folder.path().join("grants.json") };
        let keep = |name: &str| {
            let granted = Granted { name: name.to_owned(), digest: String::new(), powers: Powers::default() };
            store.change(|book| drop(book.plugins.insert(name.to_owned(), granted)))
        };
        keep("a").unwrap();
        assert!(keep(&"x".repeat(GRANTS_MAX_BYTES / 2)).unwrap_err().contains("revoke some"));
        keep("b").unwrap();
        assert_eq!(store.read().unwrap().plugins.into_keys().collect::<Vec<_>>(), ["a", "b"]);
    }
}
