//! The system calls on trees that somebody else may rearrange at any moment, all through one function.
//!
//! Architecture invariant: every call names one entry of one open folder. A name is opened with `openat2`, which refuses to
//! leave the folder by any kind of link. So no call here can act on anything that is not directly in the folder whose
//! handle it was given, whatever others do between two calls.

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, ResolveFlags, Stat, StatxFlags, StatxTimestamp, Uid,
    XattrFlags,
};
use rustix::io::{Errno, Result};
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

/// Somebody else, who acts before each system call.
#[derive(Clone)]
pub(in crate::storage) struct Disturber(Arc<Mutex<dyn FnMut() + Send>>);

thread_local! {
    static DISTURBER: RefCell<Option<Disturber>> = const { RefCell::new(None) };
}

/// Does this work while somebody else acts before each of its system calls, also those of threads that work for it: for
/// tests. The kernel confines none of these threads, so what a test sees is the care of the code.
pub fn disturbed<T>(by: impl FnMut() + Send + 'static, work: impl FnOnce() -> T) -> T {
    Disturber::over(Some(Disturber(Arc::new(Mutex::new(by)))), work)
}

impl Disturber {
    /// Who disturbs this thread.
    pub(in crate::storage) fn here() -> Option<Self> {
        DISTURBER.with_borrow(Clone::clone)
    }

    /// Does this work under it.
    pub(in crate::storage) fn over<T>(disturber: Option<Self>, work: impl FnOnce() -> T) -> T {
        struct Back(Option<Disturber>);
        impl Drop for Back {
            fn drop(&mut self) {
                DISTURBER.set(self.0.take());
            }
        }
        let _back = Back(DISTURBER.replace(disturber));
        work()
    }
}

/// The one function.
fn call<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    if let Some(disturber) = Disturber::here() {
        // Whoever acts may call us, and isn't disturbed by itself.
        Disturber::over(None, || (disturber.0.lock().unwrap_or_else(PoisonError::into_inner))());
    }
    run()
}

/// A name of one entry, and no path.
fn one(name: &OsStr) -> Result<CString> {
    let bytes = name.as_bytes();
    if matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/') {
        return Err(Errno::INVAL);
    }
    CString::new(bytes).map_err(|_| Errno::INVAL)
}

/// Opens one entry of a folder. No link is followed. `one_disk` refuses what is mounted there.
pub(super) fn open(
    folder: &OwnedFd,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
    one_disk: bool,
) -> Result<OwnedFd> {
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    resolve.set(ResolveFlags::NO_XDEV, one_disk);
    let name = one(name)?;
    call(|| rustix::fs::openat2(folder, &name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode, resolve))
}

/// Makes a file in a folder that has no name there.
pub(super) fn make_unnamed(folder: &OwnedFd, mode: Mode) -> Result<OwnedFd> {
    call(|| rustix::fs::openat(folder, c".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode))
}

/// Gives such a file a name that nothing has.
pub(super) fn name_unnamed(file: impl AsFd, folder: &OwnedFd, name: &OsStr) -> Result<()> {
    let name = one(name)?;
    let file = own_name(file.as_fd());
    call(|| rustix::fs::linkat(rustix::fs::CWD, &file, folder, &name, AtFlags::SYMLINK_FOLLOW))
}

/// A second handle that reads the folder's names from the first on.
pub(super) fn entries(folder: &OwnedFd) -> Result<rustix::fs::Dir> {
    call(|| rustix::fs::Dir::read_from(folder))
}

pub(super) fn stat(folder: &OwnedFd, name: &OsStr) -> Result<Stat> {
    let name = one(name)?;
    call(|| rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW))
}

pub(super) fn born(folder: &OwnedFd, name: &OsStr) -> Result<Option<StatxTimestamp>> {
    let name = one(name)?;
    let statx = call(|| rustix::fs::statx(folder, &name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME))?;
    Ok((statx.stx_mask & StatxFlags::BTIME.bits() != 0).then_some(statx.stx_btime))
}

pub(super) fn link_target(folder: &OwnedFd, name: &OsStr) -> Result<CString> {
    let name = one(name)?;
    call(|| rustix::fs::readlinkat(folder, &name, Vec::new()))
}

pub(super) fn make_folder(folder: &OwnedFd, name: &OsStr, mode: Mode) -> Result<()> {
    let name = one(name)?;
    call(|| rustix::fs::mkdirat(folder, &name, mode))
}

pub(super) fn make_link(target: &OsStr, folder: &OwnedFd, name: &OsStr) -> Result<()> {
    let name = one(name)?;
    call(|| rustix::fs::symlinkat(target, folder, &name))
}

/// What stands in an overlay's upper layer for something that was deleted.
pub(super) fn make_whiteout(folder: &OwnedFd, name: &OsStr) -> Result<()> {
    let name = one(name)?;
    call(|| rustix::fs::mknodat(folder, &name, FileType::CharacterDevice, Mode::empty(), 0))
}

/// Removes an entry that is no folder, or with `REMOVEDIR` an empty folder.
pub(super) fn remove(folder: &OwnedFd, name: &OsStr, flags: AtFlags) -> Result<()> {
    let name = one(name)?;
    call(|| rustix::fs::unlinkat(folder, &name, flags))
}

pub(super) fn rename(
    from: &OwnedFd,
    old: &OsStr,
    to: &OwnedFd,
    new: &OsStr,
    flags: RenameFlags,
) -> Result<()> {
    let (old, new) = (one(old)?, one(new)?);
    call(|| rustix::fs::renameat_with(from, &old, to, &new, flags))
}

// What follows acts on a handle alone: there is no name that could lead elsewhere.

pub(super) fn facts_of(handle: impl AsFd) -> Result<Stat> {
    call(|| rustix::fs::fstat(handle.as_fd()))
}

pub(super) fn set_mode(handle: impl AsFd, mode: Mode) -> Result<()> {
    call(|| rustix::fs::fchmod(handle.as_fd(), mode))
}

/// The same for a handle that was opened with `O_PATH`, as one of a folder that is closed to us must be.
pub(super) fn set_mode_of_path(handle: BorrowedFd<'_>, mode: Mode) -> Result<()> {
    call(|| rustix::fs::chmod(own_name(handle), mode))
}

/// The kernel's own name of this very handle: no name in the tree is looked up again.
fn own_name(handle: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

pub(super) fn give(handle: impl AsFd, user: Uid, group: Gid) -> Result<()> {
    call(|| rustix::fs::fchown(handle.as_fd(), Some(user), Some(group)))
}

pub(super) fn sync(handle: impl AsFd) -> Result<()> {
    call(|| rustix::fs::fsync(handle.as_fd()))
}

pub(super) fn attribute(handle: impl AsFd, name: &CStr, value: &mut [u8]) -> Result<usize> {
    call(|| rustix::fs::fgetxattr(handle.as_fd(), name, value))
}

pub(super) fn set_attribute(handle: impl AsFd, name: &CStr, value: &[u8]) -> Result<()> {
    call(|| rustix::fs::fsetxattr(handle.as_fd(), name, value, XattrFlags::empty()))
}

pub(super) fn remove_attribute(handle: impl AsFd, name: &CStr) -> Result<()> {
    call(|| rustix::fs::fremovexattr(handle.as_fd(), name))
}
