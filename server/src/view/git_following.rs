//! Keeps the agent's copies of the state of git as the user has it, or whole where the agent changed one.

use super::entry::{Content, Entry, FileEntry};
use super::freshness::{Plan, Push, Sides};
use super::git_changes::{Change, news_of};
use super::git_copies::GitCopy;
use super::git_fingerprint::Print;
use super::git_objects::objects_since;
use super::git_paths::{WHOLLY_STATE, repository_of, state_in};
use super::upper::{InUpper, is_opaque};
use super::user_side::Glance;
use crate::limits::PUSH_MAX_BYTES;
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Kind, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::SystemTime;

impl Sides {
    /// Takes what is git's state out of what the user changed, and gives what has to be put for it. What is left, and what
    /// is added, is put like any other file.
    pub(super) fn plan_git(&mut self, changed: &mut BTreeSet<WorkspacePath>) -> io::Result<Plan> {
        let mut repositories: BTreeMap<_, Vec<_>> =
            self.git.due.iter().cloned().map(|own| (own, vec![])).collect();
        let missed = self.git.all.iter().filter(|(_, copy)| !copy.missed.is_empty());
        repositories.extend(missed.map(|(own, _)| (own.clone(), Vec::new())));
        for path in &*changed {
            if let Some(own) = repository_of(path) {
                repositories.entry(own).or_default().push(path.clone());
            }
        }
        let mut pushes = Vec::new();
        for (own, due) in repositories {
            let copy = self.git.all.get(&own).cloned().unwrap_or_default();
            match self.plan_repository(&own, copy, &due, changed) {
                Ok(Some(Plan::Push(more))) => {
                    pushes.extend(more);
                    changed.retain(|path| !due.contains(path));
                }
                Ok(Some(Plan::TooMuch)) => return Ok(Plan::TooMuch),
                // There is none, or it is too large to be copied.
                Ok(None) => drop(self.git.due.remove(&own)),
                Err(error) => {
                    tracing::warn!(%error, repository = %own, "the state of git may look old to the agent");
                    self.git.due.remove(&own);
                }
            }
        }
        Ok(Plan::Push(pushes))
    }

    /// What was planned is put.
    pub(super) fn git_is_put(&mut self) -> io::Result<()> {
        for own in std::mem::take(&mut self.git.due) {
            if let Some(copy) = self.git.all.get_mut(&own) {
                copy.whole = true;
                self.git.is_new = true;
            }
        }
        for copy in self.git.all.values_mut() {
            copy.objects_seen = copy.objects_due.take().or(copy.objects_seen);
        }
        if self.git.is_new { self.git.save() } else { Ok(()) }
    }

    /// Adds its new objects to what changed. `None`: it isn't copied.
    fn plan_repository(
        &mut self,
        own: &WorkspacePath,
        mut copy: GitCopy,
        due: &[WorkspacePath],
        changed: &mut BTreeSet<WorkspacePath>,
    ) -> io::Result<Option<Plan>> {
        let is_all = !copy.whole || self.git.due.contains(own);
        let wanted = if is_all {
            match self.users_state(own) {
                Ok(Some(users)) => users.into_keys().chain(copy.agreed.keys().cloned()).collect(),
                Ok(None) if copy.agreed.is_empty() => return Ok(None),
                Ok(None) => copy.agreed.keys().cloned().collect(),
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Ok(None),
                Err(error) => return Err(error),
            }
        } else {
            let is_below =
                |path: &&WorkspacePath| due.iter().any(|due| path.as_path().starts_with(due.as_path()));
            let known = copy.agreed.keys().filter(is_below);
            known.chain(due).chain(&copy.missed).cloned().collect()
        };
        let Some(mut changes) = self.changes_of(&copy, &wanted)? else { return Ok(None) };
        if !copy.whole {
            self.git.due.insert(own.clone());
        }
        if copy.whole && (is_all || !changes.is_empty()) {
            copy.objects_due = Some(SystemTime::now());
            let since = copy.objects_seen.unwrap_or(self.git.since);
            let workspace = Folder::open(self.user.root().as_host())?;
            let Some(objects) = objects_since(&workspace, own, since)? else {
                return Ok(Some(Plan::TooMuch));
            };
            changed.extend(objects);
        }
        let (mut pushes, mut news) = (Vec::new(), None);
        if copy.whole && changes.is_empty() {
            copy.missed.clear();
        } else if !self.is_git_changed(own, &copy, &changes) {
            if !copy.whole && !copy.agreed.is_empty() {
                // It was begun and is made again from its beginning.
                copy.agreed.clear();
                changes = self.changes_of(&copy, &wanted)?.unwrap_or_default();
            }
            copy.missed.clear();
            pushes = self.folders(own, &copy, &changes)?;
            pushes.extend(changes.into_iter().map(|change| self.push(change)));
            // What goes makes room.
            pushes.sort_by_key(|push| push.entry != Entry::Missing);
        } else if copy.whole {
            copy.missed = changes.iter().map(|change| change.path.clone()).collect();
            news = news_of(own, &changes);
            pushes = self.hide(own, &copy, &changes)?;
        } else {
            // The agent had a hand in it before there was a copy: what it left is as the user has it.
            for change in changes {
                if let Some(print) = &change.print {
                    copy.agreed.insert(change.path.clone(), print.clone());
                }
                if self.upper.entry(&change.path)? == InUpper::Untouched {
                    pushes.push(self.push(change));
                }
            }
        }
        self.git.all.insert(own.clone(), copy);
        self.git.tell(own, news);
        Ok(Some(Plan::Push(pushes)))
    }

