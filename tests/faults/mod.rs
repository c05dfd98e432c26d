//! What a machine on a bad day does, and what must happen: nothing is lost, nothing hangs, the user is told, and the
//! next prompt works. `SECURITY.md` lists every fault with the tests that hold it.

mod api;
mod cancel;
mod cancel_commands;
mod cancel_tools;
mod cut_streams;
mod disk_history;
mod disk_stores;
mod editor_frames;
mod history_disk;
mod history_kill;
mod no_sandbox;
mod odd_workspaces;
mod sandbox_dies;
mod tool_input;
