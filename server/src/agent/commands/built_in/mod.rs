//! The slash commands that come with Airlock, a file each.

mod accept;
mod changes;
mod clear;
mod commit;
mod compact;
mod cost;
mod help;
mod load;
mod model;
mod pr;
mod push;
mod quit;
mod reject;
mod review;
mod sessions;
mod tools;
mod trust;
mod undo;

use super::CustomCommands;
use super::parse::is_name;
use crate::agent::history::HistoryError;
use crate::agent::session::{Session, State};
use crate::agent::update::CommandInfo;
use crate::plugins::Shelf;
use crate::plugins::section::ListedCommand;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A slash command.
pub(in crate::agent) trait BuiltIn: Sync {
    /// Name, description and hint.
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>);

    /// Runs it to its end, or until `cancel`. An error is shown to the user and ends the turn as failed.
    ///
    /// It is never dropped half-way: a command that waits for the user, the network or a large file looks at `cancel`
    /// while it does, with [`unless_stopped`], and at nothing once it changes the session.
    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>>;
}

/// What a command works on.
pub(in crate::agent) struct CommandContext<'a> {
    pub(in crate::agent) session: &'a Arc<Session>,
    pub(in crate::agent) state: &'a mut State,
    pub(in crate::agent) cancel: &'a CancellationToken,
}

/// Waits for something that may be dropped; a cancel ends the command.
pub(in crate::agent) async fn unless_stopped<T>(
    cancel: &CancellationToken,
    waited_for: impl Future<Output = T>,
) -> Result<T, String> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err("stopped".to_owned()),
        value = waited_for => Ok(value),
    }
}

/// Does what takes the disk long, where no other task waits for it; a cancel ends the command.
pub(in crate::agent) async fn from_disk<T: Send + 'static>(
    cancel: &CancellationToken,
    read: impl FnOnce() -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, String> {
    let read = unless_stopped(cancel, tokio::task::spawn_blocking(read)).await?;
    read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// What follows a command.
pub(in crate::agent) enum Outcome {
    /// Nothing.
    Done,
    /// The session ends.
    Quit,
}

const ALL: [&dyn BuiltIn; 18] = [
    &help::Help,
    &changes::Changes,
    &review::Review,
    &accept::Accept,
    &reject::Reject,
    &undo::Undo,
    &clear::Clear,
    &commit::Commit,
    &compact::Compact,
    &cost::Cost,
    &load::Load,
    &model::Model,
    &pr::Pr,
    &push::Push,
    &quit::Quit,
    &sessions::Sessions,
    &tools::Tools,
    &trust::Trust,
];

/// The command of that name.
pub(in crate::agent) fn find(name: &str) -> Option<&'static dyn BuiltIn> {
    ALL.into_iter().find(|command| command.info().0 == name)
}

/// The names that no custom command may take.
pub(in crate::agent) fn names() -> Vec<&'static str> {
    ALL.iter().map(|command| command.info().0).collect()
}

/// Every command there is, the built-in ones first.
pub(in crate::agent) fn all_infos(custom: &CustomCommands, shelf: &Shelf) -> Vec<CommandInfo> {
    let built_in = ALL.iter().map(|command| {
        let (name, description, hint) = command.info();
        CommandInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            hint: hint.map(str::to_owned),
        }
    });
    let mut infos: Vec<_> = built_in.chain(custom.iter().map(super::CustomCommand::info)).collect();
    for command in shelf.commands() {
        let ListedCommand { name, description, hint } = command.listed;
        // One that cannot be typed, or that another hides, only misleads.
        if is_name(&name) && !infos.iter().any(|info| info.name.eq_ignore_ascii_case(&name)) {
            let description = format!("{description} (plugin {})", command.plugin);
            infos.push(CommandInfo { name, description, hint: Some(hint).filter(|hint| !hint.is_empty()) });
        }
    }
    infos
}
