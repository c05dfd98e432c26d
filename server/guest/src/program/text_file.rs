//! Text files as the tools see them.

use crate::words::FILE_MAX_BYTES;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Names temporary files apart.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// A file's content.
pub(super) enum Content {
    Text(String),
    Binary(Vec<u8>),
}

/// Reads a whole file, within the limit.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
pub(super) fn read(path: &Path) -> io::Result<Content> {
    // Or a pipe would be waited for until somebody writes to it.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_MAX_BYTES {
        return Err(io::Error::other(format!(
            "it is larger than {FILE_MAX_BYTES} bytes; look at parts of it with bash"
        )));
    }
    // A zero byte is what no text has and every binary format soon does.
    let binary = bytes.iter().take(8 << 10).any(|byte| *byte == 0);
    match String::from_utf8(bytes) {
        Ok(text) if !binary => Ok(Content::Text(text)),
        Ok(text) => Ok(Content::Binary(text.into_bytes())),
        Err(error) => Ok(Content::Binary(error.into_bytes())),
    }
}

/// Replaces a file as a whole, its permissions kept; the folders above it are made.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // A link is written through, as every editor does: what it leads to is in the sandbox as well.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let kept = std::fs::metadata(&target).ok().map(|metadata| metadata.permissions().mode());
    place(&target, content, kept, None)
}

/// Puts a file in the place of whatever file or link is there, in one step.
#[expect(clippy::disallowed_methods, reason = "the guest has no storage layer; the sandbox is its wall")]
pub(super) fn place(
    path: &Path,
    content: &[u8],
    mode: Option<u32>,
    modified: Option<SystemTime>,
) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".airlock-{}-{number}.tmp", std::process::id()));
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(content)?;
        if let Some(mode) = mode {
            file.set_permissions(PermissionsExt::from_mode(mode & 0o7777))?;
        }
        if let Some(modified) = modified {
            file.set_modified(modified)?;
        }
        std::fs::rename(&temporary, path)
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
