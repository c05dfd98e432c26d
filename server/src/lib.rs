//! Airlock: a coding agent behind your editor's language-server protocol.
//!
//! Each layer calls only downwards:
//!
//! | layer | modules |
//! |---|---|
//! | front ends: translate, decide nothing | [`lsp`], [`cli`] |
//! | the agent: sessions, turns, history, slash commands | [`agent`] |
//! | the Messages API; the tools, built in and from WASM components; what they change and see; where they run | [`claude`], [`tools`], [`plugins`], [`review`], [`view`], [`sandbox`] |
//! | what becomes of accepted work: commits, pushes, pull requests | [`git`], [`forge`] |
//! | what the user configured and allowed | [`config`], [`trust`] |
//! | the ground: disk, environment, processes, the system's packages, memory, limits, patience, paths, patterns, secrets, problems | [`conversation`], [`storage`], [`environment`], `process_group`, [`distribution`], [`memory`], [`limits`], [`patience`], [`paths`], [`patterns`], [`secret`], [`problem`], [`nearest`], [`neutral`] |

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests arrange the world themselves"))]

pub mod agent;
pub mod claude;
pub mod cli;
pub mod config;
pub mod conversation;
pub mod distribution;
pub mod environment;
pub mod forge;
pub mod git;
pub mod limits;
pub mod lsp;
pub mod memory;
pub mod nearest;
pub mod neutral;
pub mod paths;
pub mod patience;
pub mod patterns;
pub mod plugins;
pub mod problem;
pub(crate) mod process_group;
pub mod review;
pub mod sandbox;
pub mod secret;
pub mod storage;
pub mod tools;
pub mod trust;
pub mod view;
