//! Changing what somebody may save at the same time: what they saved is never removed.

use super::staged::{Has, Staged, Temporary};
use super::{Facts, Folder, Node, system};
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::{self, Seek};

/// Whether somebody expects this at a name.
type Expects<'a> = &'a dyn Fn(Node) -> io::Result<bool>;

impl Staged {
    /// Gives it its name and removes what had that, if `expected` knows it. Anything else is somebody's who saved in this
    /// very moment: it gets its name back. `ours` knows what was staged, so that nothing but that is removed then.
    pub fn place_over(mut self, expected: Expects<'_>, ours: Expects<'_>) -> io::Result<Folder> {
        self.take_temporary_name()?;
        match self.rename(RenameFlags::EXCHANGE) {
            // The disk can't do that.
            Err(error) if is_unknown(error) => {
                self.rename(RenameFlags::empty())?;
                return self.folder.again();
            }
            exchanged => exchanged.map_err(or_changed)?,
        }
        let (folder, temporary) = (self.folder.again()?, self.temporary.clone());
        if folder.remove_if(&temporary, &self.name, expected)? {
            return Ok(folder);
        }
        match self.rename(RenameFlags::EXCHANGE) {
            // Ours was removed meanwhile.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
            Ok(()) if folder.remove_if(&temporary, &self.name, ours)? => return Err(changed()),
            // There was a second save, which is the newer one.
            Ok(()) => self.rename(RenameFlags::EXCHANGE)?,
        }
        Err(io::Error::other(folder.put_back(&temporary, &self.name)?))
    }

    /// Gives it a name beside its own. Gives what to tell.
    fn keep_beside(mut self) -> io::Result<String> {
        self.take_temporary_name()?;
        self.has = Has::Own;
        beside(&self.name, |to| self.folder.rename_new(&self.temporary, to))
    }
}

/// Taking away what somebody may save at the same time.
impl Folder {
    /// Removes the file or link of this name, if `expected` knows it. Anything else keeps it. A missing one isn't an error.
    pub fn remove_expected(
        &self,
        name: &OsStr,
        temporary: &Temporary,
        expected: Expects<'_>,
    ) -> io::Result<()> {
        match system::rename(&self.handle, name, &self.handle, temporary.name(), RenameFlags::empty()) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        match self.remove_if(temporary, name, expected)? {
            true => Ok(()),
            false => Err(io::Error::other(self.put_back(temporary, name)?)),
        }
    }

    /// Removes what has a temporary name, if `expected` knows it; whether it did. What is written to it in this very moment
    /// is kept beside `name`, which is the error.
    fn remove_if(&self, temporary: &Temporary, name: &OsStr, expected: Expects<'_>) -> io::Result<bool> {
        let held = match self.node(temporary.name()) {
            Ok(Node::File(file)) => Some(file),
            _ => None,
        };
        let is_expected = match &held {
            Some(file) => expected(Node::File(file.try_clone()?)).unwrap_or(false),
            None => self.is(temporary.name(), expected),
        };
        if !is_expected {
            return Ok(false);
        }
        // Where that fails, it is tried again with all that is left.
        let _ = self.remove_file(temporary.name());
        let Some(mut file) = held else { return Ok(true) };
        file.rewind()?;
        if expected(Node::File(file.try_clone()?))? {
            return Ok(true);
        }
        file.rewind()?;
        let mode = Facts::of(&system::facts_of(&file)?).mode;
        let kept = self.stage_file(name, temporary, mode, |copy| io::copy(&mut file, copy).map(drop))?;
        kept.sync()?;
        Err(io::Error::other(kept.keep_beside()?))
    }

    /// Gives what has a temporary name this one, or another one beside it where that is taken. Gives what to tell.
    pub fn put_back(&self, temporary: &Temporary, name: &OsStr) -> io::Result<String> {
        let rename = |to: &OsStr| self.rename_new(temporary, to);
        match rename(name) {
            Ok(()) => Ok(CHANGED.to_owned()),
            Err(Errno::EXIST) => beside(name, rename),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives what has a temporary name another one, which nothing has.
    pub(super) fn rename_new(&self, temporary: &Temporary, to: &OsStr) -> rustix::io::Result<()> {
        let here = &self.handle;
        let rename = |flags| system::rename(here, temporary.name(), here, to, flags);
        match rename(RenameFlags::NOREPLACE) {
            // The disk can't do that.
            Err(error) if is_unknown(error) => match self.facts(to) {
                Ok(None) => rename(RenameFlags::empty()),
                _ => Err(Errno::EXIST),
            },
            renamed => renamed,
        }
    }

    /// What cannot be read is nothing that anybody expects.
    fn is(&self, name: &OsStr, expected: Expects<'_>) -> bool {
        self.node(name).and_then(expected).unwrap_or(false)
    }
}

/// Gives something a name beside another one. Gives what to tell.
fn beside(name: &OsStr, rename: impl Fn(&OsStr) -> rustix::io::Result<()>) -> io::Result<String> {
    const NAME_MAX_BYTES: usize = 255;
    for number in 1..=KEPT_MAX {
        let end = format!(".kept-{number}");
        let mut kept = name.to_owned();
        if kept.len() + end.len() > NAME_MAX_BYTES {
            let text = name.to_string_lossy();
            kept = text[..text.floor_char_boundary(NAME_MAX_BYTES - end.len())].into();
        }
        kept.push(end);
        match rename(&kept) {
            Ok(()) => {
                let kept = kept.display();
                return Ok(format!("it was saved in this very moment, and what was saved is kept as {kept}"));
            }
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("it was saved in this very moment, and every name for what was saved is taken"))
}

/// Names that are tried for what is kept.
const KEPT_MAX: usize = 100;

/// What a disk answers that can't rename in this way.
fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

pub(super) fn or_changed(error: Errno) -> io::Error {
    match error {
        Errno::EXIST | Errno::NOENT => changed(),
        error => error.into(),
    }
}

/// What to tell where somebody else was quicker.
pub fn changed() -> io::Error {
    io::Error::other(CHANGED)
}

const CHANGED: &str = "it was changed in this very moment: look at it again";
