//! `/accept`: brings changes into the user's files.

use super::{BuiltIn, CommandContext, Outcome, changes};
use crate::agent::commands::arguments;
use crate::agent::session::Session;
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
            if let Some(selection) = selection(context.session, arguments, "/accept").await? {
                let outcome = context.session.accept_changes(&selection).await?;
                context.session.say(in_words("Accepted", &outcome));
            }
            Ok(Outcome::Done)
        })
    }
}

/// The paths that the user named; all without any. `None`: some of it is new to the user, who is shown it now.
pub(super) async fn selection(
    session: &Session,
    arguments: &str,
    command: &str,
) -> Result<Option<Selection>, String> {
    let paths = arguments::split(arguments);
    let selection =
        Selection { paths: (!paths.is_empty()).then_some(paths), ..Selection::all(session.displayed()) };
    let listing = session.changes().await?;
    if selection.is_shown(&listing) {
        return Ok(Some(selection));
    }
    let list = changes::in_words(&listing);
    session.say(format!(
        "{list}\n\nNothing is done yet, because some of these changes are new to you. Look at them with /review, or \
         send {command} again."
    ));
    session.display(&listing);
    Ok(None)
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
