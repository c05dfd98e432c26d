//! What an overlay shows, read in the simplest way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    File(String),
    Link(PathBuf),
    Other,
}

/// Everything but folders, by path.
pub(super) type Tree = BTreeMap<PathBuf, Node>;

/// A folder, nothing hidden.
pub(super) fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    add(None, Some(folder), Path::new(""), &mut tree);
    tree
}

/// What shows through an upper folder from a lower one.
pub(super) fn merged(upper: &Path, lower: &Path) -> Tree {
    let mut tree = Tree::new();
    add(Some(upper), Some(lower), Path::new(""), &mut tree);
    tree
}

fn add(upper: Option<&Path>, lower: Option<&Path>, below: &Path, tree: &mut Tree) {
    let names = |folder: Option<&Path>| -> Vec<_> {
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).collect()
    };
    let mut all: Vec<_> = names(upper).into_iter().chain(names(lower)).collect();
    all.sort();
    all.dedup();
    for name in all {
        let path = below.join(&name);
        let at = |folder: Option<&Path>| {
            let place = folder?.join(&name);
            let kind = place.symlink_metadata().ok()?.file_type();
            Some((place, kind))
        };
        let (over, under) = (at(upper), at(lower));
        let under_folder = under.as_ref().filter(|(_, kind)| kind.is_dir()).map(|(place, _)| place.as_path());
        match (&over, &under) {
            (Some((_, kind)), _) if kind.is_char_device() => {}
            (Some((place, kind)), _) if kind.is_dir() => {
                add(Some(place), under_folder.filter(|_| !is_opaque(place)), &path, tree);
            }
            (None, Some((_, kind))) if kind.is_dir() => add(None, under_folder, &path, tree),
            (Some((place, kind)), _) | (None, Some((place, kind))) => {
                let node = if kind.is_symlink() {
                    Node::Link(fs::read_link(place).unwrap_or_default())
                } else if kind.is_file() {
                    Node::File(fs::read_to_string(place).unwrap_or_default())
                } else {
                    Node::Other
                };
                tree.insert(path, node);
            }
            (None, None) => {}
        }
    }
}

pub(super) fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 4];
    rustix::fs::getxattr(folder, "user.overlay.opaque", &mut value)
        .is_ok_and(|length| &value[..length] == b"y")
}
