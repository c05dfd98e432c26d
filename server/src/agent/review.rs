//! A session's changes: what the user can do with them, and what the agent is told of it.

use super::Agent;
use super::history::{HistoryError, HistoryFolder};
use super::session::Session;
use super::update::{NoticeLevel, Update};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::patterns::Patterns;
use crate::review::{self, Accepted, Checkpoints, Displayed, Listing, Outcome, Selection, Steps, Untold};
use crate::sandbox::{session_folder, state_is_ours};
use crate::view::HeldView;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::AbortHandle;

impl Agent {
    /// The newest session of a workspace in which something waits for review.
    pub fn session_to_review(&self, workspace: &WorkspaceRoot) -> Result<Option<String>, HistoryError> {
        let mut kept = HistoryFolder::of(&self.environment, Some(workspace)).sessions()?.into_iter();
        Ok(kept.find(|id| self.waits_for_review(Some(workspace), id)))
    }

    /// Whether something of a session that is not open waits for review.
    pub(super) fn waits_for_review(&self, workspace: Option<&WorkspaceRoot>, id: &str) -> bool {
        let folder = session_folder(&self.environment, id);
        let has_changes = |workspace| {
            review::list_closed(workspace, &folder).is_ok_and(|listing| !listing.changes.is_empty())
        };
        folder.exists() && state_is_ours(&self.environment) && workspace.is_some_and(has_changes)
    }
}

impl Session {
    /// What the agent changed and the user has neither accepted nor rejected.
    pub async fn changes(&self) -> Result<Listing, String> {
        review::list(&self.held().await?, self.own()).await.map_err(|error| error.to_string())
    }

    /// What the conversation showed the user of it last, for commands that name no digests.
    pub fn displayed(&self) -> Displayed {
        self.facts().displayed.clone()
    }

    /// The conversation shows the user this.
    pub fn display(&self, listing: &Listing) {
        self.facts().displayed = Displayed::all_of(listing);
    }

    /// Whether something waits for review, or cannot be told.
    pub async fn has_changes(&self) -> bool {
        let Some(held) = self.view.hold().await else { return false };
        review::list(&held, self.own()).await.map_or(true, |listing| !listing.changes.is_empty())
    }

    /// Brings changes into the user's files.
    pub async fn accept_changes(&self, selection: &Selection) -> Result<Outcome, String> {
        let held = self.held().await?;
        let steps = Steps::default();
        let accepted = review::accept(&held, self.agent.editor(), selection, self.own(), &steps);
        let accepted = self.patiently(|| steps.in_words("accepted"), accepted).await;
        drop(held);
        let outcome = accepted.map_err(|error| error.to_string())?;
        if let Err(error) = Accepted::open(&self.folder()).add(&outcome.done) {
            self.notice(NoticeLevel::Warning, format!("/commit will not know what you accepted: {error}"));
        }
        self.reviewed("accepted, wholly or in part,", &outcome.done).await;
        Ok(outcome)
    }

    /// Puts the agent's view back to what the user has.
    pub async fn reject_changes(&self, selection: &Selection) -> Result<Outcome, String> {
        let held = self.held().await?;
        let steps = Steps::default();
        let rejected = review::reject(&held, selection, &steps);
        let rejected = self.patiently(|| steps.in_words("rejected"), rejected).await;
        drop(held);
        let outcome = rejected.map_err(|error| error.to_string())?;
        self.reviewed("rejected, wholly or in part,", &outcome.done).await;
        Ok(outcome)
    }

    /// Undoes what the last turns did in the agent's view; gives how many files that changed.
    pub async fn undo_turns(&self, turns: usize) -> Result<usize, String> {
        let held = self.held().await?;
        let checkpoints = self.checkpoints();
        let what = || "the sandbox's files are being put back".to_owned();
        let undone = self.patiently(what, checkpoints.undo(&held, turns)).await;
        drop(held);
        let count = undone.map_err(|error| error.to_string())?;
        let what = if turns == 1 { "your last turn".to_owned() } else { format!("your last {turns} turns") };
        self.keep_note(&format!(
            "The user undid what {what} did to the files: they are as they were before."
        ));
        self.forget_told();
        self.tell_changes().await;
        Ok(count)
    }

    /// Keeps the agent's view as it is before a turn changes it.
    pub(super) async fn keep_checkpoint(&self) {
        if let Some(held) = self.view.hold().await
            && let Err(error) = self.checkpoints().keep(&held).await
        {
            self.notice(NoticeLevel::Warning, format!("this turn cannot be undone: {error}"));
        }
    }

    /// Tells how much waits for review, when that or what it is has changed since it was told.
    pub(super) async fn tell_changes(&self) {
        if let Some(held) = self.view.hold().await {
            self.tell(review::list(&held, self.own()).await);
        }
    }

    /// Tells the same on a task of its own, which goes on when nobody waits for it. It ends when the next turn begins: that one
    /// tells it anew.
    pub(super) async fn tell_changes_soon(self: &Arc<Self>) {
        let session = Arc::clone(self);
        let telling = tokio::spawn(async move { session.tell_changes().await });
        self.facts().telling.replace(telling.abort_handle()).inspect(AbortHandle::abort);
        // Aborted, or what it said went to the outbox.
        let _ = telling.await;
    }

    fn tell(&self, listed: io::Result<Listing>) {
        match listed {
            Ok(listing) => {
                let count = listing.changes.iter().map(|change| change.hunks.len()).sum();
                let files = listing.changes.len();
                let ids = listing.changes.iter().flat_map(|change| &change.hunks).map(|hunk| hunk.id.clone());
                if self.is_news(ids.collect()) {
                    self.outbox.push(Update::Changes { count, files });
                }
            }
            Err(error) => self.notice(NoticeLevel::Warning, error.to_string()),
        }
    }

    /// What the agent has to be told of the review.
    pub(super) fn take_review_notes(&self) -> Option<String> {
        Untold::of(&self.folder()).take()
    }

    /// Front ends look again after every review that did something, the agent is told with its next prompt.
    async fn reviewed(&self, did: &str, paths: &[WorkspacePath]) {
        const NAMED_MAX: usize = 20;
        if paths.is_empty() {
            return;
        }
        let names: Vec<String> = paths.iter().take(NAMED_MAX).map(in_a_sentence).collect();
        let more = paths.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.keep_note(&format!(
            "The user reviewed your changes and {did} those to: {}{more}.",
            names.join(", ")
        ));
        self.forget_told();
        self.tell_changes().await;
    }

    fn keep_note(&self, sentence: &str) {
        if let Err(error) = Untold::of(&self.folder()).add(sentence) {
            tracing::warn!(%error, "the agent will not be told of the review");
        }
    }

    async fn held(&self) -> Result<HeldView<'_>, String> {
        let nothing =
            || format!("there is nothing to review: {}", self.view.why_nothing().unwrap_or_default());
        self.view.hold().await.ok_or_else(nothing)
    }

    /// What the user protects.
    fn own(&self) -> &Patterns {
        &self.agent.settings().protected
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::of(&self.folder())
    }

    fn folder(&self) -> PathBuf {
        session_folder(&self.agent.environment, &self.id)
    }
}

/// A name that could be read as a part of the sentence around it stands in quotes.
fn in_a_sentence(path: &WorkspacePath) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let path = path.as_str();
    if path.chars().all(is_plain) { path.to_owned() } else { format!("{path:?}") }
}
