//! Write tools and slash commands for Airlock.
//!
//! A tool is a function. Its doc comment is what the model is told, its parameters are the arguments, and their types
//! make the JSON schema:
//!
//! ```
//! use airlock_plugin::{Result, tool, workspace};
//!
//! /// Counts the words of a file.
//! #[tool(effects = ["read"])]
//! fn word_count(
//!     /// The file, relative to the workspace.
//!     path: String,
//! ) -> Result<usize> {
//!     Ok(workspace::read_text(&path)?.split_whitespace().count())
//! }
//!
//! airlock_plugin::export!(tools: [word_count]);
//! # fn main() {}
//! ```
//!
//! - More than a few arguments go into a struct: mark it with [`macro@data`], and take it as the only parameter, called
//!   `args`.
//! - What a tool gives is anything that serde can write. A string reaches the model as text, all else as JSON.
//! - `?` takes any error. What the host refuses is an [`Error`] whose [`kind`](Error::kind) says why.
//! - What a plugin may do is what it imports, and it imports only what it uses: [`workspace`], [`editor`], [`exec`],
//!   [`http`] and [`kv`] need the user's grant, and a line in `plugin.toml`. [`log`] and [`run`] are always there.
//! - A call runs in a fresh instance: statics keep nothing. [`kv`] does.
//!
//! `cargo test` runs natively; [`testing`] has a host for it.

pub mod editor;
mod error;
pub mod exec;
mod exports;
pub mod http;
pub mod kv;
pub mod log;
mod plugin;
pub mod run;
mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod workspace;

#[cfg(target_family = "wasm")]
mod bindings;
#[cfg(target_family = "wasm")]
use bindings as host;
#[cfg(not(target_family = "wasm"))]
use testing::connected as host;

pub use airlock_plugin_macros::{command, data, tool};
pub use error::{Error, Kind, Result};
pub use plugin::{Command, Content, Tool};

/// What the macros write; no part of the interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::{commands_world, tools_world};
    pub use crate::plugin::{CommandEntry, Plugin, ToolEntry};
    pub use schemars;
    pub use serde;
}
