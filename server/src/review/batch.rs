//! Accepted changes on their way to the user's files, several at a time.

use super::change::{Change, ChangeKind};
use super::door::Outcome;
use super::user_files::{self, Put};
use super::verdict::After;
use crate::limits::ACCEPT_BATCH_MAX;
use crate::paths::WorkspacePath;
use crate::storage::beneath::Temporary;
use crate::view::{Agreed, Entry, HeldView};
use std::io;

/// Changes that are accepted and not written yet.
#[derive(Default)]
pub(super) struct Batch {
    waiting: Vec<Waiting>,
    /// What was removed so far.
    pub(super) removed: Vec<WorkspacePath>,
}

struct Waiting {
    change: Change,
    /// What both sides are to have.
    after: After,
    /// An editor has it already.
    edited: bool,
}

impl Batch {
    /// Whether another one would be too many.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= ACCEPT_BATCH_MAX
    }

    /// Whether it takes files away. What does and what puts some there never wait together: the one makes room for the
    /// other.
    pub(super) fn removes(&self) -> bool {
        self.waiting.last().is_some_and(|waiting| waiting.change.kind == ChangeKind::Deleted)
    }

    pub(super) fn add(&mut self, change: Change, after: After, edited: bool) {
        self.waiting.push(Waiting { change, after, edited });
    }

    /// Writes all that waits, and remembers that both sides have it.
    pub(super) async fn put(&mut self, view: &HeldView<'_>, outcome: &mut Outcome) {
        if self.waiting.is_empty() {
            return;
        }
        let mut agreed = Vec::new();
        for (Waiting { change, after, .. }, written) in self.written(view).await {
            if let Err(error) = written {
                outcome.failed.push((change.path.as_str().to_owned(), error.to_string()));
                continue;
            }
            // The user has it, whatever comes now. Where nobody knows that, the two sides are compared as they were, and
            // agree.
            if let Err(error) = move_view(view, &change, &after.agent).await {
                tracing::warn!(path = %change.path, %error, "the agent's view of what was accepted may be old");
            } else {
                agreed.push((change.path.clone(), after.agreed));
            }
            if change.kind == ChangeKind::Deleted {
                self.removed.push(change.path.clone());
            }
            outcome.done.push(change.path);
        }
        view.sides(move |sides| agree(sides, agreed)).await;
    }

    async fn written(&mut self, view: &HeldView<'_>) -> Vec<(Waiting, io::Result<()>)> {
        let (edited, files): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(|waiting| waiting.edited);
        let put = |waiting: &Waiting| Put {
            path: waiting.change.path.clone(),
            seen: waiting.change.user.clone(),
            wanted: waiting.after.user.clone(),
            temporary: Temporary::new(),
        };
        let puts: Vec<Put> = files.iter().map(put).collect();
        let written = view.write(move |sides| user_files::put_all(sides, &puts)).await;
        let edited = edited.into_iter().map(|waiting| (waiting, Ok(())));
        edited.chain(files.into_iter().zip(written)).collect()
    }
}

/// Gives the agent what it has after the verdict, where that is something else than it has now.
async fn move_view(view: &HeldView<'_>, change: &Change, after: &Entry) -> io::Result<()> {
    match *after == change.agent {
        true => Ok(()),
        false => view.put(&change.path, after).await,
    }
}

fn agree(sides: &mut crate::view::Sides, all: Vec<(WorkspacePath, Agreed)>) {
    for (path, agreed) in all {
        if let Err(error) = sides.agree(&path, &agreed) {
            tracing::warn!(%path, %error, "it is not kept that both sides have what was accepted");
        }
    }
}
