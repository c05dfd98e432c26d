//! Links, and where they lead.

use super::{Protection, protection};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage::beneath::Folder;
use crate::view::Entry;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Names in the workspace's own folder.
const NAMES_MAX: usize = 1 << 20;
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

/// Where the user's own protected names lead, as `.vscode` to a folder `editor`. What is there runs as if it had that name.
pub(in crate::review) struct Linked(Vec<PathBuf>);

impl Linked {
    /// Looks at the names in the workspace's own folder. What leads out of it is not followed.
    pub(in crate::review) fn of(workspace: &WorkspaceRoot) -> io::Result<Self> {
        let folder = Folder::open(workspace.as_host())?;
        let mut linked = Self(Vec::new());
        for name in folder.names(NAMES_MAX)? {
            let path = WorkspacePath::found(Path::new(&name));
            let is_protected = path.is_some_and(|path| protection(&path) != Protection::None);
            if is_protected && folder.link(&name).is_ok() {
                linked.follow(workspace.as_host(), &folder, name);
            }
        }
        Ok(linked)
    }

    /// Whether a change at this path is one of what runs.
    pub(in crate::review) fn has(&self, path: &WorkspacePath) -> bool {
        let path = path.as_path();
        self.0.iter().any(|place| path.starts_with(place) || place.starts_with(path))
    }

    /// Keeps each link on the way from a name, and where it ends.
    fn follow(&mut self, root: &Path, folder: &Folder, name: OsString) {
        let (mut place, mut waiting) = (PathBuf::new(), vec![name]);
        for _ in 0..STEPS_MAX {
            let Some(name) = waiting.pop() else {
                self.0.push(place);
                return;
            };
            if name == ".." {
                if !place.pop() {
                    return;
                }
                continue;
            }
            place.push(name);
            let Some(target) = link_at(folder, &place) else { continue };
            self.0.push(place.clone());
            place.pop();
            let mut target = Path::new(&target);
            if target.is_absolute() {
                let Ok(inside) = target.strip_prefix(root) else { return };
                (place, target) = (PathBuf::new(), inside);
            }
            let names = target.components().filter(|component| *component != Component::CurDir);
            waiting.extend(names.rev().map(|component| component.as_os_str().to_owned()));
        }
    }
}

/// What the link at a place says. What cannot be looked at is taken for none: nothing is read through it here.
fn link_at(folder: &Folder, place: &Path) -> Option<OsString> {
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
    fn what_a_protected_name_leads_to_is_known_and_what_leads_out_or_in_a_circle_is_not_followed() {
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
            ("plain", "also-plain"),
        ] {
            symlink(target, root.path().join(link)).unwrap();
        }
        let linked = Linked::of(&workspace).unwrap();
        let has = |path: &str| linked.has(&WorkspacePath::parse(path).unwrap());
        for path in ["conf", "editor", "editor/tasks.json", "env/dev.sh", "env/absolute", "env"] {
            assert!(has(path), "{path}");
        }
        for path in ["plain", "env/other", "editors", "out", "etc"] {
            assert!(!has(path), "{path}");
        }
    }
}