    /// Folders that are the agent's alone, so that nothing shows through that the user puts in there while a call runs; and
    /// those that the user removed.
    fn folders(&self, own: &WorkspacePath, copy: &GitCopy, changes: &[Change]) -> io::Result<Vec<Push>> {
        let push = |path: &WorkspacePath, entry| Push { path: path.clone(), entry, modified_ns: None };
        let mut pushes = Vec::new();
        for name in WHOLLY_STATE.iter().filter(|_| !copy.whole) {
            let path = WorkspacePath::found(&own.as_path().join(name));
            if let Some(path) = path.filter(|path| matches!(self.user.on_disk(path), Ok(Entry::Folder))) {
                pushes.extend([push(&path, Entry::Missing), push(&path, Entry::Folder)]);
            }
        }
        for change in changes.iter().filter(|change| change.entry == Entry::Missing) {
            let is_gone = |above: &WorkspacePath| {
                repository_of(above).as_ref() == Some(own)
                    && matches!(self.user.on_disk(above), Ok(Entry::Missing))
            };
            let gone = change.path.ancestors().take_while(is_gone).last();
            pushes.extend(gone.map(|path| push(&path, Entry::Missing)));
        }
        Ok(pushes)
    }

    fn push(&self, Change { path, entry, .. }: Change) -> Push {
        let modified_ns = match self.user.glance(&path) {
            Ok(Glance::Disk(Some(facts), _)) => Some(facts.modified_ns),
            _ => None,
        };
        Push { path, entry, modified_ns }
    }

    /// What the user made since keeps from showing through.
    fn hide(&self, own: &WorkspacePath, copy: &GitCopy, changes: &[Change]) -> io::Result<Vec<Push>> {
        let mut hidden = BTreeSet::new();
        for change in changes.iter().filter(|change| !copy.agreed.contains_key(&change.path)) {
            if self.upper.entry(&change.path)? == InUpper::Untouched {
                hidden.insert(self.top_of_the_users(own, copy, &change.path)?);
            }
        }
        let push = |path| Push { path, entry: Entry::Missing, modified_ns: None };
        Ok(hidden.into_iter().map(push).collect())
    }

    /// The outermost folder around a path in which there is nothing but what the user made.
    fn top_of_the_users(
        &self,
        own: &WorkspacePath,
        copy: &GitCopy,
        path: &WorkspacePath,
    ) -> io::Result<WorkspacePath> {
        let mut top = path.clone();
        for above in path.ancestors() {
            let had = copy.agreed.keys().any(|known| known.as_path().starts_with(above.as_path()));
            if had
                || repository_of(&above).as_ref() != Some(own)
                || self.upper.entry(&above)? != InUpper::Untouched
            {
                break;
            }
            top = above;
        }
        Ok(top)
    }

