//! What has to be put into the agent's view, and what was agreed on.

use super::*;
use crate::view::NoEditor;

pub(in crate::view) struct World {
    pub(in crate::view) folder: tempfile::TempDir,
    pub(in crate::view) sides: Sides,
}

impl World {
    pub(in crate::view) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        let sides = Self::open(folder.path());
        Self { folder, sides }
    }

    pub(in crate::view) fn open(folder: &Path) -> Sides {
        let root = WorkspaceRoot::open(&folder.join("workspace")).unwrap();
        Sides::open(&root, Arc::new(NoEditor), &folder.join("session")).unwrap()
    }

    pub(in crate::view) fn users(&self, path: &str, text: &str) {
        std::fs::write(self.folder.path().join("workspace").join(path), text).unwrap();
    }

    pub(in crate::view) fn capture(&mut self) {
        self.sides.capture(|_| false).unwrap();
    }
}

/// Marks a folder as the overlay does one that was made anew.
pub(in crate::view) fn hide_below(folder: &Path) {
    let no_flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(folder, "user.overlay.opaque", b"y", no_flags).unwrap();
}

pub(in crate::view) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

#[test]
fn what_the_user_changed_since_its_folder_was_removed_is_not_what_the_agent_removed() {
    let world = World::new();
    let [workspace, upper] = ["workspace", "session/upper"].map(|name| world.folder.path().join(name));
    for folder in ["made anew", "a file", "removed"] {
        std::fs::create_dir(workspace.join(folder)).unwrap();
        let [old, edited, new] = ["old", "edited", "new"].map(|name| format!("{folder}/{name}"));
        world.users(&old, "user's");
        world.users(&edited, "user's");
        match folder {
            "made anew" => {
                std::fs::create_dir_all(upper.join(folder)).unwrap();
                hide_below(&upper.join(folder));
            }
            "a file" => world.sides.upper.put(&path(folder), &Entry::file(b"agent's", 0o644)).unwrap(),
            _ => world.sides.upper.put(&path(folder), &Entry::Missing).unwrap(),
        }
        let hidden = world.sides.upper.cover(&path(&old)).unwrap().and_then(|cover| cover.since);
        // The clock of a disk goes in steps.
        while world.sides.user.changed(&path(&edited)).unwrap() <= hidden {
            world.users(&edited, "newer");
        }
        assert_eq!(world.sides.agreed(&path(&edited)).unwrap(), Agreed::Unknown, "{edited}");
        world.users(&new, "newer");
        let expected = if folder == "made anew" { Agreed::On(Entry::Missing) } else { Agreed::Unknown };
        assert_eq!(world.sides.agreed(&path(&new)).unwrap(), expected, "{new}");
        assert_eq!(world.sides.agreed(&path(&old)).unwrap(), Agreed::NotKept, "{old}");
    }
}

/// The server was killed in between.
#[test]
fn what_the_user_changed_after_a_call_whose_end_nobody_saw_is_not_what_the_agent_had() {
    let mut world = World::new();
    for name in ["edited", "old"] {
        world.users(name, "user's");
        world.sides.upper.put(&path(name), &Entry::file(b"agent's", 0o644)).unwrap();
    }
    let agents = world.sides.upper.changed(&path("edited")).unwrap();
    // The clock of a disk goes in steps.
    while world.sides.user.changed(&path("edited")).unwrap() <= agents {
        world.users("edited", "newer");
    }
    assert_eq!(world.sides.agreed(&path("edited")).unwrap(), Agreed::Unknown);
    world.capture();
    assert_eq!(world.sides.base.get(&path("edited")), Agreed::Unknown);
    assert_eq!(world.sides.base.get(&path("old")), Agreed::On(Entry::file(b"user's", 0o644)));
}

#[test]
fn what_the_user_changed_while_its_folder_was_made_anew_is_not_what_the_agent_removed() {
    let mut world = World::new();
    let [workspace, upper] = ["workspace", "session/upper"].map(|name| world.folder.path().join(name));
    std::fs::create_dir(workspace.join("d")).unwrap();
    world.users("d/edited", "user's");
    world.users("plain", "user's");
    std::fs::create_dir_all(upper.join("d")).unwrap();
    hide_below(&upper.join("d"));
    world.sides.lose_hidden(&[path("d/edited"), path("plain")]).unwrap();
    assert_eq!(world.sides.agreed(&path("d/edited")).unwrap(), Agreed::Unknown);
    assert_eq!(world.sides.agreed(&path("plain")).unwrap(), Agreed::NotKept);
}

#[test]
fn what_the_agent_made_and_removed_again_is_not_remembered_and_what_it_has_is() {
    let mut world = World::new();
    world.users("users.txt", "user's");
    world.sides.upper.put(&path("users.txt"), &Entry::Missing).unwrap();
    world.sides.upper.put(&path("stays.txt"), &Entry::file(b"agent's", 0o644)).unwrap();
    for number in 0..50 {
        let passing = path(&format!("passing-{number}"));
        world.sides.upper.put(&passing, &Entry::file(b"agent's", 0o644)).unwrap();
        world.capture();
        assert_eq!(world.sides.base.get(&passing), Agreed::On(Entry::Missing));
        world.sides.upper.forget(&passing).unwrap();
        world.capture();
    }
    for sides in [&world.sides, &World::open(world.folder.path())] {
        assert_eq!(sides.base.paths(), [path("stays.txt"), path("users.txt")]);
    }
    // A file that the user then makes under such a name is the user's.
    world.users("passing-1", "user's");
    assert_eq!(world.sides.agents(&path("passing-1")).unwrap(), InUpper::Untouched);
    let Plan::Push(pushes) = world.sides.plan(&[path("passing-1")]).unwrap() else {
        panic!("it is little");
    };
    assert_eq!(pushes.len(), 1);
    // And one that the agent then makes is made from the user's.
    world.sides.upper.put(&path("passing-1"), &Entry::file(b"agent's", 0o644)).unwrap();
    world.capture();
    let users = world.sides.user.entry(&path("passing-1")).unwrap();
    assert_eq!(world.sides.base.get(&path("passing-1")), Agreed::On(users));
}
