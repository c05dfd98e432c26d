//! The agent: sessions, turns, history, slash commands. It knows neither LSP nor the Messages API's wire form.

pub mod history;
pub mod permission;
pub mod turn;
pub mod update;
