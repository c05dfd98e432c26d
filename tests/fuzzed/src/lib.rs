//! What must hold for any bytes whatsoever: one property a module, one function each.
//!
//! `tests/fuzz` gives them to libFuzzer; the test suite gives them the corpus that is kept there and random bytes. A
//! function returns when everything held, and panics when something did not.

#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

mod config;
mod history;
mod hunks;
mod input;
mod json;
mod link;
mod link_frames;
mod link_guest;
mod lsp_frames;
mod lsp_positions;
mod message_stream;
mod neutral;
mod paths;
mod plugin_files;
mod slash_commands;
mod two_sides;

pub use config::config;
pub use history::history;
pub use hunks::hunks;
pub use link::link;
pub use lsp_frames::lsp_frames;
pub use lsp_positions::lsp_positions;
pub use message_stream::message_stream;
pub use neutral::neutral;
pub use paths::paths;
pub use plugin_files::plugin_files;
pub use slash_commands::slash_commands;
pub use two_sides::two_sides;

/// A property by the name of its fuzz target.
pub type Property = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Property; 12] = [
    ("config", config),
    ("history", history),
    ("hunks", hunks),
    ("link", link),
    ("lsp_frames", lsp_frames),
    ("lsp_positions", lsp_positions),
    ("message_stream", message_stream),
    ("neutral", neutral),
    ("paths", paths),
    ("plugin_files", plugin_files),
    ("slash_commands", slash_commands),
    ("two_sides", two_sides),
];
