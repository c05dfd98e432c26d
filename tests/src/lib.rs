//! The world that Airlock is tested in: a scripted Claude over HTTP, an editor that speaks LSP to the real
//! binary over its real pipes, and a terminal to talk to it in.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

pub mod airlock_binary;
pub mod airlock_command;
pub mod bench;
pub mod components;
pub mod deadline;
pub mod demo;
pub mod echo_server;
pub mod editor;
pub mod failing_disk;
pub mod guests;
pub mod image;
pub mod lab;
pub mod nvim;
pub mod ordinary_user;
pub mod other_editors;
pub mod planted;
pub mod plugin_desk;
pub mod sandbox_desk;
pub mod scripted_claude;
pub mod scripted_forge;
pub mod shown;
pub mod soak;
pub mod terminal;
pub mod tier;
pub mod traces;
pub mod tree;
pub mod unruly;
pub mod vscode;
pub mod workbench;
