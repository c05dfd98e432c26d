//! `/review`: goes through what the agent changed, file by file and hunk by hunk.

use super::accept::in_words;
use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::agent::permission::{PermissionKind, PermissionOption, PermissionRequest};
use crate::agent::session::Session;
use crate::neutral::neutral_line;
use crate::review::{Change, ChangeKind, Conflict, Displayed, Selection};
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
            let by_hunks = change.hunks.len() > 1 || change.conflict.is_some();
            let options = choices(change.conflict == Some(Conflict::Marked), by_hunks);
            match self.ask(&title(change, &of), &change.text(), options).await?.as_deref() {
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
            let conflict = hunk.conflict_ids();
            let options = match &conflict {
                Some(_) => conflict_choices(),
                None => choices(false, false),
            };
            let answer = self.ask(&title, &hunk.text(), options).await;
            match (answer.as_ref().map(Option::as_deref), conflict) {
                (Ok(Some("theirs")), Some([theirs, _])) => accepted.push(theirs),
                (Ok(Some("both")), Some([_, both])) => accepted.push(both),
                (Ok(Some("accept")), _) => accepted.push(hunk.id.clone()),
                (Ok(Some("reject")), _) => rejected.push(hunk.id.clone()),
                (Ok(Some("later")), _) => {}
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

    async fn ask(
        &self,
        title: &str,
        detail: &str,
        options: Vec<PermissionOption>,
    ) -> Result<Option<String>, String> {
        let request = PermissionRequest {
            tool_call_id: String::new(),
            title: title.to_owned(),
            detail: detail.to_owned(),
            options,
        };
        unless_stopped(self.cancel, self.session.ask(request, self.wait_max_s)).await
    }
}

fn option(id: &str, label: &str, kind: PermissionKind) -> PermissionOption {
    PermissionOption { id: id.to_owned(), label: label.to_owned(), kind }
}

/// What can be done with a change, or with a hunk that is in no conflict.
fn choices(in_conflict: bool, by_hunks: bool) -> Vec<PermissionOption> {
    let accept = if in_conflict { EDIT_BY_HAND } else { "Accept" };
    let mut options = vec![
        option("accept", accept, PermissionKind::AllowOnce),
        option("reject", "Reject", PermissionKind::Reject),
        option("later", "Later", PermissionKind::Reject),
        option("stop", "Stop here", PermissionKind::Reject),
    ];
    if by_hunks {
        options.insert(2, option("hunks", "Hunk by hunk", PermissionKind::AllowOnce));
    }
    options
}

const EDIT_BY_HAND: &str = "Edit by hand: put both sides into the file, between marks";

/// What can be done with lines that both sides changed.
fn conflict_choices() -> Vec<PermissionOption> {
    vec![
        option("theirs", "Take the agent's lines", PermissionKind::AllowOnce),
        option("both", "Keep both, yours first", PermissionKind::AllowOnce),
        option("accept", EDIT_BY_HAND, PermissionKind::AllowOnce),
        option("reject", "Keep yours", PermissionKind::Reject),
        option("later", "Later", PermissionKind::Reject),
        option("stop", "Stop here", PermissionKind::Reject),
    ]
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
