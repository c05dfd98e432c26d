//! A small store of the plugin's own, kept between calls and sessions. Needs `kv = true` in `plugin.toml`, and the
//! user's grant.

use crate::error::{Error, Result};
use crate::host;

/// What is kept under the key.
pub fn get(key: &str) -> Result<Option<Vec<u8>>> {
    host::kv_get(key)
}

/// The text that is kept under the key.
pub fn get_text(key: &str) -> Result<Option<String>> {
    let text = |bytes| String::from_utf8(bytes).map_err(|_| Error::invalid(format!("{key} holds no text")));
    get(key)?.map(text).transpose()
}

/// Keeps something.
pub fn set(key: &str, value: impl AsRef<[u8]>) -> Result<()> {
    host::kv_set(key, value.as_ref())
}

/// Forgets it.
pub fn delete(key: &str) -> Result<()> {
    host::kv_delete(key)
}

/// The keys that begin with the prefix, sorted.
pub fn list(prefix: &str) -> Result<Vec<String>> {
    host::kv_list(prefix)
}
