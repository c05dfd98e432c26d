//! The program inside the sandbox. It is the container's own process, speaks over its stdin and stdout, and does what
//! the server asks: run commands, work on files.
//!
//! Architecture invariant: everything happens as the ordinary user that the agent is, so no call can reach what its
//! shell could not.

pub mod console;
mod cut;
mod edit;
mod exec;
mod files;
mod find;
mod hello;
mod home;
mod jobs;
mod last_state;
mod list;
pub mod privileges;
mod processes;
mod put;
mod search;
mod serve;
mod shell;
mod system_calls;
mod text_file;

pub use serve::{Guest, serve};
