//! Links, and where they lead.

use super::{Protection, protection};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::Folder;
use crate::view::Entry;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Names and links on the way to where a link leads. The kernel follows 40 links.
const STEPS_MAX: usize = 256;

/// Whether it is a link out of the workspace, or to something that is protected.
pub(in crate::review) fn leads_astray(path: &WorkspacePath, entry: &Entry) -> bool {
    let Entry::Link(target) = entry else {
        return false;
    };
    let mut place = path.as_path().parent().unwrap_or(Path::new("")).to_owned();
    let mut is_below = false;
    for component in Path::new(target).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                place.push(name);
                is_below = true;
            }
            // Behind a name it says nothing: that name may be a link, too.
            Component::ParentDir if !is_below && place.pop() => {}
            _ => return true,
        }
    }
    WorkspacePath::found(&place).is_none_or(|place| protection(&place) != Protection::None)
}

/// The way that a path takes through the workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Each link on it.
    pub(super) links: Vec<PathBuf>,
    /// Where it ends; `None` when it leads out of the workspace or in a circle.
    pub(super) end: Option<PathBuf>,
}

impl Way {
    /// The way of a path. What leads out of the workspace isn't followed.
    pub(super) fn of(path: &Path, workspace: &WorkspaceRoot, folder: &Folder) -> Self {
        let (mut way, mut place, mut waiting) = (Self::default(), PathBuf::new(), names_of(path));
        for _ in 0..STEPS_MAX {
            let Some(name) = waiting.pop() else {
                way.end = Some(place);
                break;
            };
            if name == ".." {
                if !place.pop() {
                    break;
                }
                continue;
            }
            place.push(name);
            let Some(target) = link_at(folder, &place) else { continue };
            way.links.push(place.clone());
            place.pop();
            let mut target = Path::new(&target);
            if target.is_absolute() {
                let Ok(inside) = target.strip_prefix(workspace.as_host()) else { break };
                (place, target) = (PathBuf::new(), inside);
            }
            waiting.extend(names_of(target));
        }
        way
    }

    /// All places on it.
    pub(super) fn places(self) -> impl Iterator<Item = PathBuf> {
        self.links.into_iter().chain(self.end)
    }
}

/// The names in a path, the last first.
fn names_of(path: &Path) -> Vec<OsString> {
    let names = path.components().filter(|component| *component != Component::CurDir);
    names.rev().map(|component| component.as_os_str().to_owned()).collect()
}

/// What the link at a place says. What can't be looked at is taken for none: nothing is read through it here.
pub(super) fn link_at(folder: &Folder, place: &Path) -> Option<OsString> {
    let (parent, name) = folder.parent_of(place).ok()??;
    parent.link(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_leads_astray_when_it_may_end_outside_or_ends_at_something_protected() {
        let astray = |path: &str, target: &str| {
            leads_astray(&WorkspacePath::parse(path).unwrap(), &Entry::Link(target.into()))
        };
        for (path, target) in [
            ("l", "/etc"),
            ("l", ".."),
            ("a/l", "../.."),
            ("dist", "p/q/l/../../.bashrc.d"),
            ("a/b/l", "../x/../../y"),
            ("dist", ".git/hooks"),
            ("dist", ".git"),
            ("a/b", "../.VSCode"),
            ("x", "./.envrc"),
            ("x", "~/y"),
        ] {
            assert!(astray(path, target), "{path} -> {target}");
        }
        for (path, target) in [
            ("l", "a"),
            ("l", "./a/b"),
            ("a/l", ".."),
            ("p/q/l", "../.."),
            ("p/q/l", "../../src/x"),
            ("l", "."),
        ] {
            assert!(!astray(path, target), "{path} -> {target}");
        }
    }

    #[test]
    fn a_way_through_links_ends_in_the_workspace_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let workspace = WorkspaceRoot::open(root.path()).unwrap();
        let inside = workspace.as_host().join("env/absolute").display().to_string();
        for (target, link) in [
            ("conf", ".vscode"),
            ("./editor/", "conf"),
            ("env/../env/dev.sh", ".envrc"),
            (&inside, ".env"),
            ("../out", ".idea"),
            ("/etc", ".zed"),
            (".husky", ".husky"),
        ] {
            symlink(target, root.path().join(link)).unwrap();
        }
        let folder = Folder::open(workspace.as_host()).unwrap();
        let places = |path: &str| -> Vec<String> {
            let places = Way::of(Path::new(path), &workspace, &folder).places();
            places.map(|place| place.display().to_string()).collect()
        };
        assert_eq!(places(".vscode/tasks.json"), [".vscode", "conf", "editor/tasks.json"]);
        assert_eq!(places(".envrc"), [".envrc", "env/dev.sh"]);
        assert_eq!(places(".env"), [".env", "env/absolute"]);
        assert_eq!(places("plain/x"), ["plain/x"]);
        assert_eq!(places(".idea/x"), [".idea"]);
        assert_eq!(places(".zed"), [".zed"]);
        assert_eq!(Way::of(Path::new(".husky"), &workspace, &folder).end, None);
    }
}
