//! The agent: sessions, turns, history, slash commands. It knows neither LSP nor the Messages API's wire form.

pub mod commands;
pub mod permission;
pub mod update;
