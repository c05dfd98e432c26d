//! `airlock plugin grant` and `airlock plugin revoke`: what the user lets a plugin do.

use super::{World, describe};
use crate::cli::exit::Exit;
use crate::plugins::{Plugin, Powers};
use anyhow::bail;
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// `airlock plugin grant`.
#[derive(Debug, Args)]
pub(super) struct GrantArguments {
    /// The plugin's name, or its folder
    #[arg(value_name = "NAME")]
    plugin: String,

    /// What to grant: workspace:read, workspace:propose, exec, editor, kv, http:ORIGIN, secret:NAME; else all it asks for
    #[arg(value_name = "WHAT")]
    what: Vec<String>,

    /// The origins may be this machine or one of your own network
    #[arg(long)]
    local: bool,

    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

/// `airlock plugin revoke`.
#[derive(Debug, Args)]
pub(super) struct RevokeArguments {
    /// The plugin's name, or its folder
    #[arg(value_name = "NAME")]
    plugin: String,

    /// What to take back; else everything
    #[arg(value_name = "WHAT")]
    what: Vec<String>,

    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

pub(super) fn grant(world: &World, arguments: &GrantArguments) -> anyhow::Result<Exit> {
    let plugin = world.named(&arguments.plugin, arguments.workspace.as_deref())?;
    let mut powers = parts(&plugin, &plugin.manifest.asks, &arguments.what)?;
    if arguments.local {
        powers.http.iter_mut().for_each(|power| power.local = true);
    }
    world.plugins.grants().grant(&plugin, &powers).map_err(anyhow::Error::msg)?;
    write!(io::stdout(), "{}{}", describe::whose(&plugin), describe::asks(world, &plugin))?;
    Ok(Exit::Well)
}

pub(super) fn revoke(world: &World, arguments: &RevokeArguments) -> anyhow::Result<Exit> {
    let plugin = world.named(&arguments.plugin, arguments.workspace.as_deref())?;
    // Also what it no longer asks for.
    let granted = world.plugins.grants().granted(&plugin).with(plugin.manifest.asks.clone());
    let powers = parts(&plugin, &granted, &arguments.what)?;
    world.plugins.grants().revoke(&plugin, &powers).map_err(anyhow::Error::msg)?;
    write!(io::stdout(), "{}{}", describe::whose(&plugin), describe::asks(world, &plugin))?;
    Ok(Exit::Well)
}

/// The parts of these powers that the words name; all of them without words.
pub(super) fn parts(plugin: &Plugin, powers: &Powers, words: &[String]) -> anyhow::Result<Powers> {
    if words.is_empty() {
        return Ok(powers.clone());
    }
    let mut named = Powers::default();
    for word in words {
        let Some(part) = powers.part(word) else {
            match powers.words().as_slice() {
                [] => bail!("the plugin {} asks for nothing", plugin.name()),
                words => bail!(
                    "the plugin {} does not ask for {word:?}; it asks for {}",
                    plugin.name(),
                    words.join(", ")
                ),
            }
        };
        named = named.with(part);
    }
    Ok(named)
}
