//! `/cost`: what the session used.

use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Cost;

impl BuiltIn for Cost {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("cost", "Show the tokens and the cost of this session", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, .. } = context;
            let report = state.ledger.report(session.agent.known_context_size(&state.model));
            let cost = match report.cost_usd {
                Some(cost) => format!("${cost:.4}"),
                None => {
                    let model = state.ledger.unpriced().unwrap_or(&state.model);
                    format!("unknown: put the prices of {model} under [prices] in your config.toml")
                }
            };
            session.say(format!(
                "- input: {} tokens\n- output: {} tokens\n- read from cache: {} tokens\n- written to cache: {} tokens\n\
                 - window: {} of {} tokens\n- cost: {cost}",
                report.input_tokens,
                report.output_tokens,
                report.cache_read_tokens,
                report.cache_write_tokens,
                report.context_used,
                report.context_size,
            ));
            Ok(Outcome::Done)
        })
    }
}
