//! Tests that need more than one crate. One binary, so that it is linked once.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

mod bad_frames;
mod bad_input;
mod code_actions;
mod custom_commands;
mod desk;
mod documents;
mod editor_laws;
mod editor_process;
mod http;
mod official_sdk;
mod plain_client;
mod progress;
mod scribbles;
mod scripted_claude_checks_requests;
mod scripted_claude_streams;
mod slash_commands;
mod the_key;
mod trust;
mod turns;
