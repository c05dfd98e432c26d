//! Tools that are WASM components. What a plugin can do is exactly what it imports and was granted.
//!
//! | what | where |
//! |---|---|
//! | who a plugin is and what it asks for: `plugin.toml` | `manifest`, `powers`, `origin` |
//! | what a component offers, without compiling it | `section`, `interface`, `index` |
//! | compiling and running | `engine`, `code_cache`, `ticker`, `limiter`, `tail`, `fault` |
//! | what a plugin can reach, an interface a file | `host`, `http`, `http_target`, `kv` |
//! | the world of a case of `airlock plugin test` | `rehearsal` |
//! | what the user granted | `grants` |
//! | the plugins of a session, fresh before each prompt | `place`, `plugin`, `slot`, `shelf` |
//! | their tools and slash commands for the agent | `tool`, `shelf` |
//!
//! Architecture invariant: no plugin opens a file, a socket or the environment. A workspace's own are read only through a
//! proof of trust. Whatever a plugin does, the server goes on and the next call works.

mod bindings;
mod code_cache;
mod engine;
mod fault;
pub mod grants;
mod hidden;
mod host;
mod http;
mod http_target;
mod index;
mod interface;
mod kv;
mod limiter;
mod manifest;
mod origin;
mod place;
mod plugin;
mod powers;
mod rehearsal;
pub mod section;
mod shared;
mod shelf;
mod slot;
mod tail;
mod ticker;
mod tool;

pub use engine::{Bounds, Content, Loaded, PluginEngine, ToolError, digest_of};
pub use fault::Fault;
pub use host::{CallContext, LogSink};
pub use http::{HttpError, HttpGate, Incoming, Outgoing};
pub use interface::{INTERFACE, Names};
pub use kv::{KvError, KvStore};
pub use manifest::{COMPONENT, MANIFEST, Manifest};
pub use origin::{Origin, is_public};
pub use place::Place;
pub use plugin::Plugin;
pub use powers::{HttpPower, Powers, SecretUse, WorkspacePower};
pub use rehearsal::{Rehearsal, Rehearsed, Stage};
pub use shared::Plugins;
pub use shelf::{PluginCommand, Shelf, WORKSPACE_PLUGINS, WorkspaceSide, workspace_stamp};
pub use tool::PluginTool;
