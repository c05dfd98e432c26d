//! The disk: the one module that touches it for the server's own files.
//!
//! What it writes is on the disk when it says so: a new file is synced before it takes its name, an appended
//! line is synced before the call returns.

mod agent_tree;
pub mod beneath;
pub mod confined;

pub use agent_tree::AgentTree;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Reads a text file of at most `limit_bytes`; `None` when there is none.
pub fn read_text(path: &Path, limit_bytes: usize) -> io::Result<Option<String>> {
    let bytes = read_bytes(path, limit_bytes)?;
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text");
    bytes.map(|bytes| String::from_utf8(bytes).map_err(not_text)).transpose()
}

/// Replaces a file as a whole: readers see the old content or the new, never a torn one.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder =
        path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no parent folder"))?;
    make_private_folder(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Makes a folder that only the user can look into, with its parents. A power cut takes none of them away.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let sync = |folder: &&Path| folder.parent().map_or(Ok(()), sync_folder);
    let synced = missing.iter().try_for_each(sync);
    if synced.is_err() {
        // Or the next one to need them would take them for safe.
        let _ = missing.iter().try_for_each(|folder| remove_empty_folder(folder));
    }
    synced
}

/// Makes a folder that everybody may look into, with its parents: for what the sandbox sees.
pub fn make_open_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// Writes a file that everybody may read, with this mode.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn write_open(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    std::fs::write(path, content)?;
    set_mode(path, mode)
}

/// Writes a file that only the user can read. After a power cut it may be torn: whoever reads it must notice.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(content)
}

/// Sets permission bits.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Makes a symbolic link.
pub fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Makes a folder with its content such that it is there whole or not at all, also when two do it at once.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn make_folder_whole(path: &Path, build: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let parent =
        path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no parent folder"))?;
    make_private_folder(parent)?;
    let temporary = tempfile::Builder::new().prefix(".making-").tempdir_in(parent)?;
    let inside = temporary.path().join("made");
    make_open_folder(&inside)?;
    build(&inside)?;
    match std::fs::rename(&inside, path) {
        // Somebody else was quicker, with the same content.
        Err(_) if path.is_dir() => Ok(()),
        renamed => renamed,
    }
}

/// Removes a folder in which nothing is.
pub fn remove_empty_folder(path: &Path) -> io::Result<()> {
    std::fs::remove_dir(path)
}

/// What the user may still write to the disk that a folder is on.
pub fn free_mib(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize) >> 20)
}

/// How many files the user may still make on the disk that a folder is on; `None` where nothing bounds that.
pub fn free_files(folder: &Path) -> io::Result<Option<u64>> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok((disk.f_files > 0).then_some(disk.f_favail))
}

/// The kind of disk that a folder is on, as the kernel numbers them.
pub fn disk_kind(folder: &Path) -> io::Result<u32> {
    // The numbers have 32 bits; how wide the field is differs from machine to machine.
    Ok(rustix::fs::statfs(folder)?.f_type as u32)
}

/// Whether nothing is in a folder.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn is_empty_folder(path: &Path) -> io::Result<bool> {
    Ok(std::fs::read_dir(path)?.next().is_none())
}

/// Whether a file with something in it is at a path or below it. No link is followed.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn holds_content(path: &Path) -> io::Result<bool> {
    let metadata = path.symlink_metadata()?;
    if !metadata.is_dir() {
        return Ok(metadata.len() > 0);
    }
    for entry in std::fs::read_dir(path)? {
        if holds_content(&entry?.path())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes whatever is at a path, with all that is in it, also where somebody took away the right to look into it. A
/// link is removed and not followed. What is not there is no error.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    let parent = path.parent().zip(path.file_name());
    let (parent, name) = parent.ok_or_else(|| io::Error::new(InvalidInput, "it has no name"))?;
    match beneath::Folder::open(parent) {
        // Nothing is below what is no folder.
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(()),
        folder => folder?.remove_tree_confined(name),
    }
}

/// Opens a file that only the user can read, to append to; `create_new` fails where it is there already.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn open_private(path: &Path, create_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600);
    if create_new {
        options.create_new(true);
    }
    options.open(path)
}

/// The names in a folder that end with `suffix`, sorted; none when there is no such folder.
pub fn names_with_suffix(folder: &Path, suffix: &str) -> io::Result<Vec<String>> {
    names(folder, |name| name.ends_with(suffix))
}

/// The names in a folder that begin with `prefix`, sorted; none when there is no such folder.
pub fn names_with_prefix(folder: &Path, prefix: &str) -> io::Result<Vec<String>> {
    names(folder, |name| name.starts_with(prefix))
}

