//! `/load`: goes on with a conversation that was kept.

use super::{BuiltIn, CommandContext, Outcome, from_disk};
use crate::agent::history::{Entry, HistoryFolder};
use crate::agent::update::NoticeLevel;
use futures::future::BoxFuture;

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
            let wanted = id.clone();
            let (history, loaded) = from_disk(cancel, move || folder.open_latest(&wanted)).await?;
            if let Some(left) = state.history.take() {
                // Whoever opens this session by its own id later gets the conversation that went on. One in which
                // something was said stays what it is: it could not be found again otherwise.
                if state.header.is_none() {
                    let pointer = left.append(Entry::ContinuedIn { id: history.id().to_owned() }).await;
                    drop(pointer.await);
                }
                left.close().await;
            }
            session.resume_in(state, history, loaded).await;
            session.notice(
                NoticeLevel::Info,
                format!("this is the conversation {id}; it goes on where it stopped"),
            );
            Ok(Outcome::Done)
        })
    }
}
