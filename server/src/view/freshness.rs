//! Decides what has to be put into the agent's view so that it shows what the user has now.

use super::base::{Agreed, Base};
use super::entry::{Content, Entry, FileEntry};
use super::git_copies::GitCopies;
use super::upper::{InUpper, Mentions, Upper};
use super::user_side::{Buffers, Glance, UserSide};
use crate::limits::{PUSH_MAX_BYTES, VIEW_MENTIONS_MAX};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::{Facts, Kind};
use crate::storage::confined::{Reach, check_wanted};
use airlock_guest::{Call, Expected, ExpectedKind};
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Both sides of a session's view, and what they agreed on.
pub struct Sides {
    /// What the user has.
    pub user: UserSide,
    /// What the agent has, where that is something else.
    pub upper: Upper,
    /// What both had last.
    pub base: Base,
    /// Where the session keeps them.
    pub folder: PathBuf,
    /// What the agent has of git's state.
    pub(super) git: GitCopies,
}

/// A path to look at, and what it should look like inside.
pub(super) struct Suspect {
    pub(super) path: WorkspacePath,
    /// `None`: it stands unsaved in an editor, so no look at the disk tells.
    pub(super) expected: Option<Expected>,
}

/// Something to put into the view.
pub(super) struct Push {
    pub(super) path: WorkspacePath,
    pub(super) entry: Entry,
    pub(super) modified_ns: Option<i64>,
}

/// What has to be put, or that it is too much.
pub(super) enum Plan {
    Push(Vec<Push>),
    TooMuch,
}

impl Sides {
    /// The sides of a session, kept in its folder.
    pub fn open(
        workspace: &WorkspaceRoot,
        buffers: Arc<dyn Buffers>,
        session_folder: &Path,
    ) -> io::Result<Self> {
        Ok(Self {
            user: UserSide::new(workspace.clone(), buffers),
            upper: Upper::of(session_folder),
            base: Base::open(session_folder.join("base"))?,
            folder: session_folder.to_owned(),
            git: GitCopies::open(session_folder.join("base/git"))?,
        })
    }

    /// What looking at both sides needs: the session's own folder, and to read the workspace.
    pub fn reach(workspace: &WorkspaceRoot, session_folder: &Path) -> Reach {
        Reach { writes: vec![session_folder.to_owned()], reads: vec![workspace.as_host().to_owned()] }
    }

    /// What the agent has at a path, where that is not what the workspace has.
    ///
    /// An overlay leaves no whiteout in a folder that the agent made: nothing was below it when it was made, and the
    /// overlay does not learn that the folder was accepted since. What was agreed on tells that something was there.
    pub fn agents(&self, path: &WorkspacePath) -> io::Result<InUpper> {
        match self.upper.entry(path)? {
            InUpper::Untouched if self.base.had_something(path) => Ok(InUpper::Is(Entry::Missing)),
            here => Ok(here),
        }
    }

    /// What both sides last agreed on at a path.
    ///
    /// Of what was in a folder that the agent removed or made anew nothing is kept, nor of what it changed in a call that
    /// Airlock did not see the end of: that counts as made from what the user has. But what the user changed since then is
    /// not what the agent had, and what the user made since then in a folder that was made anew the agent never had.
    pub fn agreed(&self, path: &WorkspacePath) -> io::Result<Agreed> {
        let agreed = self.base.get(path);
        if agreed != Agreed::NotKept {
            return Ok(agreed);
        }
        let cover = self.upper.cover(path)?;
        let since = match cover {
            Some(cover) => cover.since,
            None => self.upper.changed(path)?,
        };
        let is_since = |time: Option<SystemTime>| time.zip(since).is_some_and(|(time, since)| time > since);
        if cover.is_some_and(|cover| cover.is_folder) && is_since(self.user.born(path)?) {
            return Ok(Agreed::On(Entry::Missing));
        }
        let is_newer = is_since(self.user.changed(path)?);
        Ok(if is_newer { Agreed::Unknown } else { agreed })
    }

