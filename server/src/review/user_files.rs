//! Writes what was accepted into the user's files, beneath the workspace's own folder handle and through no link.

use super::unfinished::Unfinished;
use crate::limits::{ACCEPT_SYNCS_AT_ONCE, VIEW_FOLDERS_MAX_DEPTH};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Node, Staged, Temporary, changed};
use crate::view::{Content, Entry, FileEntry, InUpper, Sides, Upper, UserSide};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Write};

/// A state that a path of the workspace is to have.
pub(super) struct Put {
    /// Where.
    pub(super) path: WorkspacePath,
    /// What was looked at.
    pub(super) seen: Entry,
    /// What is to be there.
    pub(super) wanted: Entry,
    /// The name beside it for what is on its way.
    pub(super) temporary: Temporary,
}

/// Gives paths of the workspace these states, each only if it still has the one that was looked at. The upper folder holds
/// what is too large for memory. Whenever it is cut short, each path has its old state or its new one.
pub(super) fn put_all(sides: &Sides, puts: &[Put]) -> Vec<io::Result<()>> {
    let unfinished = match Unfinished::begin(sides, puts) {
        Ok(unfinished) => unfinished,
        Err(error) => return puts.iter().map(|_| Err(error_again(&error))).collect(),
    };
    let done = put(&sides.user, &sides.upper, puts);
    if let Err(error) = unfinished.clear_up() {
        // The next start tries again.
        tracing::warn!(%error, "what was needed to write the user's files is not cleared up");
    }
    done
}

