//! The paths at which the two sides may differ: what the upper folder mentions, and what that hides.
//!
//! The cost grows with what was changed, not with the workspace.

use super::protected::{Protection, protection};
use crate::limits::{CHANGES_MAX, VIEW_FOLDERS_MAX_DEPTH, VIEW_PATHS_MAX_BYTES};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Kind, Node};
use crate::storage::confined::check_wanted;
use crate::view::{Mention, Sides, Unreadable};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Where to look.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Each once, sorted.
    pub paths: BTreeSet<WorkspacePath>,
    /// Names that are no UTF-8, as they look.
    pub unnameable: Vec<String>,
    /// Folders that cannot be looked into.
    pub unreadable: Vec<Unreadable>,
    /// There were too many to look at them all.
    pub cut: bool,
    /// What the paths take that were found in folders of the user's.
    path_bytes: usize,
}

/// The paths at which a session's two sides may differ. What is git's own is not among them.
pub(super) fn candidates(sides: &Sides) -> io::Result<Candidates> {
    let Sides { user, upper, base, .. } = sides;
    let mentions = upper.mentions(CHANGES_MAX)?;
    let mut found = Candidates {
        unnameable: mentions.unnameable,
        unreadable: mentions.unreadable,
        cut: mentions.cut,
        ..Candidates::default()
    };
    let root = Folder::open(user.root().as_host())?;
    for mention in mentions.all {
        check_wanted()?;
        if protection(&mention.path) == Protection::Never {
            continue;
        }
        let users = match user.kind(&mention.path) {
            Ok(users) => users,
            // Who looks at it gets the same error, and tells it.
            Err(_) => {
                found.paths.insert(mention.path);
                continue;
            }
        };
        let hides_a_folder = match mention.kind {
            Kind::Folder => mention.opaque,
            _ => users == Some(Kind::Folder),
        };
        if hides_a_folder {
            files_below(&root, &mention.path, &mut found)?;
        }
        if is_of_interest(&mention, users) {
            found.paths.insert(mention.path);
        }
    }
    let removed = base.paths().into_iter().filter(|path| base.had_something(path));
    found.paths.extend(removed.filter(|path| protection(path) != Protection::Never));
    Ok(found)
}

/// A folder is of interest only where the user has something else.
fn is_of_interest(mention: &Mention, users: Option<Kind>) -> bool {
    match mention.kind {
        Kind::Folder => !matches!(users, Some(Kind::Folder) | None),
        Kind::Other => false,
        _ => true,
    }
}

/// Adds all files and links of the user's below a folder.
fn files_below(root: &Folder, below: &WorkspacePath, found: &mut Candidates) -> io::Result<()> {
    let walked = match root.parent_of(below.as_path())? {
        Some((parent, name)) => match parent.node(name) {
            Ok(Node::Folder(folder)) => walk(&folder, below.as_path(), 0, found),
            other => other.map(drop),
        },
        None => Ok(()),
    };
    tell(below, walked, found)
}

fn walk(folder: &Folder, below: &Path, depth: usize, found: &mut Candidates) -> io::Result<()> {
    let (names, is_cut) = folder.some_names(CHANGES_MAX.saturating_sub(found.paths.len()))?;
    found.cut |= is_cut;
    for name in names {
        check_wanted()?;
        let place = below.join(&name);
        found.path_bytes += place.as_os_str().len();
        let is_too_much = found.paths.len() >= CHANGES_MAX
            || found.path_bytes > VIEW_PATHS_MAX_BYTES
            || depth == VIEW_FOLDERS_MAX_DEPTH;
        if is_too_much {
            found.cut = true;
            return Ok(());
        }
        let Some(path) = WorkspacePath::found(&place) else {
            found.unnameable.push(place.to_string_lossy().into_owned());
            continue;
        };
        if protection(&path) == Protection::Never {
            continue;
        }
        let walked = match folder.node(&name) {
            Ok(Node::Folder(inner)) => walk(&inner, &place, depth + 1, found),
            Ok(Node::Missing | Node::Other) => Ok(()),
            Ok(Node::File(_) | Node::Link(_)) => {
                found.paths.insert(path);
                continue;
            }
            Err(error) => Err(error),
        };
        tell(&path, walked, found)?;
    }
    Ok(())
}

/// A folder that cannot be looked into hides no other.
fn tell(path: &WorkspacePath, walked: io::Result<()>, found: &mut Candidates) -> io::Result<()> {
    if let Err(error) = walked {
        found.unreadable.push(Unreadable::by(path, error)?);
    }
    Ok(())
}
