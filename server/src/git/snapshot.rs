//! What accepted paths hold on the disk now, as git stores it. No link is followed and no filter is run.

use crate::limits::GIT_FILE_MAX_BYTES;
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Node, read_bounded};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// What is at a path.
pub(super) enum Found {
    /// Nothing that git would keep: it is deleted.
    Nothing,
    /// A file.
    File { bytes: Vec<u8>, is_executable: bool },
    /// A link and what it says.
    Link(Vec<u8>),
    /// Something that cannot be committed, and why.
    Unfit(String),
}

/// Looks at a path.
pub(super) fn look(workspace: &Folder, path: &WorkspacePath) -> io::Result<Found> {
    let Some((folder, name)) = workspace.parent_of(path.as_path())? else {
        return Ok(Found::Nothing);
    };
    for above in path.ancestors() {
        if !matches!(workspace.node_at(&above.as_path().join(".git"))?, Node::Missing) {
            return Ok(Found::Unfit(format!("{above} is a repository of its own: commit it there")));
        }
    }
    Ok(match folder.node(name)? {
        // The files in it are paths of their own.
        Node::Missing | Node::Folder(_) => Found::Nothing,
        Node::Link(target) => Found::Link(target.as_bytes().to_vec()),
        Node::Other => Found::Unfit("it is no file".to_owned()),
        Node::File(file) => {
            let is_executable = file.metadata()?.mode() & 0o100 != 0;
            match read_bounded(file, GIT_FILE_MAX_BYTES) {
                Ok(bytes) => Found::File { bytes, is_executable },
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Found::Unfit(format!(
                    "it is larger than {} MiB: commit it yourself",
                    GIT_FILE_MAX_BYTES >> 20
                )),
                Err(error) => return Err(error),
            }
        }
    })
}
