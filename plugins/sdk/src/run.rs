//! The call that is running. Always there.

use crate::error::{Error, Kind, Result};
use crate::host;
use serde::de::DeserializeOwned;

/// Whether the user stopped the turn.
pub fn cancelled() -> bool {
    host::run_cancelled()
}

/// For loops: an error when the user stopped the turn.
pub fn check() -> Result<()> {
    if cancelled() { Err(Error::new(Kind::Cancelled, "the user stopped the turn")) } else { Ok(()) }
}

/// Shows the user how far the call has come.
pub fn progress(text: &str) {
    host::run_progress(text);
}

/// The plugin's settings from the user's configuration. Mark the type with `#[data]` and its fields with
/// `#[serde(default)]`: a user may have set nothing.
pub fn config<T: DeserializeOwned>() -> Result<T> {
    serde_json::from_str(&host::run_config())
        .map_err(|error| Error::invalid(format!("the plugin's settings do not fit: {error}")))
}