fn error_again(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// A sync costs milliseconds, however little there is to sync, and several at once cost no more than one. So all contents
/// are written before the first is synced, and all names are given before the first folder is.
fn put(user: &UserSide, upper: &Upper, puts: &[Put]) -> Vec<io::Result<()>> {
    let mut touched = Touched::default();
    let mut prepared: Vec<_> = puts.iter().map(|put| prepare(user, upper, put, &mut touched)).collect();
    let syncs = prepared.iter().map(|step| match step {
        Ok(Step::Place(staged)) => Some(staged),
        _ => None,
    });
    let synced = at_once(syncs.collect(), |staged| staged.map_or(Ok(()), Staged::sync));
    for (step, synced) in prepared.iter_mut().zip(synced) {
        if let Err(error) = synced {
            *step = Err(error);
        }
    }
    let mut done: Vec<_> =
        prepared.into_iter().zip(puts).map(|(step, put)| step?.take(user, put, &mut touched)).collect();
    if let Err(error) = touched.sync() {
        // Nobody knows which of them a power cut would take back.
        done.iter_mut().filter(|result| result.is_ok()).for_each(|result| *result = Err(error_again(&error)));
    }
    done
}

/// What is left to do for a path once everything is written.
enum Step {
    Place(Staged),
    Remove(Folder),
    /// It is not there, nor is its folder.
    Nothing,
}

fn prepare(user: &UserSide, upper: &Upper, put: &Put, touched: &mut Touched) -> io::Result<Step> {
    let Put { path, seen, wanted, temporary } = put;
    still(user, path, seen)?;
    let root = Folder::open(user.root().as_host())?;
    if *wanted == Entry::Missing {
        let parent = root.parent_of(path.as_path())?;
        return Ok(parent.map_or(Step::Nothing, |(folder, _)| Step::Remove(folder)));
    }
    let name = name(path)?;
    let parent = path.as_path().parent().unwrap_or(path.as_path());
    // All of them: one that was made before, on a disk that then failed, may be there and not on the disk.
    let folder = root.make_folders_on(parent, &mut |passed, _| touched.add(passed))?;
    let staged = match wanted {
        Entry::Link(target) => folder.stage_link(name, temporary, target),
        Entry::File(FileEntry { content: Content::Whole(bytes), mode }) => {
            folder.stage_file(name, temporary, *mode, |file| file.write_all(bytes))
        }
        Entry::File(FileEntry { content, mode }) => {
            let source = upper.file(path)?;
            folder.stage_file(name, temporary, *mode, |file| {
                match content.is_what_is_copied(source, file)? {
                    true => Ok(()),
                    false => Err(io::Error::other("it was changed while it was copied: look at it again")),
                }
            })
        }
        Entry::Missing | Entry::Folder | Entry::Other => {
            Err(io::Error::other("it is neither a file nor a link"))
        }
    };
    Ok(Step::Place(staged?))
}

impl Step {
    fn take(self, user: &UserSide, put: &Put, touched: &mut Touched) -> io::Result<()> {
        // Writing all the others took its time.
        still(user, &put.path, &put.seen)?;
        let name = name(&put.path)?;
        let seen = |node: Node| Ok(Entry::of(node)? == put.seen);
        let folder = match self {
            Self::Nothing => return Ok(()),
            Self::Remove(folder) => {
                folder.remove_expected(name, &put.temporary, &seen)?;
                folder
            }
            Self::Place(staged) => match put.seen {
                Entry::Missing => staged.place_new()?,
                Entry::Folder => {
                    // Only if no file is in it: their end has to be accepted first.
                    staged.folder().remove_empty_tree(name, VIEW_FOLDERS_MAX_DEPTH)?;
                    staged.place_new()?
                }
                _ => staged.place_over(&seen, &|node| Ok(Entry::of(node)? == put.wanted))?,
            },
        };
        touched.add(&folder)
    }
}

fn still(user: &UserSide, path: &WorkspacePath, seen: &Entry) -> io::Result<()> {
    match user.entry(path)? == *seen {
        true => Ok(()),
        false => Err(changed()),
    }
}

fn name(path: &WorkspacePath) -> io::Result<&OsStr> {
    path.as_path().file_name().ok_or_else(|| io::Error::other("it has no name"))
}

/// The folders in which names were given or taken away, by what tells them from every other one.
#[derive(Default)]
struct Touched {
    waiting: HashMap<(u64, u64), Folder>,
    failed: Option<io::Error>,
}

impl Touched {
    /// Handles that are kept open.
    const WAITING_MAX: usize = 128;

    fn add(&mut self, folder: &Folder) -> io::Result<()> {
        if self.waiting.len() == Self::WAITING_MAX {
            self.sync_waiting();
        }
        self.waiting.insert(folder.identity()?, folder.again()?);
        Ok(())
    }

    fn sync(mut self) -> io::Result<()> {
        self.sync_waiting();
        self.failed.map_or(Ok(()), Err)
    }

    fn sync_waiting(&mut self) {
        let folders = self.waiting.drain().map(|(_, folder)| folder).collect();
        let failed = at_once(folders, |folder| folder.sync()).into_iter().find_map(Result::err);
        self.failed = self.failed.take().or(failed);
    }
}

/// The same for all, several at a time.
fn at_once<T: Send>(all: Vec<T>, work: impl Fn(T) -> io::Result<()> + Sync) -> Vec<io::Result<()>> {
    let mut results: Vec<io::Result<()>> = all.iter().map(|_| Ok(())).collect();
    let share = all.len().div_ceil(ACCEPT_SYNCS_AT_ONCE).max(1);
    let mut all = all.into_iter();
    std::thread::scope(|scope| {
        for results in results.chunks_mut(share) {
            let (mine, work): (Vec<T>, _) = (all.by_ref().take(share).collect(), &work);
            scope.spawn(move || {
                for (result, one) in results.iter_mut().zip(mine) {
                    *result = work(one);
                }
            });
        }
    });
    results
}

/// Sets the permission bits of a file.
pub(super) fn set_mode(user: &UserSide, path: &WorkspacePath, mode: u32) -> io::Result<()> {
    match Folder::open(user.root().as_host())?.parent_of(path.as_path())? {
        Some((folder, name)) => folder.set_mode(name, mode),
        None => Err(io::Error::new(io::ErrorKind::NotFound, "its folder is gone")),
    }
}

/// Removes folders of the workspace that the agent has removed and in which nothing is left.
pub(super) fn remove_empty_folders(
    user: &UserSide,
    upper: &Upper,
    removed: &[WorkspacePath],
) -> io::Result<()> {
    let root = Folder::open(user.root().as_host())?;
    for path in removed {
        for above in path.ancestors() {
            // Something in it was removed: if nothing is said of the folder, it went with that.
            let is_gone = matches!(upper.entry(&above)?, InUpper::Untouched | InUpper::Is(Entry::Missing));
            let Some((parent, name)) = root.parent_of(above.as_path())?.filter(|_| is_gone) else {
                break;
            };
            // It is not empty, or gone already.
            if parent.remove_empty_folder(name).is_err() {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "user_files_tests.rs"]
mod tests;
