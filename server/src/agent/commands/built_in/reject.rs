//! `/reject`: throws changes of the agent away.

use super::accept::{in_words, selection};
use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Reject;

impl BuiltIn for Reject {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("reject", "Throw away what the agent changed", Some("[path…]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            if let Some(selection) = selection(context.session, arguments, "/reject").await? {
                let outcome = context.session.reject_changes(&selection).await?;
                context.session.say(in_words("Rejected", &outcome));
            }
            Ok(Outcome::Done)
        })
    }
}
