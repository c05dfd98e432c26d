//! Changing what is below a folder: whatever is put there is made under another name first and takes its own in one step.

use super::exchange::or_changed;
use super::{Folder, Kind, Node, system};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
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
                staged.has = Has::Unfinished;
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
        staged.has = Has::Temporary;
        Ok(staged)
    }

    fn stage(&self, name: &OsStr, temporary: &Temporary) -> io::Result<Staged> {
        let (name, temporary) = (name.to_owned(), temporary.clone());
        Ok(Staged { folder: self.again()?, temporary, name, file: None, has: Has::Nothing })
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
#[serde(try_from = "String")]
pub struct Temporary(String);

impl TryFrom<String> for Temporary {
    type Error = &'static str;

    /// Only a name that we could have made.
    fn try_from(name: String) -> Result<Self, Self::Error> {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let parts: Option<Vec<&str>> = name
            .strip_prefix(".airlock-")
            .and_then(|rest| rest.strip_suffix(".tmp"))
            .map(|numbers| numbers.split('-').collect());
        match parts {
            Some(parts) if parts.len() == 3 && parts.iter().all(|part| number(part)) => Ok(Self(name)),
            _ => Err("it isn't a temporary name"),
        }
    }
}

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

/// A file or a link that doesn't have its name yet. It takes that in one step; dropped before, it goes.
#[derive(Debug)]
pub struct Staged {
    pub(super) folder: Folder,
    pub(super) temporary: Temporary,
    pub(super) name: OsString,
    file: Option<File>,
    pub(super) has: Has,
}

/// The name that a staged file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Has {
    Nothing,
    Unfinished,
    Temporary,
    /// It has its own, and what had that before may have the temporary one.
    Own,
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
            (Some(file), Has::Nothing) => {
                system::name_unnamed(file, &self.folder.handle, &self.name).map_err(or_changed)?;
                self.has = Has::Own;
            }
            _ => {
                self.take_temporary_name()?;
                self.folder.rename_new(&self.temporary, &self.name).map_err(or_changed)?;
                self.has = Has::Own;
            }
        }
        self.folder.again()
    }

    pub(super) fn take_temporary_name(&mut self) -> io::Result<()> {
        let (folder, name) = (&self.folder.handle, self.temporary.name());
        match (self.has, &self.file) {
            (Has::Nothing, Some(file)) => system::name_unnamed(file, folder, name)?,
            (Has::Unfinished, _) => {
                system::rename(folder, &self.temporary.unfinished(), folder, name, RenameFlags::empty())?;
            }
            _ => {}
        }
        self.has = Has::Temporary;
        Ok(())
    }

    /// From the temporary name to its own.
    pub(super) fn rename(&mut self, flags: RenameFlags) -> rustix::io::Result<()> {
        let here = &self.folder.handle;
        system::rename(here, self.temporary.name(), here, &self.name, flags)?;
        self.has = Has::Own;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let name = match self.has {
            Has::Nothing | Has::Own => return,
            Has::Unfinished => self.temporary.unfinished(),
            Has::Temporary => self.temporary.name().to_owned(),
        };
        let _ = system::remove(&self.folder.handle, &name, AtFlags::empty());
    }
}
