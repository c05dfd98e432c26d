//! Writing the user's files while the user saves them.

use super::*;
use crate::paths::WorkspaceRoot;
use crate::storage::beneath::disturbed;
use crate::view::NoEditor;
use pretty_assertions::assert_eq;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const SEEN: &str = "seen\n";
const ACCEPTED: &str = "accepted\n";
const SAVED: &str = "saved\n";
const SAVED_LATER: &str = "saved later\n";

struct World {
    sides: Sides,
    _top: TempDir,
}

impl World {
    fn new(seen: &Entry) -> Self {
        let top = TempDir::new().unwrap();
        let (root, session) = (top.path().join("ws"), top.path().join("session"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&session).unwrap();
        match seen {
            Entry::File(_) => fs::write(root.join("file"), SEEN).unwrap(),
            Entry::Link(target) => symlink(target, root.join("file")).unwrap(),
            _ => {}
        }
        let root = WorkspaceRoot::open(&root).unwrap();
        Self { sides: Sides::open(&root, Arc::new(NoEditor), &session).unwrap(), _top: top }
    }

    fn root(&self) -> &Path {
        self.sides.user.root().as_host()
    }

    fn put(&self, seen: &Entry, wanted: &Entry) -> io::Result<()> {
        let path = WorkspacePath::parse("file").unwrap();
        let (seen, wanted) = (seen.clone(), wanted.clone());
        put_all(&self.sides, &[Put { path, seen, wanted, temporary: Temporary::new() }]).remove(0)
    }

    /// Each file of the workspace.
    fn texts(&self) -> Vec<(String, String)> {
        let mut texts: Vec<_> = fs::read_dir(self.root())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let text = match fs::read_link(&path) {
                    Ok(target) => format!("link to {}", target.display()),
                    Err(_) => fs::read_to_string(&path).unwrap(),
                };
                (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
            })
            .collect();
        texts.sort();
        texts
    }
}

