//! `airlock plugin list`: the plugins there are.

use super::{WorkspaceArgument, World};
use crate::cli::exit::Exit;
use crate::neutral::neutral_line;
use std::io::{self, Write};

pub(super) async fn run(world: &World, arguments: &WorkspaceArgument) -> anyhow::Result<Exit> {
    let workspace = world.workspace(arguments.workspace.as_deref())?;
    let all = world.all(&workspace);
    let mut out = io::stdout().lock();
    if all.is_empty() {
        writeln!(
            out,
            "No plugins. They are folders in {} and in a workspace's .airlock/plugins.",
            world.plugins.user_folder().display()
        )?;
    }
    let mut well = true;
    for found in all {
        let plugin = match &found.plugin {
            Ok(plugin) => plugin,
            Err(why) => {
                well = false;
                let folder = found.folder.display().to_string();
                writeln!(out, "{}\n  cannot be used: {}", neutral_line(&folder), neutral_line(why))?;
                continue;
            }
        };
        let whose = if plugin.place.is_workspaces() { "of this workspace" } else { "yours" };
        let description = neutral_line(&plugin.manifest.description);
        let version = neutral_line(&plugin.manifest.version);
        writeln!(out, "{} {version} ({whose}) {description}", plugin.name())?;
        match plugin.list(&world.plugins).await {
            Ok(listing) => {
                let tools = listing.tools.iter().map(|tool| tool.name.clone());
                let commands = listing.commands.iter().map(|command| format!("/{}", command.name));
                let offers = tools.chain(commands).collect::<Vec<_>>().join(", ");
                writeln!(out, "  offers   {}", neutral_line(&offers))?;
            }
            Err(why) => {
                well = false;
                writeln!(out, "  cannot be used: {}", neutral_line(&why))?;
            }
        }
        let asks = &plugin.manifest.asks;
        let granted = world.plugins.grants().granted(plugin);
        for (head, powers) in [("granted", asks.within(&granted)), ("missing", asks.beyond(&granted))] {
            if !powers.is_empty() {
                writeln!(out, "  {head}  {}", powers.words().join(", "))?;
            }
        }
    }
    Ok(if well { Exit::Well } else { Exit::Failed })
}
