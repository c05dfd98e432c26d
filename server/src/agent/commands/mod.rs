//! Slash commands: recognising them, and those that come from markdown files.
//!
//! Architecture invariant: nothing here reads a workspace's files but through a proof of trust, and text that a
//! user or a file put in is never taken for a template.

pub mod arguments;
pub mod built_in;
pub mod custom;
mod discover;
pub mod front_matter;
mod mention;
pub mod parse;
pub mod template;

pub use crate::nearest::nearest;
pub use custom::{CustomCommand, CustomCommands};
pub use parse::SlashCommand;
pub use template::{Expansion, MentionedFile, attach_mentions};
