//! The small store of a plugin: a file of ours, replaced as a whole, bounded in every way.

use crate::limits::{
    PLUGIN_KEY_MAX_BYTES, PLUGIN_KEYS_MAX, PLUGIN_LOCK_MAX_MS, PLUGIN_STORE_MAX_BYTES, PLUGIN_VALUE_MAX_BYTES,
};
use crate::storage;
use base64::prelude::{BASE64_STANDARD, Engine};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One plugin's store. It keeps nothing in memory: several processes may run the plugin.
pub struct KvStore {
    path: PathBuf,
}

/// Why something was not kept or found.
#[derive(Debug, PartialEq, Eq)]
pub enum KvError {
    /// It is over a limit.
    TooLarge(String),
    /// The disk did not take or give it.
    Failed(String),
}

type Values = BTreeMap<String, String>;

/// As JSON and base64, with names and punctuation.
const FILE_MAX_BYTES: usize = 2 * PLUGIN_STORE_MAX_BYTES;

impl KvStore {
    /// The store in this file, which need not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// A value.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, KvError> {
        let values = self.read()?;
        values.get(key).map(|value| BASE64_STANDARD.decode(value).map_err(|_| damaged())).transpose()
    }

    /// Keeps a value.
    pub fn set(&self, key: &str, value: &[u8]) -> Result<(), KvError> {
        let over = |what: String| Err(KvError::TooLarge(what));
        if key.len() > PLUGIN_KEY_MAX_BYTES {
            return over(format!("a key may have {PLUGIN_KEY_MAX_BYTES} bytes"));
        }
        if value.len() > PLUGIN_VALUE_MAX_BYTES {
            return over(format!("a value may have {PLUGIN_VALUE_MAX_BYTES} bytes"));
        }
        self.change(|values| {
            values.insert(key.to_owned(), BASE64_STANDARD.encode(value));
            let bytes: usize = values.iter().map(|(key, value)| key.len() + value.len() / 4 * 3).sum();
            if values.len() > PLUGIN_KEYS_MAX {
                return over(format!("a store may have {PLUGIN_KEYS_MAX} keys: delete some"));
            }
            if bytes > PLUGIN_STORE_MAX_BYTES {
                return over(format!("a store may have {PLUGIN_STORE_MAX_BYTES} bytes: delete something"));
            }
            Ok(())
        })
    }

    /// Removes a value; one that is not there is no error.
    pub fn delete(&self, key: &str) -> Result<(), KvError> {
        self.change(|values| {
            values.remove(key);
            Ok(())
        })
    }

    /// The keys that begin with a prefix, sorted.
    pub fn list(&self, prefix: &str) -> Result<Vec<String>, KvError> {
        Ok(self.read()?.into_keys().filter(|key| key.starts_with(prefix)).collect())
    }

    fn change(&self, change: impl FnOnce(&mut Values) -> Result<(), KvError>) -> Result<(), KvError> {
        let _lock = storage::lock(&self.path.with_extension("lock"), PLUGIN_LOCK_MAX_MS)
            .map_err(|error| failed(&error))?;
        let mut values = self.read()?;
        change(&mut values)?;
        let text = serde_json::to_vec(&values).map_err(|_| damaged())?;
        storage::replace(&self.path, &text).map_err(|error| failed(&error))
    }

    fn read(&self) -> Result<Values, KvError> {
        match storage::read_bytes(&self.path, FILE_MAX_BYTES).map_err(|error| failed(&error))? {
            Some(text) => serde_json::from_slice(&text).map_err(|_| damaged()),
            None => Ok(Values::new()),
        }
    }
}

fn failed(error: &std::io::Error) -> KvError {
    KvError::Failed(format!("the plugin's store cannot be used: {error}"))
}

fn damaged() -> KvError {
    KvError::Failed("the plugin's store is damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_every_bound_holds() {
        let folder = tempfile::tempdir().unwrap();
        let store = KvStore::new(folder.path().join("p/store.json"));
        assert_eq!(store.get("a").unwrap(), None);
        store.set("a/1", b"\0\xff").unwrap();
        store.set("a/2", b"").unwrap();
        store.set("b", b"x").unwrap();
        let again = KvStore::new(folder.path().join("p/store.json"));
        assert_eq!(again.get("a/1").unwrap().unwrap(), b"\0\xff");
        assert_eq!(again.list("a/").unwrap(), ["a/1", "a/2"]);
        again.delete("a/1").unwrap();
        assert_eq!(store.get("a/1").unwrap(), None);
        assert!(matches!(store.set(&"k".repeat(257), b""), Err(KvError::TooLarge(_))));
        assert!(matches!(store.set("k", &vec![0; PLUGIN_VALUE_MAX_BYTES + 1]), Err(KvError::TooLarge(_))));
        let large = vec![0; PLUGIN_VALUE_MAX_BYTES];
        let kept = (0..5).take_while(|number| store.set(&format!("large{number}"), &large).is_ok()).count();
        assert_eq!(kept, 3);
        assert_eq!(store.get("b").unwrap().unwrap(), b"x");
    }

    #[test]
    fn a_full_store_takes_no_new_key_and_keeps_the_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let store = KvStore::new(folder.path().join("store.json"));
        // Through the file: a thousand syncs would take long.
        let values: Values =
            (0..PLUGIN_KEYS_MAX).map(|number| (format!("k{number}"), String::new())).collect();
        storage::replace(&store.path, &serde_json::to_vec(&values).unwrap()).unwrap();
        assert!(matches!(store.set("one more", b""), Err(KvError::TooLarge(_))));
        store.set("k0", b"changed").unwrap();
        assert_eq!(store.list("").unwrap().len(), PLUGIN_KEYS_MAX);
        store.delete("k1").unwrap();
        store.set("one more", b"").unwrap();
    }
}
