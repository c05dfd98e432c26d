//! Tests that need more than one crate. One binary, so that it is linked once.
#![allow(clippy::disallowed_methods, reason = "the walls are the server's")]

mod budget;
mod cancel;
mod cancel_commands;
mod cancel_tools;
mod compaction;
mod cuts;
mod editor_laws;
mod editor_process;
mod faults;
mod faults_of_tools;
mod history_disk;
mod history_kill;
mod http;
mod in_process;
mod many_sessions;
mod official_sdk;
mod order;
mod scripted_claude_checks_requests;
mod scripted_claude_streams;
mod shown;
mod tool_output;
mod turns;
mod world;
