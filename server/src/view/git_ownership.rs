//! Whose the state of a repository is: the agent's once it changed anything of it. What git writes whenever it looks is no
//! change.

use super::entry::Entry;
use super::freshness::Sides;
use super::git_changes::Change;
use super::git_copies::GitCopy;
use super::git_fingerprint::Print;
use super::git_paths::{is_index, leads_to_state, repository_of, state_in};
use super::upper::InUpper;
use crate::limits::VIEW_CONTENT_MAX_BYTES;
use crate::paths::WorkspacePath;
use std::collections::{BTreeSet, HashMap};
use std::io;

/// What the agent has at a path of git's state.
enum Agents {
    /// What the user has.
    Untouched,
    /// This.
    Has(Option<Print>),
    /// Nothing that both sides could have had.
    Other,
}

/// Whose the state of each repository is, of which the agent has a copy.
pub struct GitOwners(HashMap<WorkspacePath, bool>);

impl GitOwners {
    /// Whether a path is part of, or on the way to, a state that the agent changed, if it is part of one at all.
    pub fn is_agents(&self, path: &WorkspacePath) -> Option<bool> {
        let own =
            repository_of(path).or_else(|| self.0.keys().find(|own| leads_to_state(path, own)).cloned());
        self.0.get(&own?).copied()
    }
}

impl Sides {
    /// Whose the state of each repository is.
    pub fn git_owners(&self) -> GitOwners {
        let is_agents =
            |(own, copy): (&WorkspacePath, &GitCopy)| (own.clone(), self.is_git_changed(own, copy, &[]));
        GitOwners(self.git.all.iter().map(is_agents).collect())
    }

    /// Whether the agent has something that neither both sides had nor the user has. What can't be told counts as that.
    pub(super) fn is_git_changed(&self, own: &WorkspacePath, copy: &GitCopy, changes: &[Change]) -> bool {
        self.look_for_changes(own, copy, changes).unwrap_or_else(|error| {
            tracing::info!(%error, repository = %own, "the agent's state of git can't be read");
            true
        })
    }

    fn look_for_changes(&self, own: &WorkspacePath, copy: &GitCopy, changes: &[Change]) -> io::Result<bool> {
        let users: HashMap<_, _> =
            changes.iter().map(|change| (&change.path, change.print.as_ref())).collect();
        let mut paths: BTreeSet<WorkspacePath> =
            copy.agreed.keys().chain(users.keys().copied()).cloned().collect();
        if let Some(folder) = self.upper.folder(own)? {
            paths.extend(state_in(&folder, own)?.into_keys());
        }
        // An index takes the longest.
        let (indexes, others): (Vec<_>, Vec<_>) = paths.iter().partition(|path| is_index(path));
        for path in others.into_iter().chain(indexes) {
            let agreed = copy.agreed.get(path);
            let users = users.get(path).copied().unwrap_or(agreed);
            match self.agents_git(path, [agreed, users])? {
                Agents::Untouched => {}
                Agents::Has(print) if print.as_ref() == agreed || print.as_ref() == users => {}
                Agents::Has(_) | Agents::Other => return Ok(true),
            }
        }
        Ok(false)
    }

    /// What the agent has at a path. Of what cannot be one of these nothing is read: it may be of any size.
    fn agents_git(&self, path: &WorkspacePath, expected: [Option<&Print>; 2]) -> io::Result<Agents> {
        if let Some(bytes) = self.upper.file_bytes(path)? {
            let fits = if is_index(path) {
                bytes <= VIEW_CONTENT_MAX_BYTES as u64
            } else {
                expected.into_iter().flatten().any(|print| print.bytes == bytes)
            };
            if !fits {
                return Ok(Agents::Other);
            }
        }
        Ok(match self.upper.entry(path)? {
            InUpper::Untouched => Agents::Untouched,
            InUpper::Is(Entry::Other) => Agents::Other,
            InUpper::Is(entry) => Agents::Has(Print::of(path, &entry)),
        })
    }

    /// Whether the agent changed this one path of a state of which it has a copy. `None`: it is part of none.
    pub(super) fn is_agents_git(&self, path: &WorkspacePath) -> io::Result<Option<bool>> {
        let has_objects = |own: &WorkspacePath| {
            path.as_path().strip_prefix(own.as_path()).is_ok_and(|below| below.starts_with("objects"))
        };
        if self.git.all.keys().any(has_objects) {
            // Nobody removes one of the user's: it came after the agent made a folder in its place.
            return Ok(Some(!matches!(
                self.upper.entry(path)?,
                InUpper::Untouched | InUpper::Is(Entry::Missing)
            )));
        }
        let Some(copy) = repository_of(path).and_then(|own| self.git.all.get(&own)) else { return Ok(None) };
        let agreed = copy.agreed.get(path);
        Ok(Some(match self.agents_git(path, [agreed, None])? {
            Agents::Untouched => false,
            Agents::Has(print) => print.as_ref() != agreed,
            Agents::Other => true,
        }))
    }
}
