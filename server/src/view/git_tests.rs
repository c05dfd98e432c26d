//! The agent's copies of the state of git, without git and without a sandbox.

use super::entry::Entry;
use super::freshness::Plan;
use super::freshness::tests::{World, path};
use super::upper::InUpper;
use crate::limits::{GIT_STATE_FILES_MAX, VIEW_FILE_MAX_BYTES};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// With a repository of which the agent has a copy.
fn world() -> (World, PathBuf) {
    let mut world = World::new();
    fs::create_dir_all(world.folder.path().join("workspace/.git/refs/heads")).unwrap();
    world.users(".git/HEAD", "ref: refs/heads/main\n");
    world.users(".git/refs/heads/main", "1111\n");
    world.users(".git/index", "no index at all");
    world.users(".git/config", "[core]\n");
    bring_in(&mut world, &[]);
    let git = world.folder.path().join("session/upper/.git");
    (world, git)
}

/// What the user changed, in the agent's view; gives what was put there.
fn bring_in(world: &mut World, changed: &[&str]) -> Vec<String> {
    let mut changed: BTreeSet<_> = changed.iter().map(|name| path(name)).collect();
    let Plan::Push(pushes) = world.sides.plan_git(&mut changed).unwrap() else { panic!("too much") };
    let put = |push: super::freshness::Push| {
        world.sides.upper.put(&push.path, &push.entry).unwrap();
        world.sides.agree(&push.path, &super::Agreed::On(push.entry)).unwrap();
        push.path.to_string()
    };
    let put = pushes.into_iter().map(put).collect();
    world.sides.git_is_put().unwrap();
    put
}

fn is_agents(world: &World) -> Option<bool> {
    world.sides.git_owners().is_agents(&path(".git/HEAD"))
}

#[test]
fn the_copy_is_whole_and_what_the_user_makes_later_does_not_show_through() {
    let (mut world, git) = world();
    assert_eq!(fs::read_to_string(git.join("refs/heads/main")).unwrap(), "1111\n");
    assert!(git.join("index").exists() && !git.join("config").exists());
    world.users(".git/refs/heads/new", "2222\n");
    assert_eq!(world.sides.upper.entry(&path(".git/refs/heads/new")).unwrap(), InUpper::Is(Entry::Missing));
    assert_eq!(is_agents(&world), Some(false));
    assert_eq!(bring_in(&mut world, &[".git/refs/heads/new"]), [".git/refs/heads/new"]);
    assert_eq!(is_agents(&world), Some(false));
    assert!(bring_in(&mut world, &[".git/refs/heads/new", ".git/index"]).is_empty());
}

#[test]
fn what_the_agent_changed_is_kept_and_told_once_also_after_a_restart() {
    let (mut world, git) = world();
    fs::write(git.join("refs/heads/main"), "3333\n").unwrap();
    fs::create_dir(world.folder.path().join("workspace/.git/rebase-merge")).unwrap();
    world.users(".git/rebase-merge/done", "");
    world.users(".git/HEAD", "ref: refs/heads/other\n");
    assert_eq!(bring_in(&mut world, &[".git/HEAD", ".git/rebase-merge/done"]), [".git/rebase-merge"]);
    let notes = world.sides.git.take_notes().unwrap();
    assert!(notes.concat().contains("HEAD: ref: refs/heads/other; rebase-merge/done: "), "{notes:?}");
    for _ in 0..2 {
        assert!(bring_in(&mut world, &[]).is_empty());
        assert!(world.sides.git.take_notes().unwrap().is_empty());
        world.sides = World::open(world.folder.path());
        world.sides.settle().unwrap();
    }
    assert_eq!(fs::read_to_string(git.join("HEAD")).unwrap(), "ref: refs/heads/main\n");
    // As it was: it is the user's again.
    fs::write(git.join("refs/heads/main"), "1111\n").unwrap();
    let put = bring_in(&mut world, &[]);
    assert!(put.contains(&".git/HEAD".to_owned()) && is_agents(&world) == Some(false), "{put:?}");
}

#[test]
fn a_copy_that_the_agent_did_not_change_is_gone_when_nothing_has_it_mounted() {
    let (mut world, git) = world();
    world.sides.settle().unwrap();
    assert!(!git.join("HEAD").exists() && !git.join("refs").exists(), "{git:?}");
    assert_eq!(is_agents(&world), None);
    world.users(".git/HEAD", "ref: refs/heads/other\n");
    assert!(bring_in(&mut world, &[]).contains(&".git/HEAD".to_owned()));
}

/// They cost the sandbox nothing: there is nothing in them.
#[test]
fn huge_files_among_gits_own_are_not_read() {
    let (mut world, git) = world();
    for number in 0..1_000 {
        let file = fs::File::create(git.join(format!("refs/heads/{number}"))).unwrap();
        file.set_len(VIEW_FILE_MAX_BYTES).unwrap();
    }
    fs::File::create(git.join("index")).unwrap().set_len(VIEW_FILE_MAX_BYTES).unwrap();
    // A thousand GiB: whoever reads them is not done today.
    assert_eq!(is_agents(&world), Some(true));
    world.sides.settle().unwrap();
}

#[test]
fn nothing_that_the_agent_puts_in_gits_place_leads_anywhere_else() {
    for replaced in [".git", ".git/refs", ".git/refs/heads/main", ".git/HEAD", ".git/index"] {
        let (mut world, _) = world();
        let victim = world.folder.path().join("victim");
        fs::create_dir_all(victim.join("refs/heads")).unwrap();
        for name in ["HEAD", "index", "refs/heads/main"] {
            fs::write(victim.join(name), "victim's").unwrap();
        }
        let place = world.folder.path().join("session/upper").join(replaced);
        if place.is_dir() {
            fs::remove_dir_all(&place).unwrap()
        } else {
            fs::remove_file(&place).unwrap()
        }
        std::os::unix::fs::symlink(&victim, &place).unwrap();
        assert_eq!(is_agents(&world), Some(true), "{replaced}");
        world.users(".git/HEAD", "ref: refs/heads/other\n");
        world.users(".git/refs/heads/new", "2222\n");
        bring_in(&mut world, &[".git/HEAD"]);
        world.sides.settle().unwrap();
        assert!(place.is_symlink(), "{replaced}");
        for name in ["HEAD", "index", "refs/heads/main"] {
            assert_eq!(fs::read_to_string(victim.join(name)).unwrap(), "victim's", "{replaced}");
        }
        assert!(!victim.join("refs/heads/new").exists(), "{replaced}");
    }
}

#[test]
fn of_a_repository_with_too_much_of_a_state_there_is_no_copy() {
    let mut world = World::new();
    fs::create_dir_all(world.folder.path().join("workspace/.git/refs/heads")).unwrap();
    world.users(".git/HEAD", "ref: refs/heads/main\n");
    for number in 0..=GIT_STATE_FILES_MAX {
        world.users(&format!(".git/refs/heads/{number}"), "1111\n");
    }
    let mut changed = BTreeSet::from([path(".git/HEAD")]);
    let Plan::Push(pushes) = world.sides.plan_git(&mut changed).unwrap() else { panic!("too much") };
    assert!(pushes.is_empty() && is_agents(&world).is_none());
    assert!(changed.contains(&path(".git/HEAD")), "it is brought in as any other file");
    assert!(!world.sides.git.is_due());
}