    /// Remembers what both sides have at a path now. What the upper folder does not mention is the workspace's own: of
    /// that there is nothing to remember.
    pub fn agree(&mut self, path: &WorkspacePath, agreed: &Agreed) -> io::Result<()> {
        let both = if let Agreed::On(entry) = agreed { Some(entry) } else { None };
        if self.agree_git(path, both) {
            return Ok(());
        }
        match (self.upper.entry(path)?, agreed) {
            (InUpper::Untouched, _) => {
                // Nor of anything below it.
                self.base.agree(path, &Entry::Missing)?;
                self.base.forget(path)
            }
            (_, Agreed::NotKept) => self.base.forget(path),
            (_, Agreed::On(entry)) => self.base.agree(path, entry),
            (_, Agreed::Unknown) => self.base.lose(path),
        }
    }

    /// What these paths should look like inside, if the view is fresh.
    pub(super) fn suspects(&self, paths: impl IntoIterator<Item = WorkspacePath>) -> Vec<Suspect> {
        let suspect = |path: WorkspacePath| {
            // What cannot be looked at now is looked at when it changes again.
            let expected = match self.user.glance(&path).ok()? {
                Glance::Unsaved => None,
                Glance::Disk(facts, target) => Some(Expected {
                    path: path.as_str().to_owned(),
                    kind: expected(facts, target.as_ref().map(|target| target.as_bytes()))?,
                }),
            };
            Some(Suspect { path, expected })
        };
        paths.into_iter().filter_map(suspect).collect()
    }

    /// What to put so that these stale paths are as the user has them. The agent's own changes stay.
    pub(super) fn plan(&mut self, stale: &[WorkspacePath]) -> io::Result<Plan> {
        let mut pushes = Vec::new();
        let mut bytes = 0;
        for path in stale {
            let Ok(entry) = self.user.entry(path) else {
                continue;
            };
            // What is in a folder of the agent's that is closed to us is the agent's.
            let is_agents = match self.is_agents(path) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => true,
                known => known?,
            };
            if is_agents || self.hides_work_of_the_agent(path, &entry)? {
                continue;
            }
            if let Entry::File(FileEntry { content, .. }) = &entry {
                bytes += content.len();
                if bytes > PUSH_MAX_BYTES || matches!(content, Content::Large { .. }) {
                    return Ok(Plan::TooMuch);
                }
            }
            let modified_ns = match self.user.glance(path) {
                Ok(Glance::Disk(Some(facts), _)) => Some(facts.modified_ns),
                _ => None,
            };
            pushes.push(Push { path: path.clone(), entry, modified_ns });
        }
        Ok(Plan::Push(pushes))
    }

    /// Whether the agent changed what is at this path. Where nobody knows what it was before, it counts as changed.
    fn is_agents(&mut self, path: &WorkspacePath) -> io::Result<bool> {
        if let Some(is_agents) = self.is_agents_git(path)? {
            return Ok(is_agents);
        }
        let InUpper::Is(here) = self.agents(path)? else {
            return Ok(false);
        };
        match self.agreed(path)? {
            Agreed::On(entry) => Ok(here != entry),
            Agreed::Unknown => Ok(true),
            Agreed::NotKept => {
                // Both sides have a folder there: neither is a change.
                let both = here == Entry::Folder && self.user.entry(path)? == Entry::Folder;
                if !both {
                    self.base.lose(path)?;
                }
                Ok(!both)
            }
        }
    }

    /// Whether putting this there would take something away that the agent made below it.
    fn hides_work_of_the_agent(&mut self, path: &WorkspacePath, entry: &Entry) -> io::Result<bool> {
        if *entry == Entry::Folder || self.upper.entry(path)? != InUpper::Is(Entry::Folder) {
            return Ok(false);
        }
        let mentions = self.upper.mentions(VIEW_MENTIONS_MAX)?;
        for mention in &mentions.all {
            let below = mention.path != *path && mention.path.as_path().starts_with(path.as_path());
            if below && mention.kind != Kind::Folder && self.is_agents(&mention.path)? {
                return Ok(true);
            }
        }
        Ok(mentions.may_miss_below(path))
    }

    /// Remembers what new changes of the agent were made from. `changed_meanwhile` tells which paths the user changed
    /// at the same time: of those nobody knows. Gives what all changes take of the disk.
    pub fn capture(&mut self, changed_meanwhile: impl Fn(&WorkspacePath) -> bool) -> io::Result<u64> {
        let mentions = self.upper.mentions(VIEW_MENTIONS_MAX)?;
        let allocated_bytes = mentions.allocated_bytes;
        self.forget_what_is_gone(&mentions)?;
        for mention in mentions.all {
            check_wanted()?;
            if self.is_in_git_copy(&mention.path) {
                continue;
            }
            if self.base.keeps(&mention.path) || self.base.get(&mention.path) == Agreed::On(Entry::Missing) {
                continue;
            }
            let is_newer = || Ok::<_, io::Error>(self.agreed(&mention.path)? == Agreed::Unknown);
            if changed_meanwhile(&mention.path) || (mention.kind != Kind::Folder && is_newer()?) {
                self.base.lose(&mention.path)?;
                continue;
            }
            match self.user.entry(&mention.path) {
                // A folder on both sides is no change of its own.
                Ok(Entry::Folder) if mention.kind == Kind::Folder && !mention.opaque => {}
                Ok(entry) => self.base.agree(&mention.path, &entry)?,
                Err(error) => {
                    check_wanted()?;
                    tracing::warn!(path = %mention.path, %error, "the user's file cannot be read");
                    self.base.lose(&mention.path)?;
                }
            }
        }
        Ok(allocated_bytes)
    }

    /// The user changed these while the agent was at work. What it hid of them by removing a folder, or making it anew, is
    /// not mentioned, and when it did that nobody knows.
    pub fn lose_hidden(&mut self, changed: &[WorkspacePath]) -> io::Result<()> {
        for path in changed {
            if self.is_in_git_copy(path) {
                continue;
            }
            if self.agreed(path)? == Agreed::NotKept && self.upper.cover(path)?.is_some() {
                self.base.lose(path)?;
            }
        }
        Ok(())
    }

    /// What the agent made and removed again left no trace: the view shows the workspace's own, and of that there is
    /// nothing to remember. Or each name that a command made in passing would be kept for ever.
    fn forget_what_is_gone(&mut self, mentions: &Mentions) -> io::Result<()> {
        let mentioned: HashSet<&WorkspacePath> = mentions.all.iter().map(|mention| &mention.path).collect();
        let mut kept = self.base.paths_without_content();
        kept.retain(|path| !mentioned.contains(path));
        // In a folder that the agent made anew there is a trace of nothing. Past some number of them, that nobody knows
        // what was there is the better answer.
        let too_many = kept.len() > VIEW_MENTIONS_MAX && !mentions.cut;
        for path in kept {
            check_wanted()?;
            match self.upper.entry(&path) {
                Ok(InUpper::Untouched) => self.base.forget(&path)?,
                Ok(InUpper::Is(Entry::Missing)) if too_many => self.base.forget(&path)?,
                // It is looked at again after the next call.
                Ok(InUpper::Is(_)) | Err(_) => {}
            }
        }
        Ok(())
    }
}

