//! `/accept`: brings changes into the user's files.

use super::{BuiltIn, CommandContext, Outcome};
use crate::agent::commands::arguments;
use crate::neutral::neutral_line;
use crate::review::{self, Selection};
use futures::future::BoxFuture;

pub(super) struct Accept;

impl BuiltIn for Accept {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("accept", "Bring what the agent changed into your files", Some("[path…]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let outcome = context.session.accept_changes(&selection(arguments)).await?;
            context.session.say(in_words("Accepted", &outcome));
            Ok(Outcome::Done)
        })
    }
}

/// The paths that the user named; all without any.
pub(super) fn selection(arguments: &str) -> Selection {
    let paths = arguments::split(arguments);
    Selection { paths: (!paths.is_empty()).then_some(paths), hunks: None }
}

/// What was done and what not.
pub(super) fn in_words(done: &str, outcome: &review::Outcome) -> String {
    let accepted = outcome.done.iter().map(|path| format!("- {done} `{}`", neutral_line(path.as_str())));
    let failed = outcome
        .failed
        .iter()
        .map(|(path, why)| format!("- Not `{}`: {}", neutral_line(path), neutral_line(why)));
    let mut lines: Vec<String> = accepted.chain(failed).collect();
    if lines.is_empty() {
        lines.push("Nothing waits for review.".to_owned());
    }
    lines.join("\n")
}
