//! A disk that fails, or dies, at an operation that the test names, and that forgets in a power cut what nobody synced.
//!
//! It is a file system in memory, mounted with FUSE. Operations that change or sync something are counted; a fault
//! waits until so many have gone well.

mod served;
mod tree;

use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use served::Served;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tree::Tree;

/// A mounted disk. Dropping it unmounts it.
pub struct FailingDisk {
    shared: Arc<Mutex<Shared>>,
    /// Before the folder that it is mounted on.
    session: Option<BackgroundSession>,
    folder: TempDir,
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One operation is answered with an error, and those after it are well again.
    Once,
    /// It takes nothing more: everything that would grow is answered with "no space left".
    Full,
    /// Nothing works any more, not even reading.
    Dies,
}

struct Shared {
    tree: Tree,
    /// Operations since the fault was set.
    done: usize,
    fault: Option<(Fault, usize)>,
    failed: bool,
    /// How often a folder was synced.
    folder_syncs: usize,
}

impl FailingDisk {
    /// An empty disk that works.
    pub fn mount() -> Self {
        let shared = Shared { tree: Tree::new(), done: 0, fault: None, failed: false, folder_syncs: 0 };
        let shared = Arc::new(Mutex::new(shared));
        let folder = TempDir::with_prefix("failing-disk-").expect("a temporary directory");
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("failing-disk".to_owned()), MountOption::DefaultPermissions];
        config.acl = SessionACL::All;
        let served = Served(Arc::clone(&shared));
        let session =
            fuser::spawn_mount(served, folder.path(), &config).expect("FUSE: is there a /dev/fuse?");
        Self { shared, session: Some(session), folder }
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// From now on `well` operations go well, and then this happens.
    pub fn fails(&self, fault: Fault, well: usize) {
        let mut shared = lock(&self.shared);
        (shared.done, shared.failed, shared.fault) = (0, false, Some((fault, well)));
    }

    /// It works from now on. Gives whether it had failed.
    pub fn mend(&self) -> bool {
        let mut shared = lock(&self.shared);
        shared.fault = None;
        shared.failed
    }

    /// The power is cut: what was not synced is gone. It works afterwards. Gives whether it had failed before.
    pub fn cut_power(&self) -> bool {
        let mut shared = lock(&self.shared);
        shared.tree.cut_power();
        shared.fault = None;
        shared.failed
    }

    /// How often a folder was synced so far.
    pub fn folder_syncs(&self) -> usize {
        lock(&self.shared).folder_syncs
    }

    /// Everything that is on it now survives the next power cut.
    pub fn sync(&self) {
        lock(&self.shared).tree.sync_all();
    }

    /// Makes a folder on it that survives a power cut.
    pub fn folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        self.sync();
        folder
    }
}

impl Drop for FailingDisk {
    fn drop(&mut self) {
        self.mend();
        // Whoever still has a file open on it keeps it until that is closed.
        let _ = rustix::mount::unmount(self.folder.path(), rustix::mount::UnmountFlags::DETACH);
        drop(self.session.take());
    }
}

impl Shared {
    /// Counts an operation that changes or syncs something, and tells whether it fails.
    fn change(&mut self, grows: bool) -> Result<(), fuser::Errno> {
        let reached = self.fault.filter(|(_, well)| self.done >= *well).map(|(fault, _)| fault);
        self.done += 1;
        let error = match reached {
            None => return Ok(()),
            Some(Fault::Full) if !grows => return Ok(()),
            Some(Fault::Full) => fuser::Errno::ENOSPC,
            Some(Fault::Once) => {
                self.fault = None;
                fuser::Errno::EIO
            }
            Some(Fault::Dies) => fuser::Errno::EIO,
        };
        self.failed = true;
        Err(error)
    }

    /// Whether it can still be read.
    fn look(&self) -> Result<(), fuser::Errno> {
        let dead = self.fault.is_some_and(|(fault, well)| fault == Fault::Dies && self.done > well);
        if dead { Err(fuser::Errno::EIO) } else { Ok(()) }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What must be so however many operations go well before the disk fails: `try_it` says whether it failed at all.
pub fn at_every_operation(mut try_it: impl FnMut(usize) -> bool) {
    const OPERATIONS_MAX: usize = 2000;
    for well in 0..OPERATIONS_MAX {
        if !try_it(well) {
            assert!(well > 0, "the disk was never used");
            return;
        }
    }
    panic!("it does more than {OPERATIONS_MAX} operations");
}

/// The names below a folder of a disk, with what is in the files.
pub fn everything_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = std::fs::read(&path).expect("a file");
                all.push((path.strip_prefix(folder).expect("it is below").to_owned(), content));
            }
        }
    }
    all.sort();
    all
}
