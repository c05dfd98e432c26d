//! Takes out of a view that nothing has mounted what a new mount shows by itself.

use super::base::Agreed;
use super::entry::{Content, Entry, FileEntry};
use super::freshness::Sides;
use super::upper::InUpper;
use crate::limits::{VIEW_FOLDERS_MAX_DEPTH, VIEW_MENTIONS_MAX, VIEW_UNCOVER_NAMES_MAX};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Kind, Node};
use std::io;
use std::path::Path;

impl Sides {
    /// Takes out of the upper folder what is there only because it was put: a new mount shows the workspace itself.
    /// What the agent removed without a trace gets one, or a new mount would bring it back.
    /// Only while nothing has it mounted.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        // A new mount shows what is on the disk: what stands unsaved in an editor has to be put there anew.
        self.user.tell_buffers_again();
        // One that cannot be settled keeps no other from it.
        let mut settled = self.settle_git();
        settled = settled.and(self.uncover());
        // What is in a folder before the folder.
        for path in
            self.base.paths().into_iter().rev().filter(|path| !self.is_in_git_copy(path)).collect::<Vec<_>>()
        {
            settled = settled.and(self.settle_one(&path));
        }
        settled
    }

    /// A folder that the agent made anew, and in which it misses nothing of the user's any more, need not hide the user's:
    /// so what the user makes in it later is seen.
    fn uncover(&mut self) -> io::Result<()> {
        let root = Folder::open(self.user.root().as_host())?;
        let mut names_left = VIEW_UNCOVER_NAMES_MAX;
        for mention in self.upper.mentions(VIEW_MENTIONS_MAX)?.all {
            if self.is_in_git_copy(&mention.path) {
                continue;
            }
            let hides_something = match root.node_at(mention.path.as_path()) {
                Ok(Node::Folder(users)) if mention.opaque => {
                    let agents = self.upper.folder(&mention.path)?;
                    self.misses_something(&users, agents.as_ref(), mention.path.as_path(), &mut names_left)
                }
                other => other.map(|_| false),
            };
            // What can't be looked into stays as it is.
            if mention.opaque && matches!(hides_something, Ok(false)) {
                self.upper.uncover(&mention.path)?;
            }
        }
        Ok(())
    }

    /// Whether the agent removed something of the user's from a folder, or it takes too long to tell.
    fn misses_something(
        &self,
        users: &Folder,
        agents: Option<&Folder>,
        below: &Path,
        names_left: &mut usize,
    ) -> io::Result<bool> {
        if below.components().count() > VIEW_FOLDERS_MAX_DEPTH {
            return Ok(true);
        }
        for name in users.names(*names_left)? {
            *names_left = names_left.saturating_sub(1);
            let here = agents.map_or(Ok(None), |agents| agents.facts(&name))?.map(|facts| facts.kind);
            let place = below.join(&name);
            let missed = match (here, users.node(&name)?) {
                (Some(Kind::Folder) | None, Node::Folder(users)) => {
                    let inner = agents.map(|agents| agents.node(&name)).transpose()?;
                    let inner = inner.as_ref().and_then(Node::as_folder);
                    self.misses_something(&users, inner, &place, names_left)?
                }
                (None | Some(Kind::Whiteout), Node::File(_) | Node::Link(_)) => {
                    match WorkspacePath::found(&place) {
                        Some(path) => self.agreed(&path)? != Agreed::On(Entry::Missing),
                        None => true,
                    }
                }
                (Some(Kind::Whiteout), Node::Folder(_)) => true,
                _ => false,
            };
            if missed {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn settle_one(&mut self, path: &WorkspacePath) -> io::Result<()> {
        let agreed = self.base.get(path);
        // A file of another size is another file. Reading it would tell nothing more, and may take for ever.
        if let Some(bytes) = self.upper.file_bytes(path)?
            && !matches!(&agreed, Agreed::On(Entry::File(file)) if file.content.len() == bytes)
        {
            return Ok(());
        }
        match self.upper.entry(path)? {
            InUpper::Untouched
                if self.base.had_something(path) && self.user.on_disk(path)? != Entry::Missing =>
            {
                self.upper.put(path, &Entry::Missing)
            }
            InUpper::Untouched => self.base.forget(path),
            InUpper::Is(Entry::Folder) => Ok(()),
            InUpper::Is(here) if agreed == Agreed::On(here.clone()) => {
                if self.upper.cover(path)?.is_some_and(|cover| cover.is_folder) {
                    return self.settle_in_hiding(path, &here);
                }
                self.upper.forget(path)?;
                self.base.forget(path)
            }
            InUpper::Is(_) => Ok(()),
        }
    }

    /// The same for a path in a folder that the agent made anew: the workspace does not show through that.
    fn settle_in_hiding(&mut self, path: &WorkspacePath, here: &Entry) -> io::Result<()> {
        let users = self.user.on_disk(path)?;
        if users == *here {
            return Ok(());
        }
        match &users {
            Entry::Missing => self.upper.forget(path)?,
            Entry::Link(_) | Entry::File(FileEntry { content: Content::Whole(_), .. }) => {
                self.upper.put(path, &users)?;
            }
            // An old one is better than none.
            Entry::File(_) | Entry::Folder | Entry::Other => return Ok(()),
        }
        self.base.agree(path, &users)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::freshness::tests::{World, hide_below, path};

    /// They cost the sandbox nothing: there is nothing in them.
    #[test]
    fn huge_files_that_the_agent_made_are_not_read_to_be_settled() {
        let mut world = World::new();
        let upper = world.folder.path().join("session/upper");
        std::fs::create_dir_all(&upper).unwrap();
        for number in 0..1_000 {
            let name = format!("{number}");
            let file = std::fs::File::create(upper.join(&name)).unwrap();
            file.set_len(crate::limits::VIEW_FILE_MAX_BYTES).unwrap();
            world.sides.base.agree(&path(&name), &Entry::Missing).unwrap();
        }
        // A thousand GiB: whoever reads them is not done today.
        world.sides.settle().unwrap();
    }

    /// The user rejected the removal of a folder, or undid it: what is in it now is what the user has.
    #[test]
    fn a_folder_that_misses_nothing_of_the_users_hides_nothing_that_the_user_makes_in_it_later() {
        let mut world = World::new();
        let [workspace, upper] = ["workspace", "session/upper"].map(|name| world.folder.path().join(name));
        for folder in ["whole", "misses"] {
            std::fs::create_dir_all(workspace.join(folder).join("deep")).unwrap();
            std::fs::create_dir_all(upper.join(folder).join("deep")).unwrap();
            hide_below(&upper.join(folder));
            for name in ["a", "deep/b"] {
                let name = format!("{folder}/{name}");
                world.users(&name, "user's");
                if name != "misses/deep/b" {
                    let entry = world.sides.user.entry(&path(&name)).unwrap();
                    world.sides.upper.put(&path(&name), &entry).unwrap();
                    world.sides.base.agree(&path(&name), &entry).unwrap();
                } else {
                    world.sides.base.lose(&path(&name)).unwrap();
                }
            }
        }
        world.sides.settle().unwrap();
        for (name, expected) in [
            ("whole/a", InUpper::Untouched),
            ("whole/deep/b", InUpper::Untouched),
            ("whole/new", InUpper::Untouched),
            ("misses/deep/b", InUpper::Is(Entry::Missing)),
            ("misses/new", InUpper::Is(Entry::Missing)),
        ] {
            assert_eq!(world.sides.agents(&path(name)).unwrap(), expected, "{name}");
        }
    }

    /// A verdict while no sandbox runs.
    #[test]
    fn what_is_put_in_a_folder_that_was_removed_shows_nothing_else_of_the_users() {
        let mut world = World::new();
        let workspace = world.folder.path().join("workspace");
        std::fs::create_dir_all(workspace.join("d/e")).unwrap();
        world.users("d/a", "user's");
        world.users("d/e/b", "user's");
        world.sides.upper.put(&path("d"), &Entry::Missing).unwrap();
        world.capture();
        let entry = world.sides.user.entry(&path("d/a")).unwrap();
        world.sides.upper.put(&path("d/a"), &entry).unwrap();
        assert_eq!(world.sides.agents(&path("d/a")).unwrap(), InUpper::Is(entry));
        assert_eq!(world.sides.agents(&path("d/e/b")).unwrap(), InUpper::Is(Entry::Missing));
        assert_eq!(world.sides.upper.entry(&path("d")).unwrap(), InUpper::Is(Entry::Folder));
    }

    /// The agent swaps a folder for a link and has its sandbox end: settling must not follow the link on the host.
    #[test]
    fn a_link_that_took_a_folders_place_leads_no_removal_out_of_the_view() {
        let mut world = World::new();
        let [victim, upper] = ["victim", "session/upper"].map(|name| world.folder.path().join(name));
        std::fs::create_dir_all(victim.join("ssh")).unwrap();
        std::fs::write(victim.join("ssh/key"), "k").unwrap();
        std::fs::create_dir_all(&upper).unwrap();
        let sides = &mut world.sides;
        sides.base.agree(&path("d/ssh"), &Entry::Missing).unwrap();
        std::os::unix::fs::symlink(&victim, upper.join("d")).unwrap();
        sides.settle().unwrap();
        sides.upper.forget(&path("d/ssh")).unwrap();
        assert!(victim.join("ssh/key").exists());
        assert!(upper.join("d").is_symlink());
    }

    #[test]
    fn a_folder_that_the_agent_made_a_file_keeps_nothing_else_from_being_settled() {
        let mut world = World::new();
        world.users("a.txt", "user's");
        let sides = &mut world.sides;
        let pushed = Entry::file(b"pushed", 0o644);
        sides.upper.put(&path("a.txt"), &pushed).unwrap();
        sides.base.agree(&path("a.txt"), &pushed).unwrap();
        sides.upper.put(&path("d"), &Entry::file(b"agent's", 0o644)).unwrap();
        sides.base.agree(&path("d/x"), &Entry::Missing).unwrap();
        sides.settle().unwrap();
        assert_eq!(sides.upper.entry(&path("a.txt")).unwrap(), InUpper::Untouched);
        assert_eq!(sides.upper.entry(&path("d")).unwrap(), InUpper::Is(Entry::file(b"agent's", 0o644)));
    }

    #[test]
    fn what_was_accepted_in_a_folder_that_hides_the_users_stays_and_is_as_the_user_has_it_now() {
        let mut world = World::new();
        let [workspace, upper] = ["workspace", "session/upper"].map(|name| world.folder.path().join(name));
        std::fs::create_dir_all(upper.join("d")).unwrap();
        std::fs::create_dir(workspace.join("d")).unwrap();
        hide_below(&upper.join("d"));
        let accepted = Entry::file(b"accepted", 0o644);
        for name in ["d/same", "d/edited", "d/removed"] {
            world.sides.upper.put(&path(name), &accepted).unwrap();
            world.sides.base.agree(&path(name), &accepted).unwrap();
        }
        world.sides.upper.put(&path("d/agents"), &Entry::file(b"agent's", 0o644)).unwrap();
        world.sides.base.agree(&path("d/agents"), &Entry::Missing).unwrap();
        world.users("d/missed", "the agent removed it");
        world.sides.base.lose(&path("d/missed")).unwrap();
        world.users("d/same", "accepted");
        world.users("d/edited", "edited");
        let users = world.sides.user.entry(&path("d/edited")).unwrap();
        for _ in 0..2 {
            world.sides.settle().unwrap();
            let expected = [
                ("d/same", accepted.clone(), Agreed::On(accepted.clone())),
                ("d/edited", users.clone(), Agreed::On(users.clone())),
                ("d/removed", Entry::Missing, Agreed::On(Entry::Missing)),
                ("d/agents", Entry::file(b"agent's", 0o644), Agreed::On(Entry::Missing)),
            ];
            for (name, here, agreed) in expected {
                assert_eq!(world.sides.agents(&path(name)).unwrap(), InUpper::Is(here), "{name}");
                assert_eq!(world.sides.base.get(&path(name)), agreed, "{name}");
            }
        }
    }
}
