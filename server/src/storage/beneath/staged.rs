//! Changing what is below a folder: whatever is put there is made under another name first and takes its own in one step.

use super::{Facts, Folder, Kind, Node, system};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Component, Path};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Names in one folder that are looked at.
const NAMES_MAX: usize = 1 << 20;

/// Changing what is in a folder. Nothing is written through a link: whatever stands at a name is replaced.
impl Folder {
    /// Puts a file in the place of whatever file or link has this name, in one step: others see the old one or the new.
    pub fn replace_file(
        &self,
        name: &OsStr,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let staged = self.stage_file(name, &Temporary::new(), mode, write)?;
        staged.sync()?;
        staged.place()?.sync()
    }

    /// Puts a symbolic link in the place of whatever file or link has this name.
    pub fn replace_link(&self, name: &OsStr, target: &OsStr) -> io::Result<()> {
        self.stage_link(name, &Temporary::new(), target)?.place()?.sync()
    }

    /// Writes a file that is to have this name, without one. Who stages many can sync them all at once.
    pub fn stage_file(
        &self,
        name: &OsStr,
        temporary: &Temporary,
        mode: u32,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<Staged> {
        const PRIVATE: Mode = Mode::from_raw_mode(0o600);
        let mut staged = self.stage(name, temporary)?;
        let made = match system::make_unnamed(&self.handle, PRIVATE) {
            // Some disks can't, and some kernels.
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::ISDIR | Errno::NOENT) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                staged.has = Has::UnfinishedName;
                self.open_name(&temporary.unfinished(), flags, PRIVATE)
            }
            made => made,
        };
        let file = staged.file.insert(File::from(made?));
        write(file)?;
        self.own(&*file)?;
        system::set_mode(&*file, Mode::from_raw_mode(mode))?;
        Ok(staged)
    }

    /// The same for a symbolic link.
    pub fn stage_link(&self, name: &OsStr, temporary: &Temporary, target: &OsStr) -> io::Result<Staged> {
        let mut staged = self.stage(name, temporary)?;
        system::make_link(target, &self.handle, temporary.name())?;
        staged.has = Has::TemporaryName;
        Ok(staged)
    }

    fn stage(&self, name: &OsStr, temporary: &Temporary) -> io::Result<Staged> {
        let (name, temporary) = (name.to_owned(), temporary.clone());
        Ok(Staged { folder: self.again()?, temporary, name, file: None, has: Has::NoName })
    }

    /// Removes a file or a link; one that is not there is no error. It comes back after a power cut, unless the folder is
    /// synced.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        match system::remove(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the permission bits of a file.
    pub fn set_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        match self.node(name)? {
            Node::File(file) => {
                system::set_mode(&file, Mode::from_raw_mode(mode))?;
                file.sync_all()
            }
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "it is no file")),
        }
    }

    /// Makes what stands in an overlay's upper layer for something that was deleted.
    pub fn make_whiteout(&self, name: &OsStr) -> io::Result<()> {
        Ok(system::make_whiteout(&self.handle, name)?)
    }

    /// Removes a folder in which nothing is.
    pub fn remove_empty_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(system::remove(&self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder in which there are only folders, down to this depth. A file in it is an error.
    pub fn remove_empty_tree(&self, name: &OsStr, depth_max: usize) -> io::Result<()> {
        if let Node::Folder(folder) = self.node(name)?
            && depth_max > 0
        {
            for inner in folder.names(NAMES_MAX)? {
                folder.remove_empty_tree(&inner, depth_max - 1)?;
            }
        }
        self.remove_empty_folder(name)
    }

    /// Opens the folder at a relative path and makes what is missing of it. A link or a file on the way is an error.
    pub fn make_folders(&self, path: &Path) -> io::Result<Self> {
        self.make_folders_on(path, &mut |folder, made| if made { folder.sync() } else { Ok(()) })
    }

    /// The same for who syncs later: `passed` hears of each folder on the way, and whether one was made in it.
    pub fn make_folders_on(
        &self,
        path: &Path,
        passed: &mut impl FnMut(&Self, bool) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut folder = self.again()?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain path"));
            };
            folder = match folder.node(name)? {
                Node::Folder(inner) => passed(&folder, false).map(|()| inner)?,
                Node::Missing => {
                    let safe = folder.make_folder(name).and_then(|made| passed(&folder, true).map(|()| made));
                    if safe.is_err() {
                        // Or the next one to need it would take it for safe. One in which something is stays.
                        let _ = folder.remove_empty_folder(name);
                    }
                    safe?
                }
                _ => {
                    let why = format!("{} stands where a folder is needed", name.display());
                    return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
                }
            };
        }
        Ok(folder)
    }

    /// Makes a folder that only the user can look into. An existing one stays; anything else of that name is an error.
    pub(in crate::storage) fn make_private_folder(&self, name: &OsStr) -> io::Result<()> {
        match system::make_folder(&self.handle, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => match self.facts(name)?.map(|facts| facts.kind) {
                Some(Kind::Folder) => Ok(()),
                _ => Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{} is not a folder: remove it", name.display()),
                )),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn make_folder(&self, name: &OsStr) -> io::Result<Self> {
        match system::make_folder(&self.handle, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let made = self.open_name(name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        self.own(&made)?;
        Ok(self.inner(made))
    }

    /// As root, what we make belongs to whom this folder belongs to.
    fn own(&self, made: impl std::os::fd::AsFd) -> io::Result<()> {
        if rustix::process::geteuid().is_root() {
            let folder = system::facts_of(&self.handle)?;
            let (user, group) =
                (rustix::fs::Uid::from_raw(folder.st_uid), rustix::fs::Gid::from_raw(folder.st_gid));
            system::give(made, user, group)?;
        }
        Ok(())
    }
}

/// A name that something has until it takes its own, or after it had that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Temporary(String);

impl Temporary {
    /// One that nothing has.
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        // A process id is used again.
        static BEGAN: LazyLock<u128> =
            LazyLock::new(|| UNIX_EPOCH.elapsed().map(|since| since.as_micros()).unwrap_or_default());
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Self(format!(".airlock-{}-{:x}-{number}.tmp", std::process::id(), *BEGAN))
    }

    /// What was made under it is whole.
    pub fn name(&self) -> &OsStr {
        self.0.as_ref()
    }

    /// What is being written, on a disk that makes no files without a name. Nothing else ever has this name.
    pub fn unfinished(&self) -> OsString {
        Path::new(&self.0).with_extension("new").into_os_string()
    }
}

/// Whether somebody expects this at a name.
type Expects<'a> = &'a dyn Fn(Node) -> io::Result<bool>;

/// A file or a link that doesn't have its name yet. It takes that in one step; dropped before, it goes.
#[derive(Debug)]
pub struct Staged {
    folder: Folder,
    temporary: Temporary,
    name: OsString,
    file: Option<File>,
    has: Has,
}

/// What a staged file has for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    NoName,
    UnfinishedName,
    TemporaryName,
    /// It has its own, and what had that before may have the temporary one.
    ItsName,
}

