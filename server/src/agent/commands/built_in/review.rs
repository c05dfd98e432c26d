//! `/review`: goes through what the agent changed, file by file and hunk by hunk.

use super::accept::in_words;
use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::agent::permission::{PermissionKind, PermissionOption, PermissionRequest};
use crate::agent::session::Session;
use crate::neutral::neutral_line;
use crate::review::{Change, ChangeKind, Displayed, Selection};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

pub(super) struct Review;

impl BuiltIn for Review {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("review", "Go through what the agent changed, file by file", None)
    }

    fn run<'a>(&'a self, context: CommandContext<'a>, _: &'a str) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = context;
            let listing = session.changes().await?;
            session.display(&listing);
            let changes = listing.changes;
            if changes.is_empty() {
                session.say("Nothing waits for review.");
                return Ok(Outcome::Done);
            }
            let walk = Walk { session, cancel, wait_max_s: state.settings.permission_timeout_s };
            walk.all(&changes).await?;
            let left = session.changes().await?.changes.len();
            session.say(match left {
                0 => "\nNothing is left to review.".to_owned(),
                1 => "\nOne file is left for later: /review comes back to it.".to_owned(),
                left => format!("\n{left} files are left for later: /review comes back to them."),
            });
            Ok(Outcome::Done)
        })
    }
}

struct Walk<'a> {
    session: &'a Session,
    cancel: &'a CancellationToken,
    wait_max_s: u64,
}

impl Walk<'_> {
    async fn all(&self, changes: &[Change]) -> Result<(), String> {
        for (index, change) in changes.iter().enumerate() {
            let of = format!("({} of {})", index + 1, changes.len());
            let mut shown = Displayed::default();
            shown.add(change);
            let whole =
                Selection { paths: Some(vec![change.path.as_str().to_owned()]), ..Selection::all(shown) };
            match self.ask(&title(change, &of), &change.text(), change.hunks.len() > 1).await?.as_deref() {
                Some("accept") => self.accept(&whole).await?,
                Some("reject") => self.reject(&whole).await?,
                Some("hunks") => {
                    if !self.hunks(change).await? {
                        return Ok(());
                    }
                }
                Some("later") => {}
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Gives whether the user goes on. What was decided before a stop is done.
    async fn hunks(&self, change: &Change) -> Result<bool, String> {
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        let mut goes_on = Ok(true);
        for (index, hunk) in change.hunks.iter().enumerate() {
            let title = format!(
                "{} (hunk {} of {})",
                neutral_line(change.path.as_str()),
                index + 1,
                change.hunks.len()
            );
            let answer = self.ask(&title, &hunk.text(), false).await;
            match answer.as_ref().map(Option::as_deref) {
                Ok(Some("accept")) => accepted.push(hunk.id.clone()),
                Ok(Some("reject")) => rejected.push(hunk.id.clone()),
                Ok(Some("later")) => {}
                _ => {
                    goes_on = answer.map(|_| false);
                    break;
                }
            }
        }
        let of = |ids: Vec<String>| Selection { hunks: Some(ids), ..Selection::default() };
        // Accepting leaves the names of the other hunks as they are; rejecting does not.
        if !accepted.is_empty() {
            self.accept(&of(accepted)).await?;
        }
        if !rejected.is_empty() {
            self.reject(&of(rejected)).await?;
        }
        goes_on
    }

    async fn accept(&self, selection: &Selection) -> Result<(), String> {
        let outcome = self.session.accept_changes(selection).await?;
        self.session.say(in_words("Accepted", &outcome) + "\n");
        Ok(())
    }

    async fn reject(&self, selection: &Selection) -> Result<(), String> {
        let outcome = self.session.reject_changes(selection).await?;
        self.session.say(in_words("Rejected", &outcome) + "\n");
        Ok(())
    }

    async fn ask(&self, title: &str, detail: &str, has_hunks: bool) -> Result<Option<String>, String> {
        let option =
            |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
        let mut options = vec![
            option("accept", "Accept", PermissionKind::AllowOnce),
            option("reject", "Reject", PermissionKind::Reject),
            option("later", "Later", PermissionKind::Reject),
            option("stop", "Stop here", PermissionKind::Reject),
        ];
        if has_hunks {
            options.insert(2, option("hunks", "Hunk by hunk", PermissionKind::AllowOnce));
        }
        let request = PermissionRequest {
            tool_call_id: String::new(),
            title: title.to_owned(),
            detail: detail.to_owned(),
            options,
        };
        unless_stopped(self.cancel, self.session.ask(request, self.wait_max_s)).await
    }
}

fn title(change: &Change, of: &str) -> String {
    let kind = match change.kind {
        ChangeKind::Created => "New file",
        ChangeKind::Modified => "Change to",
        ChangeKind::Deleted => "End of",
    };
    let protected = if change.protected { ", which may run something later" } else { "" };
    let conflict = if change.conflict.is_some() { ", in conflict with what you changed" } else { "" };
    format!("{kind} {}{protected}{conflict} {of}", neutral_line(change.path.as_str()))
}
