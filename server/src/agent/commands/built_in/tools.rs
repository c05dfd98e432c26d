//! `/tools`: what the model may call.

use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Tools;

impl BuiltIn for Tools {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("tools", "List the tools that the agent may call", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, .. } = context;
            let specs = state.header.as_ref().map_or(state.shelved.tools.specs(), |header| &header.tools);
            let lines = specs.iter().map(|spec| {
                let owner = state.shelved.tools.owner(&spec.name);
                let owner = owner.map(|plugin| format!(" (plugin {plugin})")).unwrap_or_default();
                format!("- `{}` {}{owner}", spec.name, spec.description)
            });
            session.say(lines.collect::<Vec<_>>().join("\n"));
            Ok(Outcome::Done)
        })
    }
}
