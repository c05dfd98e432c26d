//! Removing a tree that somebody else arranged: no link is followed, however deep it is and whatever its modes are.
//!
//! A tree of any depth takes one handle and no recursion: a folder that isn't empty is moved up to the top first, so
//! nothing is ever deeper than one level below it.

use super::{Folder, Node};
use rustix::fs::{AtFlags, Mode, OFlags, chmod, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Names that are read at once. What's left is read in the next round.
const NAMES_AT_ONCE: usize = 1 << 12;

impl Folder {
    /// Removes whatever has this name, with everything in it. A missing name is no error.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        if self.remove_simple(name)? {
            return Ok(());
        }
        let Some(top) = self.opened_for_removal(name)? else { return self.remove_file(name) };
        let mut moved = 0;
        loop {
            let names = top.first_names(NAMES_AT_ONCE)?;
            if names.is_empty() {
                return self.remove_empty_folder(name);
            }
            for inner in names {
                if !top.remove_simple(&inner)? {
                    top.flatten(&inner, &mut moved)?;
                }
            }
        }
    }

    /// Removes a file, a link or an empty folder; `false` for a folder that isn't empty.
    fn remove_simple(&self, name: &OsStr) -> io::Result<bool> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => return Ok(true),
            // The kernel has two answers for a folder.
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        match unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what's in one folder of this one, or moves it here.
    fn flatten(&self, name: &OsStr, moved: &mut u64) -> io::Result<()> {
        let Some(inner) = self.opened_for_removal(name)? else { return Ok(()) };
        loop {
            let names = inner.first_names(NAMES_AT_ONCE)?;
            if names.is_empty() {
                return self.remove_simple(name).map(drop);
            }
            for deeper in names {
                if inner.remove_simple(&deeper)? {
                    continue;
                }
                // Moving a folder needs the right to write to it.
                drop(inner.opened_for_removal(&deeper)?);
                let to = self.free_name(moved)?;
                renameat(&inner.0, &deeper, &self.0, &to)?;
            }
        }
    }

    /// A name that nothing has here.
    fn free_name(&self, tried: &mut u64) -> io::Result<OsString> {
        loop {
            *tried += 1;
            let name = OsString::from(format!(".airlock-removed-{tried}"));
            if self.facts(&name)?.is_none() {
                return Ok(name);
            }
        }
    }

    /// Opens a folder with all rights of its owner, which somebody may have taken away. `None` when it's no folder.
    fn opened_for_removal(&self, name: &OsStr) -> io::Result<Option<Self>> {
        const OWNERS: u32 = 0o700;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        give_rights(&handle, OWNERS)?;
        match self.node(name)? {
            Node::Folder(folder) => Ok(Some(folder)),
            _ => Ok(None),
        }
    }
}

/// Adds rights to a folder that can't be opened for want of them.
fn give_rights(handle: &OwnedFd, rights: u32) -> io::Result<()> {
    let mode = rustix::fs::fstat(handle)?.st_mode & 0o7777;
    if mode & rights == rights {
        return Ok(());
    }
    // The kernel's own name of this very handle: no name in the tree is looked up again.
    Ok(chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode | rights))?)
}
