//! The agent: sessions, turns, history, slash commands. It knows neither LSP nor the Messages API's wire form.

pub mod history;
pub mod outbox;
pub mod permission;
pub mod system_prompt;
pub mod turn;
pub mod update;
pub mod usage;
