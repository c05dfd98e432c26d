//! Accepting on a disk that fails at any operation, and loses in a power cut what was not synced. A file of the user's is
//! the old one or the new one, what was said to be done stays done, and the rest can be done on a good day.

use airlock::environment::Environment;
use airlock::paths::{WorkspacePath, WorkspaceRoot};
use airlock::patterns::Patterns;
use airlock::review::{self, Outcome, Selection, Steps};
use airlock::sandbox::{SandboxError, SandboxSlot, session_folder};
use airlock::view::{Entry, NoEditor, SessionView, Sides, WorkspaceWatches};
use airlock_tests::failing_disk::{FailingDisk, Fault, Found, at_every_operation, everything_below};
use airlock_tests::shown::shown;
use pretty_assertions::assert_eq;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A path, what the user has there, what the agent has there, and what the user has after accepting it.
type Case = (&'static str, Option<Found>, Entry, Option<Found>);

fn cases() -> Vec<Case> {
    let file = |text: &str, mode| Some(Found::File(text.to_owned(), mode));
    let entry = |text: &str, mode| Entry::file(text.as_bytes(), mode);
    let made = |path, text| (path, None, entry(text, 0o644), file(text, 0o644));
    vec![
        ("changed.txt", file("one\ntwo\n", 0o644), entry("one\n2\n", 0o644), file("one\n2\n", 0o644)),
        ("old/gone.txt", file("gone\n", 0o644), Entry::Missing, None),
        ("mode.sh", file("true\n", 0o644), entry("true\n", 0o755), file("true\n", 0o755)),
        ("link", None, Entry::Link("changed.txt".into()), Some(Found::Link("changed.txt".to_owned()))),
        made("new/deep/first.txt", "first\n"),
        made("new/second.txt", "second\n"),
        // A file whose place a folder takes.
        ("swap", file("a file\n", 0o644), Entry::Folder, None),
        made("swap/inside.txt", "inside\n"),
        // The user changed it too, so that the agent's view has to move.
        (
            MERGED,
            file("A\nb\nc\nd\ne\n", 0o644),
            entry("a\nb\nc\nd\nE\n", 0o644),
            file("A\nb\nc\nd\nE\n", 0o644),
        ),
    ]
}

const MERGED: &str = "merged.txt";
const MERGED_BEFORE: &str = "a\nb\nc\nd\ne\n";

/// Where the user's files and Airlock's own are.
struct Place {
    disk: FailingDisk,
    environment: Environment,
    workspace: WorkspaceRoot,
    _good_disk: Option<TempDir>,
}

impl Place {
    /// The agent has done its work, and all of that is safe.
    fn new(state_on_it_too: bool) -> Self {
        Self::on(FailingDisk::mount(), state_on_it_too)
    }

    fn on(disk: FailingDisk, state_on_it_too: bool) -> Self {
        let good_disk = (!state_on_it_too).then(|| TempDir::new().expect("a temporary directory"));
        let home = good_disk.as_ref().map_or_else(|| disk.folder("home"), |good| good.path().to_owned());
        let workspace = WorkspaceRoot::open(&disk.folder("workspace")).expect("a folder");
        let environment = Environment::for_test(&home, &[]);
        let place = Self { disk, environment, workspace, _good_disk: good_disk };
        for (path, user, ..) in cases() {
            if let Some(Found::File(text, mode)) = user {
                place.write(path, if path == MERGED { MERGED_BEFORE } else { &text }, mode);
            }
        }
        let mut sides =
            Sides::open(&place.workspace, Arc::new(NoEditor), &place.folder()).expect("a good day");
        for (path, _, agent, _) in cases() {
            sides.upper.put(&WorkspacePath::parse(path).expect("a path"), &agent).expect("a good day");
        }
        sides.capture(|_| false).expect("a good day");
        place.write(MERGED, "A\nb\nc\nd\ne\n", 0o644);
        place.disk.sync();
        place
    }

    fn folder(&self) -> PathBuf {
        session_folder(&self.environment, "session")
    }

    fn write(&self, path: &str, text: &str, mode: u32) {
        let path = self.workspace.as_host().join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("our own file");
    }

    /// As a server that was just started sees it.
    async fn opened(&self) -> Opened {
        let slot = SandboxSlot::none(self.environment.clone(), SandboxError::new("none", "none"));
        let watches = WorkspaceWatches::default();
        let (workspace, folder) = (&self.workspace, self.folder());
        let view = SessionView::new(slot, workspace, Arc::new(NoEditor), &watches, &folder, |_| ());
        let everything = shown(&view.hold().await.expect("something to review"), Selection::default()).await;
        Opened { view, everything, _watches: watches }
    }
}

struct Opened {
    view: Arc<SessionView>,
    everything: Selection,
    _watches: WorkspaceWatches,
}

impl Opened {
    async fn accept(&self) -> std::io::Result<Outcome> {
        let held = self.view.hold().await.expect("something to review");
        review::accept(&held, &NoEditor, &self.everything, &Patterns::default(), &Steps::default()).await
    }

    async fn pending(&self) -> BTreeSet<String> {
        let listing =
            review::list(&self.view.hold().await.expect("something to review"), &Patterns::default()).await;
        let changes = listing.expect("a good day").changes;
        changes.iter().map(|change| change.path.to_string()).collect()
    }
}

/// Each path is the old one or the new one, with nothing beside them. Gives which are not the new one.
fn old_or_new(root: &Path, at: &str) -> BTreeSet<String> {
    let mut found = everything_below(root);
    let mut old = BTreeSet::new();
    for (path, before, _, after) in cases() {
        let now = found.remove(path);
        assert!(now == before || now == after, "{path} is torn: {now:?}: {at}");
        if now != after {
            old.insert(path.to_owned());
        }
    }
    assert_eq!(found, BTreeMap::new(), "nothing else is there: {at}");
    old
}

fn holds_at_every_operation(fault: Fault, state_on_it_too: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    at_every_operation(|well| {
        runtime.block_on(async {
            let place = Place::new(state_on_it_too);
            let root = place.workspace.as_host();
            let opened = place.opened().await;
            place.disk.fails(fault, well);
            let said = opened.accept().await;
            drop(opened);
            let failed = place.disk.cut_power();
            let at = format!("{fault:?} after {well} operations; said: {said:?}");
            let old = old_or_new(root, &at);
            match &said {
                Ok(outcome) => {
                    let done: BTreeSet<String> = outcome.done.iter().map(ToString::to_string).collect();
                    let told: BTreeSet<String> =
                        outcome.failed.iter().map(|(path, _)| path.clone()).collect();
                    assert!(done.is_disjoint(&old), "what was said to be done is done: {at}");
                    assert!(old.is_subset(&told), "what was not is told: {at}");
                    let why = |why: &String| why.contains("os error") || why.contains("folder");
                    assert!(outcome.failed.iter().all(|(_, said)| why(said)), "and why: {at}");
                    assert!(failed || told.is_empty(), "nothing but the disk was wrong: {at}");
                }
                Err(error) => {
                    let where_to = root.to_str().expect("UTF-8");
                    assert!(failed && error.to_string().contains(where_to), "it says where: {at}");
                }
            }
            // A good day, and another server.
            let opened = place.opened().await;
            assert_eq!(opened.pending().await, old, "what was not done still waits: {at}");
            let again = opened.accept().await.expect("a good day");
            assert_eq!(again.failed, vec![], "{at}");
            place.disk.cut_power();
            assert_eq!(old_or_new(root, &at), BTreeSet::new(), "{at}");
            failed
        })
    });
}

#[tokio::test]
async fn a_disk_that_can_exchange_no_files_takes_what_is_accepted() {
    let place = Place::on(FailingDisk::mount_plain(), true);
    let outcome = place.opened().await.accept().await.expect("a good day");
    assert_eq!(outcome.failed, vec![]);
    assert_eq!(old_or_new(place.workspace.as_host(), "a plain disk"), BTreeSet::new());
}

#[test]
fn one_failed_operation_tears_no_file_and_loses_nothing() {
    holds_at_every_operation(Fault::Once, true);
}

#[test]
fn a_disk_that_is_full_tears_no_file_and_loses_nothing() {
    holds_at_every_operation(Fault::Full, false);
    holds_at_every_operation(Fault::Full, true);
}

#[test]
fn a_disk_that_dies_tears_no_file_and_loses_nothing() {
    holds_at_every_operation(Fault::Dies, false);
    holds_at_every_operation(Fault::Dies, true);
}
