//! Text files as the tools see them.

use crate::words::FILE_MAX_BYTES;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

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
    let file = File::open(path)?;
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
pub(super) fn replace(path: &Path, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // A link is written through, as every editor does: what it leads to is in the sandbox as well.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let kept = mode.or(std::fs::metadata(&target).ok().map(|metadata| metadata.permissions().mode()));
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".airlock-{}-{number}.tmp", std::process::id()));
    let written = std::fs::write(&temporary, content)
        .and_then(|()| {
            kept.map_or(Ok(()), |mode| {
                std::fs::set_permissions(&temporary, PermissionsExt::from_mode(mode & 0o7777))
            })
        })
        .and_then(|()| std::fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
