//! The agent's copies of the state of git: of each repository all of it, from before the agent could change any.
//!
//! An overlay alone mixes both sides: the index, which git writes whenever it looks, stays the agent's from then on,
//! while HEAD and the references are what the user has. So the agent gets a copy of all that belongs together. It is
//! brought up to date as long as the agent changed nothing of it, and stays whole once it did.

use super::git_fingerprint::Print;
use crate::limits::GIT_COPIES_MAX_BYTES;
use crate::paths::WorkspacePath;
use crate::storage;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

/// Those of a session.
pub(super) struct GitCopies {
    kept_in: PathBuf,
    pub(super) all: BTreeMap<WorkspacePath, GitCopy>,
    /// Repositories that are to be compared as a whole.
    pub(super) due: BTreeSet<WorkspacePath>,
    /// Since then objects may have come that a sandbox does not show.
    pub(super) since: SystemTime,
    notes: BTreeMap<WorkspacePath, Note>,
    /// There is something that is not kept yet.
    pub(super) is_new: bool,
}

/// That of a repository.
#[derive(Clone, Debug, Default)]
pub(super) struct GitCopy {
    /// It was made to its end.
    pub(super) whole: bool,
    /// What both sides last had.
    pub(super) agreed: BTreeMap<WorkspacePath, Print>,
    /// What the user changed since then that the agent does not see.
    pub(super) missed: BTreeSet<WorkspacePath>,
    /// When its objects were last looked at, since the sandbox was started; and when they were, once these are put.
    pub(super) objects_seen: Option<SystemTime>,
    pub(super) objects_due: Option<SystemTime>,
    /// What of that the agent was told.
    told: Option<String>,
}

/// What the agent is to be told of a repository.
struct Note {
    of: String,
    sentence: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    whole: bool,
    agreed: BTreeMap<String, Print>,
    told: Option<String>,
}

impl GitCopies {
    /// Those that are kept here. What cannot be read is not known: a copy that differs from what the user has is then
    /// the agent's.
    pub(super) fn open(kept_in: PathBuf) -> io::Result<Self> {
        let bytes = storage::read_bytes(&kept_in, GIT_COPIES_MAX_BYTES)?.unwrap_or_default();
        let kept: BTreeMap<String, Kept> = serde_json::from_slice(&bytes).unwrap_or_default();
        let path = |text: String| WorkspacePath::parse(&text).ok();
        let copy = |Kept { whole, agreed, told }| GitCopy {
            whole,
            told,
            agreed: agreed.into_iter().filter_map(|(text, print)| Some((path(text)?, print))).collect(),
            ..GitCopy::default()
        };
        let all = kept.into_iter().filter_map(|(text, kept)| Some((path(text)?, copy(kept)))).collect();
        let (due, notes, since) = (BTreeSet::new(), BTreeMap::new(), SystemTime::now());
        let mut copies = Self { kept_in, all, due, since, notes, is_new: false };
        copies.look_again();
        Ok(copies)
    }

    /// A new sandbox is about to be started: everything is to be compared, and the workspace's own repository to be looked
    /// for.
    pub(super) fn look_again(&mut self) {
        self.since = SystemTime::now();
        self.all.values_mut().for_each(|copy| copy.objects_seen = None);
        self.due.extend(self.all.keys().cloned());
        self.due.extend(WorkspacePath::parse(".git"));
    }

    /// Whether there is something to do although nothing changed.
    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty() || self.all.values().any(|copy| !copy.missed.is_empty())
    }

    pub(super) fn save(&mut self) -> io::Result<()> {
        let kept = |copy: &GitCopy| Kept {
            whole: copy.whole,
            agreed: copy.agreed.iter().map(|(path, print)| (path.to_string(), print.clone())).collect(),
            told: copy.told.clone(),
        };
        let all: BTreeMap<String, Kept> =
            self.all.iter().map(|(own, copy)| (own.to_string(), kept(copy))).collect();
        storage::replace(&self.kept_in, &serde_json::to_vec(&all)?)?;
        self.is_new = false;
        Ok(())
    }

    /// The agent is to be told this of a repository, if it was not told it last. `None`: there is nothing to tell.
    pub(super) fn tell(&mut self, repository: &WorkspacePath, news: Option<(String, String)>) {
        let Some(copy) = self.all.get_mut(repository) else { return };
        self.notes.remove(repository);
        match news {
            None => copy.told = None,
            Some((of, sentence)) if copy.told.as_ref() != Some(&of) => {
                self.notes.insert(repository.clone(), Note { of, sentence });
            }
            Some(_) => {}
        }
    }

    /// What the agent is to be told, which then is.
    pub(super) fn take_notes(&mut self) -> io::Result<Vec<String>> {
        let mut sentences = Vec::new();
        for (repository, Note { of, sentence }) in std::mem::take(&mut self.notes) {
            if let Some(copy) = self.all.get_mut(&repository) {
                copy.told = Some(of);
            }
            sentences.push(sentence);
        }
        if !sentences.is_empty() {
            self.save()?;
        }
        Ok(sentences)
    }

    /// Whether there is something that the agent is to be told.
    pub(super) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }
}
