//! `/commit`: commits what was accepted, on a branch of the agent's own.

use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::agent::session::{Session, State};
use crate::git::{Changed, Prepared};
use crate::limits::{GIT_MESSAGE_MAX_BYTES, GIT_SHOWN_MAX};
use crate::neutral::neutral_line;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::review::{Acceptance, Accepted};
use crate::sandbox::session_folder;
use crate::view::UserSide;
use futures::future::BoxFuture;
use std::sync::Arc;

pub(super) struct Commit;

impl BuiltIn for Commit {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("commit", "Commit what you accepted, on a branch of the agent's own", Some("[message]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = context;
            check_message(arguments)?;
            let accepted = Accepted::open(&session_folder(&session.agent.environment, &session.id));
            let record = accepted.clone();
            let noted = unless_stopped(cancel, disk(move || record.paths())).await??;
            if noted.is_empty() {
                return Err("nothing is accepted that is not committed: accept changes first".to_owned());
            }
            let work = session.git_work(cancel).await?;
            let (saved, unsaved) = unless_stopped(cancel, sort(session, work.workspace, noted)).await??;
            let paths: Vec<WorkspacePath> = saved.iter().map(|acceptance| acceptance.path.clone()).collect();
            let prepare = work.room.prepare(work.workspace, work.branch.clone(), &paths);
            let mut prepared = unless_stopped(cancel, prepare).await?.map_err(|error| error.to_string())?;
            let why = "it has changes in your editor that are not saved: save it first";
            prepared.left_out.extend(unsaved.into_iter().map(|path| (path, why.to_owned())));
            let mut told = format!("Nothing to commit: `{}` has it all already.\n", work.branch.name());
            if !prepared.changed.is_empty() {
                let message = message(arguments, state, &prepared.changed);
                let commit =
                    work.room.record(&prepared, &message).await.map_err(|error| error.to_string())?;
                let subject = neutral_line(message.lines().next().unwrap_or_default());
                told = format!(
                    "Committed on `{}` as {}: {subject}\n",
                    work.branch.name(),
                    &commit[..10.min(commit.len())]
                );
            }
            let done = done(saved, &prepared);
            disk(move || accepted.forget(&done)).await?;
            session.say(told + &listed(&prepared));
            Ok(Outcome::Done)
        })
    }
}

fn check_message(message: &str) -> Result<(), String> {
    if message.len() > GIT_MESSAGE_MAX_BYTES {
        return Err(format!("the message is longer than {GIT_MESSAGE_MAX_BYTES} bytes: give a shorter one"));
    }
    if message.contains('\0') {
        return Err("a message cannot contain a zero byte".to_owned());
    }
    Ok(())
}

/// Those that are on the disk as the user sees them, and those that are not saved.
async fn sort(
    session: &Session,
    workspace: &WorkspaceRoot,
    noted: Vec<Acceptance>,
) -> Result<(Vec<Acceptance>, Vec<WorkspacePath>), String> {
    let user = UserSide::new(workspace.clone(), Arc::clone(&session.agent.desk) as _);
    disk(move || {
        let (mut saved, mut unsaved) = (Vec::new(), Vec::new());
        for acceptance in noted {
            if user.has_unsaved(&acceptance.path)? {
                unsaved.push(acceptance.path);
            } else {
                saved.push(acceptance);
            }
        }
        Ok((saved, unsaved))
    })
    .await
}

/// Work on the disk, where no other task waits for it.
async fn disk<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
    done.map_err(|error| format!("what you accepted cannot be looked up: {error}"))
}

/// The user's words, or the conversation's title and what is changed.
fn message(words: &str, state: &State, changed: &[Changed]) -> String {
    if !words.trim().is_empty() {
        return format!("{}\n", words.trim());
    }
    let title = state.header.as_ref().map(|header| header.title.as_str()).filter(|title| !title.is_empty());
    let lines = shown(changed, |change| format!("- {} {}", change.how, change.path));
    format!("{}\n\n{lines}", title.unwrap_or("Changes made with Airlock"))
}

fn listed(prepared: &Prepared) -> String {
    let mut text = shown(&prepared.changed, |change| format!("- {} `{}`", change.how, change.path));
    if !prepared.left_out.is_empty() {
        text += "\nNot committed:\n";
        text += &shown(&prepared.left_out, |(path, why)| format!("- `{path}`: {why}"));
    }
    text
}

fn shown<T>(all: &[T], line: impl Fn(&T) -> String) -> String {
    let mut text: String =
        all.iter().take(GIT_SHOWN_MAX).map(|one| neutral_line(&line(one)) + "\n").collect();
    if all.len() > GIT_SHOWN_MAX {
        text += &format!("- and {} more\n", all.len() - GIT_SHOWN_MAX);
    }
    text
}

/// What need not be committed again.
fn done(mut noted: Vec<Acceptance>, prepared: &Prepared) -> Vec<Acceptance> {
    noted.retain(|acceptance| !prepared.left_out.iter().any(|(path, _)| *path == acceptance.path));
    noted
}