/// What the user does meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// As most editors save: another file takes the name.
    SaveByName(&'static str),
    /// As others do: into the file that they opened before.
    SaveInPlace(&'static str),
    Remove,
}

type Opened = Arc<Mutex<Option<fs::File>>>;

impl Act {
    /// Does it, and says whether it was to a file that still had a name.
    fn done(self, root: &Path, opened: &Opened) -> bool {
        let file = root.join("file");
        match self {
            Self::SaveByName(text) => {
                fs::write(root.join("editors-own"), text).unwrap();
                fs::rename(root.join("editors-own"), file).unwrap();
            }
            Self::SaveInPlace(text) => {
                let opened = opened.lock().unwrap();
                let open = opened.as_ref().expect("only a file is saved in place");
                let had_name = open.metadata().unwrap().nlink() > 0;
                open.set_len(0).unwrap();
                open.write_all_at(text.as_bytes(), 0).unwrap();
                return had_name;
            }
            Self::Remove => drop(fs::remove_file(file)),
        }
        true
    }
}

/// Every way of writing, with the user's acts before two of its system calls. What the user saved is always there.
fn every_moment(seen: &Entry, wanted: &Entry, acts: [Act; 2]) {
    for first in 0.. {
        let mut ended = true;
        for second in first + 1.. {
            let world = World::new(seen);
            let opened = fs::OpenOptions::new().write(true).open(world.root().join("file")).ok();
            let (root, opened) = (world.root().to_owned(), Arc::new(Mutex::new(opened)));
            let acted = Arc::new(Mutex::new(Vec::new()));
            let by = {
                let (acted, mut calls) = (Arc::clone(&acted), 0);
                move || {
                    for (when, act) in [first, second].into_iter().zip(acts) {
                        if calls == when {
                            acted.lock().unwrap().push(act.done(&root, &opened).then_some(act));
                        }
                    }
                    calls += 1;
                }
            };
            let done = disturbed(by, || world.put(seen, wanted));
            let acted = acted.lock().unwrap().clone();
            let texts = world.texts();
            let at = format!("{seen:?} to {wanted:?}, {acts:?} at {first} and {second}: {done:?}, {texts:?}");
            assert!(
                texts.iter().all(|(name, _)| !name.starts_with(".airlock-")),
                "nothing of ours is left: {at}"
            );
            let is_there = |wanted: &str| texts.iter().any(|(_, text)| text == wanted);
            let last = acted.last().copied().flatten();
            if let Some(Act::SaveByName(text) | Act::SaveInPlace(text)) = last {
                assert!(is_there(text), "what was saved is lost: {at}");
            }
            if let (Some(Act::Remove), Act::SaveByName(_), true) = (last, acts[0], done.is_ok()) {
                assert!(!is_there(SEEN), "what was removed comes back: {at}");
            }
            if acted.is_empty() {
                assert!(done.is_ok(), "{at}");
            }
            ended &= acted.is_empty();
            if acted.len() < 2 {
                break;
            }
        }
        if ended {
            return;
        }
    }
}

fn file(text: &str) -> Entry {
    Entry::file(text.as_bytes(), 0o644)
}

#[test]
fn whatever_the_user_saves_while_a_file_is_written_is_kept() {
    use Act::*;
    let link = Entry::Link("elsewhere".into());
    for seen in [file(SEEN), link, Entry::Missing] {
        for wanted in [file(ACCEPTED), Entry::Link("there".into()), Entry::Missing] {
            if seen == wanted {
                continue;
            }
            for acts in [
                [SaveByName(SAVED), SaveByName(SAVED_LATER)],
                [SaveByName(SAVED), Remove],
                [Remove, SaveByName(SAVED)],
            ] {
                every_moment(&seen, &wanted, acts);
            }
        }
        if matches!(seen, Entry::File(_)) {
            every_moment(&seen, &file(ACCEPTED), [SaveInPlace(SAVED), SaveByName(SAVED_LATER)]);
            every_moment(&seen, &Entry::Missing, [SaveInPlace(SAVED), SaveByName(SAVED_LATER)]);
        }
    }
}

#[test]
fn a_second_save_into_the_file_that_goes_away_again_is_kept() {
    let mut kept = 0;
    for moment in 0..12 {
        let world = World::new(&file(SEEN));
        let (root, opened) = (world.root().to_owned(), Opened::default());
        let had_name = Arc::new(Mutex::new(false));
        let by = {
            let (had_name, mut is_saved, mut calls) = (Arc::clone(&had_name), false, 0);
            move || {
                let is_staged = fs::read_dir(&root)
                    .unwrap()
                    .any(|entry| entry.unwrap().file_name().to_str().unwrap().starts_with(".airlock-"));
                let has = fs::read_to_string(root.join("file")).unwrap();
                if !is_saved && is_staged {
                    is_saved = Act::SaveByName(SAVED).done(&root, &opened);
                } else if is_saved && has == ACCEPTED && opened.lock().unwrap().is_none() {
                    // What was accepted has the name, and an editor opens it.
                    *opened.lock().unwrap() =
                        Some(fs::OpenOptions::new().write(true).open(root.join("file")).unwrap());
                } else if opened.lock().unwrap().is_some() {
                    if calls == moment {
                        *had_name.lock().unwrap() = Act::SaveInPlace(SAVED_LATER).done(&root, &opened);
                    }
                    calls += 1;
                }
            }
        };
        let done = disturbed(by, || world.put(&file(SEEN), &file(ACCEPTED)));
        let texts = world.texts();
        let is_there = |wanted: &str| texts.iter().any(|(_, text)| text == wanted);
        assert!(is_there(SAVED), "{moment}: {done:?} {texts:?}");
        if *had_name.lock().unwrap() {
            kept += 1;
            assert!(is_there(SAVED_LATER), "{moment}: {done:?} {texts:?}");
        }
    }
    assert!(kept > 0, "or this test says nothing");
}

#[test]
fn a_file_that_is_too_large_to_be_read_is_removed_and_replaced() {
    for wanted in [Entry::Missing, file(ACCEPTED)] {
        let world = World::new(&Entry::Missing);
        fs::File::create(world.root().join("file")).unwrap().set_len(2 << 30).unwrap();
        let seen = world.sides.user.on_disk(&WorkspacePath::parse("file").unwrap()).unwrap();
        world.put(&seen, &wanted).unwrap();
        let left = if wanted == Entry::Missing { vec![] } else { vec![("file".into(), ACCEPTED.into())] };
        assert_eq!(world.texts(), left);
    }
}

#[test]
fn what_an_earlier_write_left_and_cannot_be_cleared_up_holds_up_no_other() {
    let world = World::new(&file(SEEN));
    let temporary = ".airlock-1-2-3.tmp";
    let record = serde_json::json!({
        "root": world.root(), "writes": [{"path": "../out", "temporary": temporary, "known": []}],
    });
    let kept = world.sides.folder.join("unfinished.json");
    fs::write(&kept, record.to_string()).unwrap();
    world.put(&file(SEEN), &file(ACCEPTED)).unwrap();
    assert_eq!(world.texts(), [("file".to_owned(), ACCEPTED.to_owned())]);
    assert!(fs::read_to_string(kept).unwrap().contains(temporary), "and it isn't forgotten");
}

#[test]
fn what_is_kept_beside_a_long_name_has_a_name_that_fits() {
    let folder = TempDir::new().unwrap();
    let name = "n".repeat(255);
    let temporary = Temporary::new();
    fs::write(folder.path().join(&name), "newer").unwrap();
    fs::write(folder.path().join(temporary.name()), "older").unwrap();
    let told = Folder::open(folder.path()).unwrap().put_back(&temporary, name.as_ref()).unwrap();
    let kept = told.rsplit_once(' ').unwrap().1;
    assert_eq!(fs::read_to_string(folder.path().join(kept)).unwrap(), "older");
}

#[test]
fn a_save_that_falls_into_the_last_moment_is_told_and_stays() {
    // Before the exchange, after the last look.
    let world = World::new(&file(SEEN));
    let (root, opened) = (world.root().to_owned(), Opened::default());
    let mut exchanged = false;
    let by = move || {
        let is_next = fs::read_dir(&root)
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_str().unwrap().starts_with(".airlock-"));
        if is_next && !std::mem::replace(&mut exchanged, true) {
            Act::SaveByName(SAVED).done(&root, &opened);
        }
    };
    let done = disturbed(by, || world.put(&file(SEEN), &file(ACCEPTED)));
    assert_eq!(done.unwrap_err().to_string(), changed().to_string());
    assert_eq!(world.texts(), [("file".to_owned(), SAVED.to_owned())]);
}
