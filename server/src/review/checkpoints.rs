//! Checkpoints: what the agent's view was before a turn, so that the turn can be undone, commands included.
//!
//! Files that the agent made and git ignores are build output: they are neither kept nor undone.

use super::candidates::candidates;
use super::change::rebased;
use super::read_so_far::ReadSoFar;
use crate::limits::{CHECKPOINTS_DROPPED, CHECKPOINTS_MAX, SANDBOX_DISK_KEPT_MIB, VIEW_MENTIONS_MAX};
use crate::paths::WorkspacePath;
use crate::storage;
use crate::storage::beneath::Kind;
use crate::storage::confined::check_wanted;
use crate::view::{Agreed, Base, Contents, Entry, HeldView, Ignored, InUpper, Sides, Unreadable};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// The checkpoints of a session.
#[derive(Clone)]
pub struct Checkpoints(PathBuf);

/// What a path is to become.
struct Restored {
    path: WorkspacePath,
    entry: Entry,
    agreed: Agreed,
}

impl Checkpoints {
    /// Those of the session whose folder this is.
    pub fn of(session_folder: &Path) -> Self {
        Self(session_folder.join("checkpoints"))
    }

    /// Keeps the agent's view as it is now.
    pub async fn keep(&self, view: &HeldView<'_>) -> io::Result<()> {
        view.capture().await;
        let checkpoints = self.clone();
        view.sides(move |sides| checkpoints.write(sides)).await
    }

    /// Puts the agent's view back to what it was `turns` turns ago; gives how many paths that changed.
    pub async fn undo(&self, view: &HeldView<'_>, turns: usize) -> io::Result<usize> {
        view.capture().await;
        let numbers = self.numbers()?;
        let Some(number) = numbers.len().checked_sub(turns).and_then(|index| numbers.get(index).copied())
        else {
            let why = match numbers.len() {
                0 => "there is nothing to undo".to_owned(),
                1 => "only the last turn can be undone".to_owned(),
                kept => format!("only the last {kept} turns can be undone"),
            };
            return Err(io::Error::other(why));
        };
        let checkpoints = self.clone();
        let restored = view.sides(move |sides| checkpoints.plan(sides, number)).await?;
        let count = restored.len();
        for Restored { path, entry, agreed } in restored {
            view.put(&path, &entry).await?;
            view.sides(move |sides| sides.agree(&path, &agreed)).await?;
        }
        for number in numbers.into_iter().filter(|other| *other >= number) {
            storage::remove_tree(&self.folder(number))?;
        }
        Ok(count)
    }

    fn write(&self, sides: &Sides) -> io::Result<()> {
        let numbers = self.numbers()?;
        self.drop_old(&numbers)?;
        let number = numbers.last().map_or(1, |last| last + 1);
        let written = self.write_as(number, sides);
        if written.is_err() {
            // Why is told; and what cannot be removed is never whole.
            let _ = storage::remove_tree(&self.folder(number));
        }
        written
    }

    fn write_as(&self, number: u64, sides: &Sides) -> io::Result<()> {
        let (mut view, mut base) = self.open(number)?;
        if storage::free_mib(&self.0)? < SANDBOX_DISK_KEPT_MIB {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full"));
        }
        let mut read = ReadSoFar::default();
        let git = sides.git_owners();
        let Paths { readable, unreadable } = paths(sides)?;
        // A state of git that the agent did not change is the user's, whatever that becomes.
        for path in readable.into_iter().filter(|path| git.is_agents(path) != Some(false)) {
            check_wanted()?;
            // A file that is closed to us is neither kept nor undone, and keeps no other from it.
            let agents = told(&path, sides.agents(&path))?;
            // Nor is what no verdict can put there again.
            let Some(agents) = agents.filter(|agents| *agents != InUpper::Is(Entry::Other)) else {
                view.lose(&path)?;
                continue;
            };
            if let InUpper::Is(entry) = agents {
                read.add_entry(&entry);
                if read.is_enough() {
                    let why = "what the agent has changed so far is too much to be kept a second time";
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
                }
                view.agree(&path, &entry)?;
                match sides.base.get(&path) {
                    Agreed::On(entry) => base.agree(&path, &entry)?,
                    Agreed::Unknown => base.lose(&path)?,
                    Agreed::NotKept => {}
                }
            }
        }
        // Last, for what is below them is not known either.
        for path in unreadable {
            view.lose(&path)?;
        }
        // Whole only now: one that was cut off is not there.
        storage::replace(&self.folder(number).join("whole"), b"")
    }

    /// Lets the oldest go, some at a time: what they alone hold is found by reading all the others.
    fn drop_old(&self, numbers: &[u64]) -> io::Result<()> {
        if numbers.len() < CHECKPOINTS_MAX + CHECKPOINTS_DROPPED {
            return Ok(());
        }
        let (old, kept) = numbers.split_at(numbers.len() + 1 - CHECKPOINTS_MAX);
        for number in old {
            storage::remove_tree(&self.folder(*number))?;
        }
        let mut used = HashSet::new();
        for number in kept {
            let (view, base) = self.open(*number)?;
            used.extend(view.digests().chain(base.digests()).map(str::to_owned));
        }
        self.contents().prune(&used)
    }

