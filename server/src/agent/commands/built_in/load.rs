//! `/load`: goes on with a conversation that was kept.

use super::{BuiltIn, CommandContext, Outcome, from_disk};
use crate::agent::history::{Entry, HistoryFolder};
use crate::agent::update::NoticeLevel;
use futures::future::BoxFuture;
use std::sync::Arc;

pub(super) struct Load;

impl BuiltIn for Load {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("load", "Go on with an earlier conversation; the latest if left out", Some("[session]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = context;
            let folder = HistoryFolder::of(&session.agent.environment, session.workspace.as_ref());
            let own = state.history.as_ref().map(|history| history.id().to_owned());
            let id = match arguments.trim() {
                "" => {
                    let folder = folder.clone();
                    let listed = from_disk(cancel, move || folder.list()).await?;
                    let latest = listed.into_iter().find(|summary| Some(&summary.id) != own.as_ref());
                    latest.ok_or("there is no earlier conversation in this workspace")?.id
                }
                id if Some(id) == own.as_deref() => {
                    return Err(format!("{id} is the conversation that you are in"));
                }
                id => id.to_owned(),
            };
            let (wanted, kept, here) = (id.clone(), folder.clone(), Arc::clone(session));
            let opening = from_disk(cancel, move || {
                let opened = kept.open_latest(&wanted)?;
                // Nobody else may have it meanwhile. Who has it sees what waits there.
                let look = |_claim| here.agent.waits_for_review(here.workspace.as_ref(), &wanted);
                Ok((opened, here.id != wanted && here.agent.claim(&wanted).is_ok_and(look)))
            });
            let ((history, loaded), waits) = opening.await?;
            if let Some(left) = state.history.take() {
                let (left_id, is_empty) = (left.id().to_owned(), state.header.is_none());
                left.close().await;
                // A conversation in which something was said stays what it is, or it could not be found again.
                let pointing =
                    if left_id == session.id { is_empty.then_some(&left_id) } else { Some(&session.id) };
                if let Some(own) = pointing {
                    point(folder, own, history.id()).await;
                }
            }
            session.resume_in(state, history, loaded).await;
            session.notice(
                NoticeLevel::Info,
                format!("this is the conversation {id}; it goes on where it stopped"),
            );
            if waits {
                let text = format!(
                    "what the agent changed in {id} still waits there and is not seen here: \
                     `airlock review {id}` goes through it when this session is closed"
                );
                session.notice(NoticeLevel::Warning, text);
            }
            Ok(Outcome::Done)
        })
    }
}

/// Lets an id under which nothing was said lead to the conversation that its session went on with: an editor opens the
/// session by that id again. Where that cannot be written, the conversation is still found by its own id.
async fn point(folder: HistoryFolder, own: &str, next: &str) {
    let id = own.to_owned();
    // Not with the cancel: what was left is closed already, and what follows must find its place.
    match tokio::task::spawn_blocking(move || folder.open(&id)).await {
        Ok(Ok((pointer, loaded))) if loaded.header.is_none() => {
            drop(pointer.append(Entry::ContinuedIn { id: next.to_owned() }).await.await);
            pointer.close().await;
        }
        Ok(Ok((said, _))) => said.close().await,
        Ok(Err(error)) => tracing::warn!(own, next, %error, "a session cannot point to what it went on with"),
        Err(error) => tracing::error!(own, next, %error, "a history could not be opened"),
    }
}
