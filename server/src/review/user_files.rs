//! Writes what was accepted into the user's files, beneath the workspace's own folder handle and through no link.

use crate::limits::VIEW_FOLDERS_MAX_DEPTH;
use crate::paths::WorkspacePath;
use crate::storage::beneath::Folder;
use crate::view::{Content, Entry, FileEntry, InUpper, Upper, UserSide};
use std::io::{self, Write};

/// Gives a path of the workspace this state, if it still has the one that was looked at. `upper` holds what is too large
/// for memory.
pub(super) fn put(
    user: &UserSide,
    path: &WorkspacePath,
    seen: &Entry,
    wanted: &Entry,
    upper: &Upper,
) -> io::Result<()> {
    if user.entry(path)? != *seen {
        return Err(io::Error::other("it was changed in this very moment: look at it again"));
    }
    let root = Folder::open(user.root().as_host())?;
    let name = path.as_path().file_name().ok_or_else(|| io::Error::other("it has no name"))?;
    let parent = path.as_path().parent().unwrap_or(path.as_path());
    if *wanted == Entry::Missing {
        return remove(&root, path);
    }
    let folder = root.make_folders(parent)?;
    if *seen == Entry::Folder {
        // Only if no file is in it: their end has to be accepted first.
        folder.remove_empty_tree(name, VIEW_FOLDERS_MAX_DEPTH)?;
    }
    match wanted {
        Entry::Link(target) => folder.replace_link(name, target),
        Entry::File(FileEntry { content: Content::Whole(bytes), mode }) => {
            folder.replace_file(name, *mode, |file| file.write_all(bytes))
        }
        Entry::File(FileEntry { content: Content::Large { bytes, .. }, mode }) => {
            let mut source = upper.file(path)?;
            folder.replace_file(name, *mode, |file| match io::copy(&mut source, file)? {
                copied if copied == *bytes => Ok(()),
                _ => Err(io::Error::other("it was changed while it was copied: look at it again")),
            })
        }
        Entry::Missing | Entry::Folder | Entry::Other => {
            Err(io::Error::other("it is neither a file nor a link"))
        }
    }
}

fn remove(root: &Folder, path: &WorkspacePath) -> io::Result<()> {
    let Some((folder, name)) = root.parent_of(path.as_path())? else {
        return Ok(());
    };
    folder.remove_file(name)
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