    fn plan(&self, sides: &Sides, number: u64) -> io::Result<Vec<Restored>> {
        let (view, base) = self.open(number)?;
        let mut all = paths(sides)?.readable;
        all.extend(view.paths());
        let (mut goes, mut comes) = (Vec::new(), Vec::new());
        let git = sides.git_owners();
        for path in all {
            check_wanted()?;
            let both = sides.user.entry(&path).and_then(|user| Ok((user, sides.agents(&path)?)));
            let Some((user, agents)) = told(&path, both)? else {
                continue;
            };
            let (entry, agreed) = match view.get(&path) {
                // Nobody could see what it was.
                Agreed::Unknown => continue,
                // Git's state is put back as a whole: what of it is the agent's is not mixed with the user's.
                Agreed::On(kept) if view.keeps(&path) && git.is_agents(&path).is_some() => {
                    (kept, Agreed::NotKept)
                }
                _ if git.is_agents(&path) == Some(false) => continue,
                Agreed::On(kept) if view.keeps(&path) => {
                    let agreed = base.get(&path);
                    let entry = rebased(&agreed, &user, &kept);
                    let moved = entry != kept;
                    (entry, if moved { Agreed::On(user.clone()) } else { agreed })
                }
                // It was as the user has it.
                _ => (user.clone(), Agreed::On(user.clone())),
            };
            let now = match agents {
                InUpper::Is(entry) => entry,
                InUpper::Untouched => user,
            };
            if now != entry {
                let restored = Restored { path, entry, agreed };
                if restored.entry == Entry::Missing { goes.push(restored) } else { comes.push(restored) }
            }
        }
        // What goes makes room, and goes with what is in it.
        let mut last: Option<PathBuf> = None;
        goes.retain(|gone| {
            let covered = last.as_ref().is_some_and(|last| gone.path.as_path().starts_with(last));
            if !covered {
                last = Some(gone.path.as_path().to_owned());
            }
            !covered
        });
        goes.extend(comes);
        Ok(goes)
    }

    fn open(&self, number: u64) -> io::Result<(Base, Base)> {
        let (folder, contents) = (self.folder(number), self.contents());
        Ok((
            Base::open_with(&folder.join("view"), contents.clone())?,
            Base::open_with(&folder.join("base"), contents)?,
        ))
    }

    fn contents(&self) -> Contents {
        Contents::new(self.0.join("content"))
    }

    fn folder(&self, number: u64) -> PathBuf {
        self.0.join(number.to_string())
    }

    /// The numbers of those that are whole, the oldest first.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let names = storage::names_with_prefix(&self.0, "")?;
        let numbers = names.iter().filter_map(|name| name.parse::<u64>().ok());
        let mut numbers: Vec<u64> =
            numbers.filter(|number| self.folder(*number).join("whole").exists()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

struct Paths {
    readable: BTreeSet<WorkspacePath>,
    /// Folders that nobody can look into.
    unreadable: Vec<WorkspacePath>,
}

/// All paths at which the agent's view differs from the user's side, its folders too.
fn paths(sides: &Sides) -> io::Result<Paths> {
    let mut ignored = Ignored::of(sides.user.root());
    let candidates = candidates(sides)?;
    let mut paths = candidates.paths;
    let mentions = sides.upper.mentions(VIEW_MENTIONS_MAX)?;
    paths.extend(
        mentions.all.into_iter().filter(|mention| mention.kind != Kind::Other).map(|mention| mention.path),
    );
    let mut readable = BTreeSet::new();
    for path in paths {
        check_wanted()?;
        if !ignored.is_ignored(&path) || told(&path, sides.user.kind(&path))? != Some(None) {
            readable.insert(path);
        }
    }
    Ok(Paths { readable, unreadable: mentions.unreadable.into_iter().map(|folder| folder.path).collect() })
}

/// `None`: it cannot be read, which is told in the list of changes.
fn told<T>(path: &WorkspacePath, read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) => Unreadable::by(path, error).map(|_| None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CHANGES_HELD_MAX_BYTES;
    use crate::paths::WorkspaceRoot;
    use crate::view::NoEditor;
    use std::sync::Arc;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    fn world() -> (tempfile::TempDir, Sides, Checkpoints) {
        let folder = tempfile::tempdir().unwrap();
        let (workspace, session) = (folder.path().join("workspace"), folder.path().join("session"));
        std::fs::create_dir(&workspace).unwrap();
        let root = WorkspaceRoot::open(&workspace).unwrap();
        let sides = Sides::open(&root, Arc::new(NoEditor), &session).unwrap();
        let checkpoints = Checkpoints::of(&session);
        (folder, sides, checkpoints)
    }

    #[test]
    fn only_the_last_turns_are_kept_and_nothing_that_only_older_ones_had() {
        let (_folder, sides, checkpoints) = world();
        for turn in 0..2 * CHECKPOINTS_MAX {
            sides.upper.put(&path("a"), &Entry::file(format!("{turn}").as_bytes(), 0o644)).unwrap();
            checkpoints.write(&sides).unwrap();
            let kept = checkpoints.numbers().unwrap().len();
            assert!(kept < CHECKPOINTS_MAX + CHECKPOINTS_DROPPED + 1, "{kept}");
            assert!(checkpoints.contents().digests().unwrap().len() <= kept, "one a turn");
        }
        assert!(checkpoints.numbers().unwrap().len() >= CHECKPOINTS_MAX);
    }

    /// They cost the sandbox nothing: there is next to nothing in them.
    #[test]
    fn files_that_would_fill_the_disk_are_not_kept_a_second_time() {
        const FILE_BYTES: u64 = 16 << 20;
        let (folder, sides, checkpoints) = world();
        let upper = folder.path().join("session/upper");
        std::fs::create_dir_all(&upper).unwrap();
        for number in 0..CHANGES_HELD_MAX_BYTES / FILE_BYTES + 1 {
            let file = std::fs::File::create(upper.join(format!("{number}"))).unwrap();
            file.set_len(FILE_BYTES).unwrap();
        }
        let error = checkpoints.write(&sides).unwrap_err();
        assert!(error.to_string().contains("too much to be kept"), "{error}");
        assert!(checkpoints.numbers().unwrap().is_empty());
        assert!(checkpoints.contents().digests().unwrap().len() <= 1, "all of them are the same");
    }
}
