//! Puts into the sandbox what the workspace has now, and tells where it does not look like that.
//!
//! A link is never followed here: it is replaced by what the workspace has in its place.

#![expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]

use super::text_file;
use crate::words::{Answer, Expected, ExpectedKind};
use rustix::fs::Access;
use rustix::io::Errno;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn file(path: &Path, content: &[u8], mode: u32, modified_ns: Option<i64>) -> io::Result<Answer> {
    make_room(path)?;
    let modified =
        modified_ns.and_then(|ns| u64::try_from(ns).ok()).map(|ns| UNIX_EPOCH + Duration::from_nanos(ns));
    text_file::place(path, content, Some(mode), modified)?;
    done("put")
}

pub(super) fn link(path: &Path, target: &str) -> io::Result<Answer> {
    remove(path)?;
    make_parents(path)?;
    std::os::unix::fs::symlink(target, path)?;
    done("put")
}

pub(super) fn folder(path: &Path) -> io::Result<Answer> {
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        remove(path)?;
        std::fs::create_dir_all(path)?;
    }
    done("put")
}

pub(super) fn remove(path: &Path) -> io::Result<Answer> {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => done("removed"),
    }
}

/// Those that do not look as expected. A handle that the overlay holds and the disk below it has forgotten is an error:
/// nothing that is put there mends it.
pub(super) fn stale(workspace: &Path, expected: Vec<Expected>) -> io::Result<Answer> {
    let mut paths = Vec::new();
    for Expected { path, kind } in expected {
        let here = workspace.join(&path);
        if let Err(error) = here.symlink_metadata()
            && error.raw_os_error() == Some(Errno::STALE.raw_os_error())
        {
            return Err(error);
        }
        if !looks_like(&here, &kind) {
            paths.push(path);
        }
    }
    Ok(Answer::Stale { paths })
}

fn looks_like(path: &Path, kind: &ExpectedKind) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return *kind == ExpectedKind::Missing;
    };
    match kind {
        ExpectedKind::Missing => false,
        ExpectedKind::Folder => metadata.is_dir(),
        ExpectedKind::Link { target } => std::fs::read_link(path).is_ok_and(|says| says == Path::new(target)),
        ExpectedKind::File { bytes, modified_ns, mode } => {
            let modified =
                metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
            metadata.is_file()
                && metadata.len() == *bytes
                && modified == *modified_ns
                && metadata.mode() & 0o777 == *mode
                && allows(path, Access::READ_OK) == (mode & 0o400 != 0)
                && allows(path, Access::EXEC_OK) == (mode & 0o100 != 0)
        }
    }
}

/// An overlay tells the new permissions of a file below it and still goes by the old ones.
fn allows(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

/// The workspace may have a file now where the sandbox has a folder.
fn make_room(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        remove(path)?;
    }
    make_parents(path)
}

fn make_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

fn done(note: &str) -> io::Result<Answer> {
    Ok(Answer::Done { note: note.to_owned() })
}
