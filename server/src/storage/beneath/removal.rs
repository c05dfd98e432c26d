//! Removing a tree that somebody else arranged: no link is followed, however deep it is and whatever its modes are.
//!
//! A tree of any depth takes one handle and no recursion: a folder that isn't empty is moved up to the top first, so
//! nothing is ever deeper than one level below it.

use super::super::confined;
use super::{Folder, Node, system};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;

/// Names that are read at once. What's left is read in the next round.
const NAMES_AT_ONCE: usize = 1 << 12;

impl Folder {
    /// Removes whatever has this name, with everything in it. A missing name is no error.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        self.remove_tree_by(name, Self::clear)
    }

    /// The same, on a thread that can touch nothing but that tree.
    pub(in crate::storage) fn remove_tree_confined(&self, name: &OsStr) -> io::Result<()> {
        self.remove_tree_by(name, |top| confined::within(top.handle.as_fd(), || top.clear()))
    }

    fn remove_tree_by(&self, name: &OsStr, clear: impl FnOnce(&Self) -> io::Result<()>) -> io::Result<()> {
        if self.remove_simple(name)? {
            return Ok(());
        }
        match self.with_rights(name)? {
            Some(top) => clear(&top).and_then(|()| self.remove_empty_folder(name)),
            None => self.remove_file(name),
        }
    }

    /// Removes everything in this folder.
    fn clear(&self) -> io::Result<()> {
        let mut moved = 0;
        loop {
            let names = self.first_names(NAMES_AT_ONCE)?;
            if names.is_empty() {
                return Ok(());
            }
            for name in names {
                if !self.remove_simple(&name)? {
                    self.flatten(&name, &mut moved)?;
                }
            }
        }
    }

    /// Removes a file, a link or an empty folder; `false` for a folder that isn't empty.
    fn remove_simple(&self, name: &OsStr) -> io::Result<bool> {
        match system::remove(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => return Ok(true),
            // The kernel has two answers for a folder.
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        match system::remove(&self.handle, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what's in one folder of this one, or moves it here.
    fn flatten(&self, name: &OsStr, moved: &mut u64) -> io::Result<()> {
        let Some(inner) = self.with_rights(name)? else { return Ok(()) };
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
                drop(inner.with_rights(&deeper)?);
                let to = self.free_name(moved)?;
                match system::rename(&inner.handle, &deeper, &self.handle, &to, RenameFlags::NOREPLACE) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    // Older kernels let a confined thread move nothing. What is deeper than handles go stays then.
                    Err(Errno::XDEV) => inner.remove_tree(&deeper)?,
                    Err(error) => return Err(error.into()),
                }
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

    /// Opens a folder with all rights of its owner, which somebody may have taken away. `None` when it isn't a folder.
    pub(in crate::storage) fn with_rights(&self, name: &OsStr) -> io::Result<Option<Self>> {
        const OWNERS: u32 = 0o700;
        // A folder that is closed to us can be opened only as a place.
        let place = match self.open_name(name, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()) {
            Ok(place) => place,
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mode = system::facts_of(&place)?.st_mode & 0o7777;
        if mode & OWNERS != OWNERS {
            system::set_mode_of_path(place.as_fd(), Mode::from_raw_mode(mode | OWNERS))?;
        }
        match self.node(name)? {
            Node::Folder(folder) => Ok(Some(folder)),
            _ => Ok(None),
        }
    }
}
