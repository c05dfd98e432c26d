//! What a machine on a bad day does, and what must happen: nothing is lost, nothing hangs, the user is told, and the
//! next prompt works. `SECURITY.md` lists every fault with the tests that hold it.

mod api;
mod cancel;
mod cancel_commands;
mod cancel_everywhere;
mod cancel_tools;
mod cut_streams;
mod disk_accept;
mod disk_history;
mod disk_stores;
mod editor_frames;
mod history_disk;
mod history_kill;
mod much_to_look_at;
mod network;
mod no_sandbox;
mod odd_workspaces;
mod podman;
mod read_only;
mod sandbox_dies;
mod tool_input;
mod two_sessions;
