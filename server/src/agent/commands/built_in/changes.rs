//! `/changes`: what the agent changed and waits for review.

use super::{BuiltIn, CommandContext, Outcome};
use crate::neutral::neutral_line;
use crate::review::{self, Change, ChangeKind, Listing};
use futures::future::BoxFuture;

pub(super) struct Changes;

impl BuiltIn for Changes {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("changes", "List what the agent changed and you have not reviewed yet", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let listing = context.session.changes().await?;
            context.session.say(in_words(&listing));
            context.session.display(&listing);
            Ok(Outcome::Done)
        })
    }
}

pub(super) fn in_words(listing: &Listing) -> String {
    let mut lines: Vec<String> = listing.changes.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("Nothing waits for review.".to_owned());
    } else {
        lines.push("\n/accept and /reject take paths, or all of it.".to_owned());
    }
    if listing.ignored > 0 {
        lines.push(format!("{} new files that git ignores are not listed.", listing.ignored));
    }
    lines.extend(listing.remarks.iter().cloned());
    lines.join("\n")
}

fn line(change: &Change) -> String {
    let kind = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified => "modified",
        ChangeKind::Deleted => "deleted",
    };
    let (come, go) = review::count(change);
    let size = if change.binary { "binary".to_owned() } else { format!("+{come} −{go}") };
    let protected = if change.protected { ", protected: accept it by itself" } else { "" };
    let conflict = if change.conflict.is_some() { ", in conflict with what you changed" } else { "" };
    format!("- {kind} `{}` ({size}{protected}{conflict})", neutral_line(change.path.as_str()))
}
