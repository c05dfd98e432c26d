//! `/quit`: ends the session.

use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Quit;

impl BuiltIn for Quit {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("quit", "End this session", None)
    }

    fn run<'a>(&'a self, _: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(std::future::ready(Ok(Outcome::Quit)))
    }
}