#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Some(name) = entry?.file_name().to_str().filter(|name| wanted(name)) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Removes a file; one that is not there is no error.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads a file of at most `limit_bytes`; `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn read_bytes(path: &Path, limit_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    match File::open(path) {
        Ok(file) => beneath::read_bounded(file, limit_bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same for a file that somebody else put there: what is no plain file is an error, and a pipe is not waited for.
pub fn read_bytes_of_file(path: &Path, limit_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, rustix::fs::Mode::empty()) {
        Ok(handle) => File::from(handle),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    beneath::read_bounded(file, limit_bytes).map(Some)
}

/// Makes names in a folder survive a power cut.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Gives a file a second name that is not taken yet: `stem-1.ext`, `stem-2.ext`, …
pub fn keep_under_another_name(path: &Path) -> io::Result<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    for number in 1..=crate::limits::HISTORY_NAME_SUFFIX_MAX {
        let other = path.with_file_name(format!("{stem}-{number}.{extension}"));
        match std::fs::hard_link(path, &other) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|()| other),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "every name for it is taken"))
}

/// Renames a file; one that had the new name is kept under a third.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn put_aside(path: &Path, aside: &Path) -> io::Result<()> {
    if aside.symlink_metadata().is_ok() {
        keep_under_another_name(aside)?;
    }
    std::fs::rename(path, aside)
}

/// Waits until no other process holds this lock file, and holds it until the file that comes back is dropped.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn lock(path: &Path, wait_max_ms: u64) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let deadline = Instant::now() + Duration::from_millis(wait_max_ms);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            // `File::lock` would wait for ever on a holder that was stopped.
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another airlock process holds it"));
            }
        }
    }
}

/// A folder of the user's own and the folders in it, links followed, down to `depth_max`: the paths of its files,
/// relative to it and sorted. More than `files_max` of them, or a deeper folder, are an error.
pub fn files_below(folder: &Path, depth_max: usize, files_max: usize) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
    let mut waiting = vec![(PathBuf::new(), 0)];
    while let Some((below, depth)) = waiting.pop() {
        let Some(entries) = entries_once(&folder.join(&below), &mut seen)? else {
            continue;
        };
        for name in entries {
            let path = below.join(name);
            // A link to nowhere, or what went away meanwhile, is no file.
            let Ok(metadata) = folder.join(&path).metadata() else {
                continue;
            };
            if metadata.is_dir() && depth == depth_max {
                return Err(io::Error::other(format!(
                    "{} is deeper than {depth_max} folders",
                    path.display()
                )));
            } else if metadata.is_dir() {
                waiting.push((path, depth + 1));
            } else if metadata.is_file() && files.len() == files_max {
                return Err(io::Error::other(format!("more than {files_max} files")));
            } else if metadata.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The names in a folder that exists and was not seen yet, under whatever name: links may go in circles.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
fn entries_once(folder: &Path, seen: &mut BTreeSet<PathBuf>) -> io::Result<Option<Vec<std::ffi::OsString>>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !seen.insert(folder.canonicalize()?) {
        return Ok(None);
    }
    entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        replace(&folder.path().join("a/x.md"), b"").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/again")).unwrap();
        assert_eq!(files_below(folder.path(), 4, 9).unwrap(), [Path::new("a/x.md")]);
        assert!(files_below(folder.path(), 0, 9).is_err());
        assert!(files_below(folder.path(), 4, 0).is_err());
        assert!(files_below(&folder.path().join("none"), 4, 9).unwrap().is_empty());
    }

    #[test]
    fn a_tree_goes_whatever_its_modes_are_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, kept) = (folder.path().join("tree"), folder.path().join("kept"));
        replace(&kept.join("file"), b"x").unwrap();
        replace(&tree.join("closed/inner/file"), b"x").unwrap();
        link(&kept, &tree.join("closed/link")).unwrap();
        set_mode(&tree.join("closed/inner"), 0o000).unwrap();
        set_mode(&tree.join("closed"), 0o500).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && kept.join("file").exists());
        remove_tree(&tree).unwrap();
    }

    #[test]
    fn a_tree_goes_however_deep_it_is() {
        const DEPTH: usize = 3_000;
        let folder = tempfile::tempdir().unwrap();
        let mut deepest = beneath::Folder::open(folder.path()).unwrap();
        for depth in 0..DEPTH {
            deepest = deepest.make_folders(Path::new("d")).unwrap();
            if depth % 500 == 0 {
                deepest.replace_link(std::ffi::OsStr::new("file"), "/".as_ref()).unwrap();
            }
        }
        remove_tree(&folder.path().join("d")).unwrap();
        assert!(is_empty_folder(folder.path()).unwrap());
    }

    #[test]
    fn a_lock_that_is_held_is_waited_for_only_so_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path, 0).unwrap();
        assert_eq!(lock(&path, 0).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(held);
        assert!(lock(&path, 0).is_ok());
    }

    #[test]
    fn what_is_put_aside_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("t.json"), folder.path().join("t.json.broken"));
        for content in ["one", "two"] {
            replace(&path, content.as_bytes()).unwrap();
            put_aside(&path, &aside).unwrap();
        }
        assert_eq!(read_text(&aside, 9).unwrap().unwrap(), "two");
        let older = folder.path().join("t.json-1.broken");
        assert_eq!(read_text(&older, 9).unwrap().unwrap(), "one");
    }
}
