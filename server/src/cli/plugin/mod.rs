//! `airlock plugin …`: plugins from the command line, a file each command.

mod describe;
mod find;
mod grant;
mod inspect;
mod install;
mod list;
mod run;

use super::authoring::{self, BuildArguments, NewArguments, TestArguments};
use super::exit::Exit;
use super::fail;
use crate::config;
use crate::environment::Environment;
use crate::plugins::Plugins;
use clap::{Args, Subcommand};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// `airlock plugin`.
#[derive(Debug, Args)]
pub struct PluginArguments {
    #[command(subcommand)]
    command: PluginCommand,
}

/// What can be done with plugins.
#[derive(Debug, Subcommand)]
enum PluginCommand {
    /// Make a new plugin, ready to be built
    New(NewArguments),
    /// Build a plugin and check it
    Build(BuildArguments),
    /// Run the cases in tests/*.json; nothing real is touched
    Test(TestArguments),
    /// Call a tool of a plugin, as the agent would
    Run(run::RunArguments),
    /// Put a built plugin where Airlock finds it
    Install(install::InstallArguments),
    /// Show the plugins there are, and what they may do
    List(WorkspaceArgument),
    /// Show what a plugin offers, needs and asks for
    Inspect(inspect::InspectArguments),
    /// Let a plugin do what it asks for
    Grant(grant::GrantArguments),
    /// Take back what a plugin was granted
    Revoke(grant::RevokeArguments),
}

/// The workspace whose own plugins count, if it is trusted.
#[derive(Debug, Args)]
struct WorkspaceArgument {
    /// The workspace; else SAFEDIR, else where you are
    #[arg(short, long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

/// Runs `airlock plugin`.
pub(super) async fn run(environment: Environment, arguments: PluginArguments) -> Exit {
    let (settings, problems) = config::load(&environment);
    for problem in &problems {
        tracing::warn!("{problem}");
    }
    let plugins = Plugins::new(&environment, settings.plugins.clone());
    let world = World { environment, settings, plugins };
    let done = match arguments.command {
        PluginCommand::New(arguments) => authoring::new(&world.environment, &arguments),
        PluginCommand::Build(arguments) => {
            authoring::build(&world.environment, &world.plugins, &arguments).await
        }
        PluginCommand::Test(arguments) => {
            authoring::test(&world.environment, &world.plugins, &arguments).await
        }
        PluginCommand::Run(arguments) => run::run(&world, arguments).await,
        PluginCommand::Install(arguments) => install::run(&world, &arguments).await,
        PluginCommand::List(arguments) => list::run(&world, &arguments).await,
        PluginCommand::Inspect(arguments) => inspect::run(&world, &arguments).await,
        PluginCommand::Grant(arguments) => grant::grant(&world, &arguments),
        PluginCommand::Revoke(arguments) => grant::revoke(&world, &arguments),
    };
    match done {
        Ok(exit) => exit,
        Err(error) if is_closed(&error) => Exit::OutputClosed,
        Err(error) => fail(&error),
    }
}

/// Whether nobody reads the output any more.
fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// What the commands work with.
struct World {
    environment: Environment,
    settings: config::Settings,
    plugins: Arc<Plugins>,
}
