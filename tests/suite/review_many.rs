//! Accepting very many files: in few syncs, and still each of them old or new, whenever the power goes.

use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::patterns::Patterns;
use airlock::review::{self, Outcome, Selection, Steps};
use airlock::sandbox::{SandboxError, SandboxSlot, session_folder};
use airlock::view::{NoEditor, SessionView, WorkspaceWatches};
use airlock_tests::failing_disk::{FailingDisk, Fault, Found, everything_below};
use airlock_tests::shown::shown;
use pretty_assertions::assert_eq;
use std::path::Path;
use std::sync::Arc;

const FOLDERS: usize = 3;

/// What the agent made of file `number`.
fn content(number: usize) -> String {
    format!("the agent's {number}\n").repeat(20)
}

fn name(number: usize) -> String {
    format!("d{}/file-{number}", number % FOLDERS)
}

/// Accepts so many files into a workspace, of a session without a sandbox.
async fn accept(workspace: &Path, files: usize) -> std::io::Result<Outcome> {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::for_test(home.path(), &[]);
    let folder = session_folder(&environment, "many");
    for number in 0..files {
        let path = folder.join("upper").join(name(number));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content(number)).unwrap();
    }
    let root = WorkspaceRoot::open(workspace).unwrap();
    let slot = SandboxSlot::none(environment, SandboxError::new("none", "none"));
    let watches = WorkspaceWatches::default();
    let view = SessionView::new(slot, &root, Arc::new(NoEditor), &watches, &folder, |_| ());
    let held = view.hold().await.expect("a view");
    let everything = shown(&held, Selection::default()).await;
    review::accept(&held, &NoEditor, &everything, &Patterns::default(), &Steps::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn many_files_are_accepted_with_few_syncs_and_are_all_there_after_a_power_cut() {
    const FILES: usize = 400;
    let disk = FailingDisk::mount();
    let workspace = disk.folder("ws");
    let before = disk.folder_syncs();
    let outcome = accept(&workspace, FILES).await.unwrap();
    assert_eq!((outcome.done.len(), outcome.failed.len()), (FILES, 0), "{:?}", outcome.failed.first());
    let syncs = disk.folder_syncs() - before;
    assert!(syncs <= FILES / 10, "{syncs} syncs of folders for {FILES} files");
    disk.cut_power();
    let kept = everything_below(&workspace);
    assert_eq!(kept.len(), FILES);
    for number in 0..FILES {
        let read = std::fs::read_to_string(workspace.join(name(number))).unwrap();
        assert_eq!(read, content(number), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_dies_among_many_leaves_each_file_whole_or_as_it_was() {
    const FILES: usize = 70;
    const STRIDE: usize = 23;
    for well in (0..).step_by(STRIDE) {
        let disk = FailingDisk::mount();
        let workspace = disk.folder("ws");
        std::fs::create_dir(workspace.join("d0")).unwrap();
        std::fs::write(workspace.join(name(0)), "the user's\n").unwrap();
        disk.sync();
        disk.fails(Fault::Dies, well);
        let outcome = accept(&workspace, FILES).await;
        let failed = disk.cut_power();
        for (path, read) in everything_below(&workspace) {
            let number: Option<usize> = path.rsplit_once("file-").and_then(|(_, number)| number.parse().ok());
            // What is left of one that was not given its name yet is nobody's file.
            let Some(number) = number else {
                assert!(path.contains(".airlock-"), "{path}");
                continue;
            };
            let Found::File(read, _) = read else { panic!("{path} is a link") };
            let is_old = number == 0 && read == "the user's\n";
            assert!(is_old || read == content(number), "{path} is torn after {well} operations");
        }
        if !failed {
            assert_eq!(outcome.unwrap().done.len(), FILES);
            return;
        }
        // What was called done is there.
        for path in outcome.map(|outcome| outcome.done).unwrap_or_default() {
            assert!(workspace.join(path.as_path()).exists(), "{path} is lost after {well} operations");
        }
    }
}
