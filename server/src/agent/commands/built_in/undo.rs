//! `/undo`: takes back what the last turns did in the sandbox.

use super::{BuiltIn, CommandContext, Outcome};
use futures::future::BoxFuture;

pub(super) struct Undo;

impl BuiltIn for Undo {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("undo", "Take back what the last turn did in the sandbox, or the last few", Some("[turns]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let turns = match arguments.trim() {
                "" => 1,
                number => number.parse().ok().filter(|turns| *turns > 0).ok_or_else(|| {
                    format!(
                        "{number:?} is no number of turns: /undo takes back one, /undo 3 takes back three"
                    )
                })?,
            };
            let files = context.session.undo_turns(turns).await?;
            let files = if files == 1 { "one file".to_owned() } else { format!("{files} files") };
            context.session.say(format!(
                "Undone: {files} of the sandbox are as before. Your own files are as they were."
            ));
            Ok(Outcome::Done)
        })
    }
}