impl Staged {
    /// Where it is.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Makes its content survive a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_all)
    }

    /// Gives it its name, whatever file or link had that. The folder that comes back is not synced yet.
    pub fn place(mut self) -> io::Result<Folder> {
        self.take_temporary_name()?;
        self.rename(RenameFlags::empty())?;
        self.folder.again()
    }

    /// Gives it its name, which nothing has.
    pub fn place_new(mut self) -> io::Result<Folder> {
        match (&self.file, self.has) {
            (Some(file), Has::NoName) => {
                system::name_unnamed(file, &self.folder.handle, &self.name).map_err(or_changed)?;
                self.has = Has::ItsName;
            }
            _ => {
                self.take_temporary_name()?;
                self.folder.rename_new(&self.temporary, &self.name).map_err(or_changed)?;
                self.has = Has::ItsName;
            }
        }
        self.folder.again()
    }

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
            Err(Errno::NOENT) => Err(folder.put_back(&temporary, &self.name)),
            Err(error) => Err(error.into()),
            Ok(()) if folder.is(temporary.name(), ours) => {
                self.has = Has::TemporaryName;
                Err(changed())
            }
            // There was a second save, which is the newer one.
            Ok(()) => {
                self.rename(RenameFlags::EXCHANGE)?;
                Err(folder.put_back(&temporary, &self.name))
            }
        }
    }

    /// Gives it a name beside its own. Gives what to tell.
    fn keep_beside(mut self) -> io::Error {
        if let Err(error) = self.take_temporary_name() {
            return error;
        }
        let folder = match self.folder.again() {
            Ok(folder) => folder,
            Err(error) => return error,
        };
        self.has = Has::ItsName;
        beside(&self.name, |to| folder.rename_new(&self.temporary, to))
    }

    fn take_temporary_name(&mut self) -> io::Result<()> {
        let (folder, name) = (&self.folder.handle, self.temporary.name());
        match (self.has, &self.file) {
            (Has::NoName, Some(file)) => system::name_unnamed(file, folder, name)?,
            (Has::UnfinishedName, _) => {
                system::rename(folder, &self.temporary.unfinished(), folder, name, RenameFlags::empty())?;
            }
            _ => {}
        }
        self.has = Has::TemporaryName;
        Ok(())
    }

    /// From the temporary name to its own.
    fn rename(&mut self, flags: RenameFlags) -> rustix::io::Result<()> {
        let here = &self.folder.handle;
        system::rename(here, self.temporary.name(), here, &self.name, flags)?;
        self.has = Has::ItsName;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let name = match self.has {
            Has::NoName | Has::ItsName => return,
            Has::UnfinishedName => self.temporary.unfinished(),
            Has::TemporaryName => self.temporary.name().to_owned(),
        };
        let _ = system::remove(&self.folder.handle, &name, AtFlags::empty());
    }
}

