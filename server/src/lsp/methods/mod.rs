//! One method, one file: a function that knows no plumbing. Those of a line or two stand in their route, in `lsp/server.rs`.

pub(super) mod changes;
pub(super) mod code_action;
pub(super) mod context;
pub(super) mod execute_command;
pub(super) mod initialize;
pub(super) mod session_list;
pub(super) mod session_load;
pub(super) mod session_new;
pub(super) mod session_prompt;
