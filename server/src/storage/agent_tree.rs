//! Folders in which the agent arranges things: the upper folder of its view, what the overlay keeps beside that, its home.
//!
//! Architecture invariant: a path of such a tree leaves this module only for podman, which mounts it. Everything else goes
//! through a [`Folder`], which opens each name beneath a handle. So nothing that the agent puts there leads the host
//! elsewhere, and there is no way to forget that.

use super::beneath::Folder;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// One such folder. It need not exist.
#[derive(Clone, Debug)]
pub struct AgentTree {
    /// Airlock's own folder, which the agent can't reach.
    parent: PathBuf,
    name: OsString,
}

impl AgentTree {
    /// The folder of this name in a folder of Airlock's own.
    pub fn new(parent: &Path, name: impl Into<OsString>) -> Self {
        Self { parent: parent.to_owned(), name: name.into() }
    }

    /// Makes the folder, if it doesn't exist, such that only the user can look into it.
    pub fn make(&self) -> io::Result<()> {
        super::make_private_folder(&self.parent)?;
        let parent = self.parent()?;
        parent.make_private_folder(&self.name)?;
        parent.sync()
    }

    /// Opens the folder; `None` when it doesn't exist. The agent may have closed it with all its content. Its permissions
    /// aren't a change to be reviewed, so it is opened again.
    pub fn open(&self) -> io::Result<Option<Folder>> {
        match self.parent() {
            Ok(parent) => parent.with_rights(&self.name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the folder is empty or doesn't exist.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.open()?.map_or(Ok(true), |folder| folder.is_empty())
    }

    /// Removes the folder with everything in it.
    pub fn remove(&self) -> io::Result<()> {
        match self.parent() {
            Ok(parent) => parent.remove_tree_confined(&self.name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Its path, for podman alone: to mount it, or to remove what belongs to an id that only podman has.
    pub fn for_podman(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    fn parent(&self) -> io::Result<Folder> {
        Folder::open(&self.parent).map(Folder::on_one_disk)
    }
}
