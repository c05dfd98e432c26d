//! `/help`: what can be typed.

use super::all_infos;
use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Help;

impl BuiltIn for Help {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("help", "Show the commands there are", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, .. } = context;
            let lines = all_infos(&state.custom, &state.shelved.shelf).into_iter().map(|info| {
                let hint = info.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
                format!("- `/{}{hint}` {}", info.name, info.description)
            });
            session.say(lines.collect::<Vec<_>>().join("\n"));
            Ok(Outcome::Done)
        })
    }
}
