//! What the user means to accept or reject, and what of that cannot be.

use super::change::{Change, Conflict, Hunk};
use super::displayed::Displayed;
use super::door::{Listing, Outcome};
use super::protected::{Protection, protection};
use super::verdict::Verdict;
use crate::paths::WorkspacePath;
use std::collections::HashSet;
use std::path::PathBuf;

/// What to accept or reject: paths, with all below them, and single hunks. Neither: all.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Files or folders.
    pub paths: Option<Vec<String>>,
    /// Ids of hunks. Each tells what the hunk is.
    pub hunks: Option<Vec<String>>,
    /// What whoever selects it was shown. Anything else is refused.
    pub shown: Displayed,
}

impl Selection {
    /// Everything that was shown.
    pub fn all(shown: Displayed) -> Self {
        Self { shown, ..Self::default() }
    }

    /// Whether all that it selects of this list was shown.
    pub fn is_shown(&self, listing: &Listing) -> bool {
        let names = Names::of(self, &listing.changes, &mut Outcome::default());
        let mut selected = listing.changes.iter().filter(|change| names.names(change));
        self.shown.is_of(listing)
            || selected.all(|change| names.hunks_of(change).is_some() || self.shown.has(change))
    }
}

/// A change, and which of its hunks.
pub(super) struct Picked {
    pub(super) change: Change,
    /// `None`: all of them.
    hunks: Option<HashSet<String>>,
}

impl Picked {
    /// What becomes of a hunk when it is accepted.
    pub(super) fn accepts(&self, hunk: &Hunk) -> Verdict {
        let Some(hunks) = &self.hunks else { return Verdict::Accept };
        match hunk.conflict_ids() {
            _ if hunks.contains(&hunk.id) => Verdict::Accept,
            Some([theirs, _]) if hunks.contains(&theirs) => Verdict::AcceptTheirs,
            Some([_, both]) if hunks.contains(&both) => Verdict::AcceptBoth,
            _ => Verdict::Leave,
        }
    }

    /// What becomes of a hunk when it is rejected.
    pub(super) fn rejects(&self, hunk: &Hunk) -> Verdict {
        match self.hunks.as_ref().is_none_or(|hunks| hunks.contains(&hunk.id)) {
            true => Verdict::Reject,
            false => Verdict::Leave,
        }
    }
}

/// What was selected, and what of that cannot be done.
pub(super) fn pick(listing: Listing, selection: &Selection, accepting: bool) -> (Vec<Picked>, Outcome) {
    let mut outcome = Outcome::default();
    let names = Names::of(selection, &listing.changes, &mut outcome);
    let whole_list = selection.shown.is_of(&listing);
    let mut picked = Vec::new();
    for change in listing.changes {
        let (named, by_itself) = names.has(&change);
        if !named {
            continue;
        }
        let hunks = names.hunks_of(&change);
        let is_as_shown = hunks.is_some() || whole_list || selection.shown.has(&change);
        let refused = match accepting.then(|| why_not(&change, by_itself, hunks.is_some())).flatten() {
            None if !is_as_shown => Some(NOT_SHOWN),
            refused => refused,
        };
        match refused {
            Some(why) => outcome.failed.push((change.path.as_str().to_owned(), why.to_owned())),
            None => picked.push(Picked { change, hunks }),
        }
    }
    (picked, outcome)
}

const NOT_SHOWN: &str = "the agent changed it after you were shown it: look at it again";
const GITS_OWN: &str = "what is git's own is never accepted";

/// Why a change cannot be accepted like this.
fn why_not(change: &Change, by_itself: bool, by_hunks: bool) -> Option<&'static str> {
    match change.conflict {
        _ if protection(&change.path) == Protection::Never => Some(GITS_OWN),
        Some(Conflict::Apart) => Some(
            "you and the agent changed it in ways that do not go together: settle it by hand, or reject it",
        ),
        Some(Conflict::Marked) if !by_itself && !by_hunks => Some(
            "you and the agent changed the same lines: accept it by itself to get both sides marked in the file",
        ),
        _ if change.protected && !by_itself => {
            Some("it is protected, for it may run something later: accept it by itself")
        }
        _ => None,
    }
}

/// A selection, with what it names that is not there found out.
struct Names {
    everything: bool,
    paths: Vec<PathBuf>,
    hunks: HashSet<String>,
    /// The one path that the whole selection is about.
    only: Option<WorkspacePath>,
}

impl Names {
    fn of(selection: &Selection, changes: &[Change], outcome: &mut Outcome) -> Self {
        let everything = selection.paths.is_none() && selection.hunks.is_none();
        let mut paths = Vec::new();
        for path in selection.paths.iter().flatten() {
            match WorkspacePath::parse(path) {
                Err(error) => outcome.failed.push((path.clone(), error.to_string())),
                Ok(named) if protection(&named) == Protection::Never => {
                    outcome.failed.push((path.clone(), GITS_OWN.to_owned()));
                }
                Ok(named)
                    if changes.iter().any(|change| change.path.as_path().starts_with(named.as_path())) =>
                {
                    paths.push(named.as_path().to_owned());
                }
                Ok(_) => {
                    outcome.failed.push((path.clone(), "there is no pending change of that name".to_owned()))
                }
            }
        }
        let known: HashSet<String> = changes.iter().flat_map(|change| &change.hunks).flat_map(ids).collect();
        let mut hunks = HashSet::new();
        for id in selection.hunks.iter().flatten() {
            if known.contains(id) {
                hunks.insert(id.clone());
            } else {
                outcome.failed.push((
                    id.clone(),
                    "that hunk is not pending any more: list the changes again".to_owned(),
                ));
            }
        }
        let mut names = Self { everything, paths, hunks, only: None };
        let named: Vec<&WorkspacePath> =
            changes.iter().filter(|change| names.names(change)).map(|change| &change.path).collect();
        if let [only] = named[..] {
            // A folder that happens to hold one change does not name it.
            let spelled = names.paths.iter().all(|path| path == only.as_path());
            names.only = (!everything && spelled).then(|| only.clone());
        }
        names
    }

    fn names(&self, change: &Change) -> bool {
        self.everything
            || self.paths.iter().any(|path| change.path.as_path().starts_with(path))
            || change.hunks.iter().flat_map(ids).any(|id| self.hunks.contains(&id))
    }

    /// Whether it names a change, and nothing but that.
    fn has(&self, change: &Change) -> (bool, bool) {
        (self.names(change), self.only.as_ref() == Some(&change.path))
    }

    /// The hunks of a change that are meant; `None` when it is the whole.
    fn hunks_of(&self, change: &Change) -> Option<HashSet<String>> {
        if self.everything || self.paths.iter().any(|path| change.path.as_path().starts_with(path)) {
            return None;
        }
        Some(change.hunks.iter().flat_map(ids).filter(|id| self.hunks.contains(id)).collect())
    }
}

/// All ids by which a hunk can be selected.
fn ids(hunk: &Hunk) -> impl Iterator<Item = String> + use<> {
    std::iter::once(hunk.id.clone()).chain(hunk.conflict_ids().into_iter().flatten())
}