    fn users_state(&self, own: &WorkspacePath) -> io::Result<Option<BTreeMap<WorkspacePath, Kind>>> {
        match Folder::open(self.user.root().as_host())?.node_at(own.as_path())? {
            Node::Folder(folder) => state_in(&folder, own).map(Some),
            _ => Ok(None),
        }
    }

    /// `None`: that is too much.
    fn changes_of(
        &self,
        copy: &GitCopy,
        wanted: &BTreeSet<WorkspacePath>,
    ) -> io::Result<Option<Vec<Change>>> {
        let (mut changes, mut bytes) = (Vec::new(), 0);
        for path in wanted {
            let entry = self.user.on_disk(path)?;
            let print = Print::of(path, &entry);
            if let Entry::File(FileEntry { content, .. }) = &entry {
                bytes += content.len();
                if bytes > PUSH_MAX_BYTES || matches!(content, Content::Large { .. }) {
                    return Ok(None);
                }
            }
            if print.as_ref() != copy.agreed.get(path) {
                changes.push(Change { path: path.clone(), entry, print });
            }
        }
        Ok(Some(changes))
    }

    /// Whether a path is part of a state of which the agent has a copy.
    pub(super) fn is_in_git_copy(&self, path: &WorkspacePath) -> bool {
        repository_of(path).is_some_and(|own| self.git.all.contains_key(&own))
    }

    /// Both sides have this now; `false` where the path is part of no copy.
    pub(super) fn agree_git(&mut self, path: &WorkspacePath, entry: Option<&Entry>) -> bool {
        let Some(own) = repository_of(path) else { return false };
        let Some(copy) = self.git.all.get_mut(&own) else { return false };
        match entry.map(|entry| Print::of(path, entry)) {
            Some(Some(print)) => drop(copy.agreed.insert(path.clone(), print)),
            Some(None) => drop(copy.agreed.remove(path)),
            None => {}
        }
        self.git.is_new = true;
        // Where that is not done with a plan, its objects are to be looked for.
        self.git.due.insert(own);
        true
    }

    /// Takes copies that the agent did not change out of the upper folder, and keeps the others whole.
    /// Only while nothing has it mounted.
    pub(super) fn settle_git(&mut self) -> io::Result<()> {
        self.git.look_again();
        let mut settled = Ok(());
        for (own, copy) in self.git.all.clone() {
            let one = if self.is_git_changed(&own, &copy, &[]) {
                self.keep_whole(&own, &copy)
            } else {
                let gone = self.forget_git(&own, &copy);
                if gone.is_ok() {
                    self.git.all.remove(&own);
                    self.git.is_new = true;
                }
                gone
            };
            settled = settled.and(one);
        }
        if self.git.is_new { settled.and(self.git.save()) } else { settled }
    }

    fn keep_whole(&self, own: &WorkspacePath, copy: &GitCopy) -> io::Result<()> {
        let users = self.users_state(own)?.unwrap_or_default();
        let new = users.into_keys().filter(|path| !copy.agreed.contains_key(path));
        let new = new.map(|path| Change { path, entry: Entry::Missing, print: None }).collect::<Vec<_>>();
        self.hide(own, copy, &new)?.iter().try_for_each(|push| self.upper.put(&push.path, &push.entry))
    }

    fn forget_git(&self, own: &WorkspacePath, copy: &GitCopy) -> io::Result<()> {
        let mut paths: BTreeSet<WorkspacePath> = copy.agreed.keys().cloned().collect();
        if let Some(folder) = self.upper.folder(own)? {
            paths.extend(state_in(&folder, own)?.into_keys());
        }
        let folders = WHOLLY_STATE.iter().filter_map(|name| WorkspacePath::found(&own.as_path().join(name)));
        paths.extend(folders);
        for path in &paths {
            self.upper.forget(path)?;
            self.forget_empty_folders(path)?;
        }
        Ok(())
    }

    /// A folder that both sides have, and in which the agent has nothing, says nothing.
    fn forget_empty_folders(&self, around: &WorkspacePath) -> io::Result<()> {
        for path in around.ancestors() {
            let Some(folder) = self.upper.folder(&path)? else { continue };
            let says =
                is_opaque(&folder) || !folder.is_empty()? || self.user.on_disk(&path)? != Entry::Folder;
            if says {
                break;
            }
            self.upper.forget(&path)?;
        }
        Ok(())
    }
}
