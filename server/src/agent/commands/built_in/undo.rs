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
            context.session.say(undone(turns, files));
            Ok(Outcome::Done)
        })
    }
}

/// What the user is told when these turns are undone and so many files were put back.
fn undone(turns: usize, files: usize) -> String {
    let put_back = match (turns, files) {
        (1, 0) => "That turn had changed no file of the sandbox; /undo again takes back the one before it.",
        (_, 0) => "Those turns had changed no file of the sandbox.",
        (_, 1) => "Undone: one file of the sandbox is as before.",
        _ => &format!("Undone: {files} files of the sandbox are as before."),
    };
    format!("{put_back} Your own files are as they were.")
}

#[cfg(test)]
mod tests {
    use super::undone;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_was_undone_is_told_in_whole_sentences() {
        let told = [(1, 0), (3, 0), (1, 1), (2, 12)].map(|(turns, files)| undone(turns, files));
        let own = " Your own files are as they were.";
        let expected = [
            "That turn had changed no file of the sandbox; /undo again takes back the one before it.",
            "Those turns had changed no file of the sandbox.",
            "Undone: one file of the sandbox is as before.",
            "Undone: 12 files of the sandbox are as before.",
        ];
        assert_eq!(told, expected.map(|sentence| format!("{sentence}{own}")));
    }
}
