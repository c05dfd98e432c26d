//! The disk: the one module that touches it for the server's own files.
//!
//! What it writes is on the disk when it says so: a new file is synced before it takes its name, an appended
//! line is synced before the call returns.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Reads a text file of at most `limit_bytes`; `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn read_text(path: &Path, limit_bytes: usize) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit_bytes as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit_bytes {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("larger than {limit_bytes} bytes"),
        ));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"))
}

/// Replaces a file as a whole: readers see the old content or the new, never a torn one.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no parent folder"))?;
    make_private_folder(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(content)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Makes a folder that only the user can look into, with its parents.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
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
#[expect(clippy::disallowed_methods, reason = "this module owns the disk")]
pub fn names_with_suffix(folder: &Path, suffix: &str) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Some(name) = entry?.file_name().to_str().filter(|name| name.ends_with(suffix)) {
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
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "every name for it is taken",
    ))
}
