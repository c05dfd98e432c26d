//! Checkpoints: what the agent's view was before a turn, so that the turn can be undone, commands included.
//!
//! Files that the agent made and git ignores are build output: they are neither kept nor undone.

use super::candidates::candidates;
use super::change::rebased;
use super::ignored::Ignored;
use crate::limits::{CHECKPOINTS_MAX, VIEW_MENTIONS_MAX};
use crate::paths::WorkspacePath;
use crate::storage;
use crate::storage::beneath::Kind;
use crate::view::{Agreed, Base, Entry, HeldView, InUpper, Sides};
use std::collections::BTreeSet;
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
        for number in numbers.iter().rev().skip(CHECKPOINTS_MAX - 1) {
            storage::remove_tree(&self.folder(*number))?;
        }
        let number = numbers.last().map_or(1, |last| last + 1);
        let (mut view, mut base) = self.open(number)?;
        for path in paths(sides)? {
            if let InUpper::Is(entry) = sides.agents(&path)? {
                view.agree(&path, &entry)?;
                match sides.base.get(&path) {
                    Agreed::On(entry) => base.agree(&path, &entry)?,
                    Agreed::Unknown => base.lose(&path)?,
                    Agreed::NotKept => {}
                }
            }
        }
        // Whole only now: one that was cut off is not there.
        storage::replace(&self.folder(number).join("whole"), b"")
    }

    fn plan(&self, sides: &Sides, number: u64) -> io::Result<Vec<Restored>> {
        let (view, base) = self.open(number)?;
        let mut all = paths(sides)?;
        all.extend(view.paths());
        let (mut goes, mut comes) = (Vec::new(), Vec::new());
        for path in all {
            let user = sides.user.entry(&path)?;
            let (entry, agreed) = match view.get(&path) {
                Agreed::On(kept) if view.keeps(&path) => {
                    let agreed = base.get(&path);
                    let entry = rebased(&agreed, &user, &kept);
                    let moved = entry != kept;
                    (entry, if moved { Agreed::On(user.clone()) } else { agreed })
                }
                // It was as the user has it.
                _ => (user.clone(), Agreed::On(user.clone())),
            };
            let now = match sides.agents(&path)? {
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
        let (folder, contents) = (self.folder(number), self.0.join("content"));
        Ok((
            Base::open_with(&folder.join("view"), contents.clone())?,
            Base::open_with(&folder.join("base"), contents)?,
        ))
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

/// All paths at which the agent's view differs from the user's side, its folders too.
fn paths(sides: &Sides) -> io::Result<BTreeSet<WorkspacePath>> {
    let mut ignored = Ignored::of(sides.user.root());
    let mut paths = candidates(sides)?.paths;
    let mentions = sides.upper.mentions(VIEW_MENTIONS_MAX)?;
    paths.extend(
        mentions.all.into_iter().filter(|mention| mention.kind != Kind::Other).map(|mention| mention.path),
    );
    let mut kept = BTreeSet::new();
    for path in paths {
        if !ignored.is_ignored(&path) || sides.user.entry(&path)? != Entry::Missing {
            kept.insert(path);
        }
    }
    Ok(kept)
}
