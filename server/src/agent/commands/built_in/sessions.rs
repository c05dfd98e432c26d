//! `/sessions`: the conversations that were kept.

use super::{BuiltIn, CommandContext, Outcome, from_disk};
use futures::future::BoxFuture;
use std::sync::Arc;

pub(super) struct Sessions;

impl BuiltIn for Sessions {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("sessions", "List the conversations of this workspace", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, cancel, .. } = context;
            let (agent, workspace) = (Arc::clone(&session.agent), session.workspace.clone());
            let listed = from_disk(cancel, move || agent.kept_sessions(workspace.as_ref())).await?;
            if listed.is_empty() {
                session.say("There are none yet in this workspace.");
                return Ok(Outcome::Done);
            }
            let lines = listed.into_iter().map(|summary| {
                let when = summary.updated_at.strftime("%Y-%m-%d %H:%M");
                format!("- `{}` {} ({} messages, {when} UTC)", summary.id, summary.title, summary.messages)
            });
            session.say(lines.collect::<Vec<_>>().join("\n"));
            Ok(Outcome::Done)
        })
    }
}