fn expected(facts: Option<Facts>, target: Option<&[u8]>) -> Option<ExpectedKind> {
    Some(match facts {
        None => ExpectedKind::Missing,
        Some(Facts { kind: Kind::File, bytes, modified_ns, mode, .. }) => {
            ExpectedKind::File { bytes, modified_ns, mode: mode & 0o777 }
        }
        Some(Facts { kind: Kind::Folder, .. }) => ExpectedKind::Folder,
        Some(Facts { kind: Kind::Link, .. }) => {
            ExpectedKind::Link { target: std::str::from_utf8(target?).ok()?.to_owned() }
        }
        Some(Facts { kind: Kind::Whiteout | Kind::Other, .. }) => return None,
    })
}

/// The call that puts an entry into the view; `None` for what cannot be put.
pub(super) fn call(path: &WorkspacePath, entry: &Entry, modified_ns: Option<i64>) -> Option<Call> {
    let path = path.as_str().to_owned();
    Some(match entry {
        Entry::Missing => Call::Remove { path },
        Entry::File(file) => Call::Put { path, mode: file.mode, modified_ns },
        Entry::Link(target) => Call::PutLink { path, target: target.to_str()?.to_owned() },
        Entry::Folder => Call::PutFolder { path },
        Entry::Other => return None,
    })
}

#[cfg(test)]
#[path = "freshness_tests.rs"]
pub(super) mod tests;
