//! `airlock plugin install`: puts a built plugin where Airlock finds it.

use super::{World, describe};
use crate::cli::exit::Exit;
use crate::limits::PLUGIN_MANIFEST_MAX_BYTES;
use crate::plugins::{COMPONENT, MANIFEST, WORKSPACE_PLUGINS};
use crate::storage;
use anyhow::{Context, bail};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// `airlock plugin install`.
#[derive(Debug, Args)]
pub(super) struct InstallArguments {
    /// The plugin's folder, with plugin.toml and plugin.wasm
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// For all your workspaces, and not for this one alone
    #[arg(short, long)]
    global: bool,

    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

pub(super) async fn run(world: &World, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let plugin = world.at(&arguments.folder)?;
    // A plugin that does not run is not installed.
    plugin.load(&world.plugins).await.map_err(anyhow::Error::msg)?;
    let listing = plugin.list(&world.plugins).await.map_err(anyhow::Error::msg)?;
    let from = plugin.place.folder();
    let plugins = if arguments.global {
        world.plugins.user_folder()
    } else {
        world.workspace(arguments.workspace.as_deref())?.as_host().join(WORKSPACE_PLUGINS)
    };
    let to = plugins.join(plugin.name());
    if to.canonicalize().ok() == Some(from.canonicalize()?) {
        bail!("it is installed in {} already", to.display());
    }
    storage::make_open_folder(&to).with_context(|| format!("{} cannot be made", to.display()))?;
    let manifest = storage::read_bytes(&from.join(MANIFEST), PLUGIN_MANIFEST_MAX_BYTES)?.unwrap_or_default();
    let component = plugin.bytes().map_err(anyhow::Error::msg)?;
    // The component first: a session that looks in between sees an old list, and not a plugin without a component.
    for (name, content) in [(COMPONENT, component), (MANIFEST, manifest)] {
        storage::replace(&to.join(name), &content)
            .with_context(|| format!("{} cannot be written", to.join(name).display()))?;
    }
    let mut out = io::stdout().lock();
    let tools: Vec<&str> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    writeln!(out, "Installed {} in {}: {}", plugin.name(), to.display(), tools.join(", "))?;
    if !arguments.global {
        writeln!(out, "It counts once this workspace is trusted as it is now: say /trust in a chat.")?;
    }
    let installed = if arguments.global { world.at(&to)? } else { plugin };
    write!(out, "{}", describe::asks(world, &installed))?;
    Ok(Exit::Well)
}
