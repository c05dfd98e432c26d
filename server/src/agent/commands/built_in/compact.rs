//! `/compact`: makes room in the window.

use super::{BuiltIn, CommandContext, Outcome};
use crate::agent::driver::Driver;
use futures::future::BoxFuture;
use std::sync::Arc;

pub(super) struct Compact;

impl BuiltIn for Compact {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("compact", "Summarise the conversation to make room", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = context;
            if state.conversation.is_empty() {
                return Err("there is nothing to summarise yet".to_owned());
            }
            let model = state.model.clone();
            let driver = Driver::new(session, state, cancel, model, Arc::default());
            let (before, after) = driver.compact_only().await?;
            session.say(format!("About {before} tokens became about {after}."));
            Ok(Outcome::Done)
        })
    }
}
