//! `airlock plugin inspect`: what a plugin offers, needs and asks for.

use super::{World, describe};
use crate::cli::exit::Exit;
use crate::neutral::neutral_line;
use crate::plugins::{COMPONENT, Names};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// `airlock plugin inspect`.
#[derive(Debug, Args)]
pub(super) struct InspectArguments {
    /// An installed plugin's name, or a plugin's folder or file
    #[arg(value_name = "NAME|PATH", default_value = ".")]
    plugin: String,

    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

pub(super) async fn run(world: &World, arguments: &InspectArguments) -> anyhow::Result<Exit> {
    let plugin = world.named(&arguments.plugin, arguments.workspace.as_deref())?;
    let listing = plugin.list(&world.plugins).await.map_err(anyhow::Error::msg)?;
    let bytes = plugin.bytes().map_err(|why| anyhow::anyhow!("{COMPONENT}: {why}"))?;
    let names = Names::read(&bytes).map_err(anyhow::Error::msg)?;
    let mut out = io::stdout().lock();
    write!(out, "{}", describe::whole(world, &plugin, listing))?;
    writeln!(out, "\nimports")?;
    for name in &names.imports {
        writeln!(out, "  {}", neutral_line(name))?;
    }
    Ok(Exit::Well)
}