/// Taking away what somebody may save at the same time.
impl Folder {
    /// Removes the file or link of this name, if `expected` knows it. Anything else keeps it. One that is gone is no error.
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
            false => Err(self.put_back(temporary, name)),
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
        let kept =
            self.stage_file(name, &Temporary::new(), mode, |copy| io::copy(&mut file, copy).map(drop))?;
        kept.sync()?;
        Err(kept.keep_beside())
    }

    /// Gives what has a temporary name this one, or another one beside it where that is taken. Gives what to tell.
    pub fn put_back(&self, temporary: &Temporary, name: &OsStr) -> io::Error {
        let rename = |to: &OsStr| self.rename_new(temporary, to);
        match rename(name) {
            Ok(()) => changed(),
            Err(Errno::EXIST) => beside(name, rename),
            Err(error) => error.into(),
        }
    }

    /// Gives what has a temporary name another one, which nothing has.
    fn rename_new(&self, temporary: &Temporary, to: &OsStr) -> rustix::io::Result<()> {
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
fn beside(name: &OsStr, rename: impl Fn(&OsStr) -> rustix::io::Result<()>) -> io::Error {
    for number in 1..=KEPT_MAX {
        let mut kept = name.to_owned();
        kept.push(format!(".kept-{number}"));
        match rename(&kept) {
            Ok(()) => {
                let why = format!(
                    "it was saved in this very moment, and what was saved is kept as {}",
                    kept.display()
                );
                return io::Error::other(why);
            }
            Err(Errno::EXIST) => {}
            Err(error) => return error.into(),
        }
    }
    io::Error::other("it was saved in this very moment")
}

/// Names that are tried for what is kept.
const KEPT_MAX: usize = 100;

/// What a disk answers that can't rename in this way.
fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

fn or_changed(error: Errno) -> io::Error {
    match error {
        Errno::EXIST | Errno::NOENT => changed(),
        error => error.into(),
    }
}

/// What to tell where somebody else was quicker.
pub fn changed() -> io::Error {
    io::Error::other("it was changed in this very moment: look at it again")
}
