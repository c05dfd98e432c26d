//! Where a plugin is: a folder of the user's own, or of a trusted workspace.

use super::manifest::{COMPONENT, MANIFEST};
use crate::limits::{PLUGIN_FILE_MAX_BYTES, PLUGIN_MANIFEST_MAX_BYTES};
use crate::storage;
use crate::storage::beneath::Folder;
use crate::trust::{Digest, TrustedWorkspace};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A plugin's folder.
#[derive(Clone, Debug)]
pub enum Place {
    /// Of the user's own.
    User(PathBuf),
    /// Of a workspace that the user trusts, by its path there. Only bytes that were trusted come out of it.
    Workspace(TrustedWorkspace, String),
}

/// When a plugin's files were changed, as far as the disk tells: another stamp means that they may be others.
pub(super) type Stamp = [Option<(u64, i64, u64, i64)>; 2];

impl Place {
    /// The folder on this machine.
    pub fn folder(&self) -> PathBuf {
        match self {
            Self::User(folder) => folder.clone(),
            Self::Workspace(workspace, path) => workspace.root().as_host().join(path),
        }
    }

    /// Whether it is a workspace's.
    pub fn is_workspaces(&self) -> bool {
        matches!(self, Self::Workspace(..))
    }

    /// The digests of its files that were trusted; `None` where that is not asked for.
    pub(super) fn trusted(&self) -> Option<[Option<&Digest>; 2]> {
        match self {
            Self::User(_) => None,
            Self::Workspace(workspace, path) => {
                Some([COMPONENT, MANIFEST].map(|name| workspace.digest(&format!("{path}/{name}"))))
            }
        }
    }

    /// The text of `plugin.toml`.
    pub(super) fn manifest(&self) -> Result<String, String> {
        let read = match self {
            Self::User(folder) => {
                storage::read_bytes_of_file(&folder.join(MANIFEST), PLUGIN_MANIFEST_MAX_BYTES)
                    .map_err(|error| error.to_string())?
            }
            Self::Workspace(workspace, path) => workspace
                .read_bytes(&format!("{path}/{MANIFEST}"), PLUGIN_MANIFEST_MAX_BYTES)
                .map_err(|problem| problem.to_string())?,
        };
        let bytes = read.ok_or("it is not there: a plugin has one beside its component")?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
    }

    /// The bytes of the component.
    pub(super) fn component(&self) -> Result<Vec<u8>, String> {
        let read = match self {
            Self::User(folder) => storage::read_bytes_of_file(&folder.join(COMPONENT), PLUGIN_FILE_MAX_BYTES)
                .map_err(|error| error.to_string())?,
            Self::Workspace(workspace, path) => workspace
                .read_bytes(&format!("{path}/{COMPONENT}"), PLUGIN_FILE_MAX_BYTES)
                .map_err(|problem| problem.to_string())?,
        };
        read.ok_or_else(|| "it is not there: build the plugin".to_owned())
    }

    /// What the disk tells of its files.
    pub(super) fn stamp(&self) -> Stamp {
        stamp(&self.folder())
    }
}

pub(super) fn stamp(folder: &Path) -> Stamp {
    let facts = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        let file = folder.join(name).metadata().ok()?;
        let changed = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        let (modified, status) =
            (changed(file.mtime(), file.mtime_nsec()), changed(file.ctime(), file.ctime_nsec()));
        Some((file.len(), modified, file.ino(), status))
    };
    [facts(COMPONENT), facts(MANIFEST)]
}

/// The folders in a folder of plugins, sorted.
pub(super) fn folders(plugins: &Path, folders_max: usize) -> Result<Vec<PathBuf>, String> {
    let wrong =
        |error: std::io::Error| format!("{} cannot be searched for plugins: {error}", plugins.display());
    let folder = match Folder::open(plugins) {
        Ok(folder) => folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(wrong(error)),
    };
    let mut names = folder.names(folders_max).map_err(wrong)?;
    names.sort();
    let is_plugin = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".") && plugins.join(name).is_dir();
    Ok(names.iter().filter(|name| is_plugin(name)).map(|name| plugins.join(name)).collect())
}
