//! `/clear`: a new conversation in the same session; the old one stays in the history.

use super::{BuiltIn, CommandContext, Outcome};
use crate::agent::usage::Ledger;
use futures::future::BoxFuture;

pub(super) struct Clear;

impl BuiltIn for Clear {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("clear", "Start a new conversation; the old one is kept", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, .. } = context;
            let mut kept = String::new();
            if let (Some(history), true) = (&state.history, state.header.is_some()) {
                let path = history
                    .begin_anew()
                    .await
                    .map_err(|error| format!("the old conversation cannot be kept: {error}"))?;
                let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                kept = format!(" The old one is kept: `/load {id}`");
            }
            state.conversation.clear();
            state.header = None;
            state.ledger = Ledger::default();
            state.told_date = None;
            session.say(format!("A new conversation.{kept}"));
            Ok(Outcome::Done)
        })
    }
}
