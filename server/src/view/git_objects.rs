//! Objects that git stored lately. They never change, so nobody watches them, and an overlay shows the new ones; but not
//! where somebody inside looked before and found no folder. Git looks at all of these folders now and then.

use crate::limits::CHANGED_PATHS_MAX;
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Kind, Node};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The disk's clock may be behind.
const CLOCK_OFF_MAX: Duration = Duration::from_secs(5);
/// Names in a folder with objects.
const NAMES_MAX: usize = 1 << 16;

/// Those of a repository of the user's. `None`: too many to bring them in one by one.
pub(super) fn objects_since(
    workspace: &Folder,
    own: &WorkspacePath,
    since: SystemTime,
) -> io::Result<Option<Vec<WorkspacePath>>> {
    let since = since - CLOCK_OFF_MAX;
    let store = own.as_path().join("objects");
    let Node::Folder(objects) = workspace.node_at(&store)? else { return Ok(Some(Vec::new())) };
    let mut found = Vec::new();
    for folder in objects.names(NAMES_MAX)? {
        if !is_new(&objects, &folder, Kind::Folder, since)? {
            continue;
        }
        let Node::Folder(inner) = objects.node(&folder)? else { continue };
        for name in inner.names(NAMES_MAX)? {
            // One that is being written has another name.
            if name.as_encoded_bytes().starts_with(b"tmp_") || !is_new(&inner, &name, Kind::File, since)? {
                continue;
            }
            if found.len() == CHANGED_PATHS_MAX {
                return Ok(None);
            }
            found.extend(WorkspacePath::found(&store.join(Path::new(&folder)).join(&name)));
        }
    }
    Ok(Some(found))
}

fn is_new(folder: &Folder, name: &OsStr, kind: Kind, since: SystemTime) -> io::Result<bool> {
    Ok(folder.facts(name)?.is_some_and(|facts| facts.kind == kind && facts.changed >= since))
}
