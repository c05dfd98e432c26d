//! A disk that fails, or dies, at an operation that the test names, and that forgets in a power cut what nobody synced.
//!
//! It is a file system in memory, mounted with FUSE. Operations that change or sync something are counted; a fault
//! waits until so many have gone well.

mod look;
mod served;
mod tree;

use crate::deadline::within;
use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use served::Served;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tokio::sync::watch;
use tree::Tree;

/// A mounted disk. Dropping it unmounts it.
pub struct FailingDisk {
    shared: Arc<Mutex<Shared>>,
    hanging: Arc<Hanging>,
    /// Before the folder that it is mounted on.
    session: Option<BackgroundSession>,
    folder: TempDir,
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One operation is answered with an error, and those after it are well again.
    Once,
    /// It takes nothing more: everything that would grow is answered with "no space left". Of the write that fills it
    /// up it takes a half, as disks do.
    Full,
    /// Nothing works any more, not even reading.
    Dies,
    /// Nothing is answered until it is mended. It is done then.
    Hangs,
}

/// Operations that are not answered yet.
struct Hanging {
    mended: Condvar,
    reached: watch::Sender<bool>,
}

struct Shared {
    tree: Tree,
    /// Operations since the fault was set.
    done: usize,
    fault: Option<(Fault, usize)>,
    failed: bool,
    /// How often a folder was synced.
    folder_syncs: usize,
    /// It renames in the plain way alone.
    is_plain: bool,
}

impl FailingDisk {
    /// An empty disk that works.
    pub fn mount() -> Self {
        let shared = Shared {
            tree: Tree::new(),
            done: 0,
            fault: None,
            failed: false,
            folder_syncs: 0,
            is_plain: false,
        };
        let shared = Arc::new(Mutex::new(shared));
        let folder = TempDir::with_prefix("failing-disk-").expect("a temporary directory");
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("failing-disk".to_owned()), MountOption::DefaultPermissions];
        config.acl = SessionACL::All;
        let hanging = Arc::new(Hanging { mended: Condvar::new(), reached: watch::channel(false).0 });
        let served = Served { shared: Arc::clone(&shared), hanging: Arc::clone(&hanging) };
        let session =
            fuser::spawn_mount(served, folder.path(), &config).expect("FUSE: is there a /dev/fuse?");
        Self { shared, hanging, session: Some(session), folder }
    }

    /// One that can't exchange two files, as NFS and 9p can't.
    pub fn mount_plain() -> Self {
        let disk = Self::mount();
        lock(&disk.shared).is_plain = true;
        disk
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
        self.hanging.mended.notify_all();
        shared.failed
    }

    /// Waits until an operation hangs.
    pub async fn hangs(&self) {
        let mut reached = self.hanging.reached.subscribe();
        let reached = reached.wait_for(|reached| *reached);
        within(reached, || "the disk was not used".to_owned()).await.expect("we hold the sender");
    }

    /// The power is cut: what was not synced is gone. It works afterwards. Gives whether it had failed before.
    pub fn cut_power(&self) -> bool {
        let mut shared = lock(&self.shared);
        shared.tree.cut_power();
        shared.fault = None;
        self.hanging.mended.notify_all();
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
            // Who hangs has waited before.
            None | Some(Fault::Hangs) => return Ok(()),
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

    /// Whether what comes now is not answered.
    fn hangs(&self) -> bool {
        self.fault.is_some_and(|(fault, well)| fault == Fault::Hangs && self.done >= well)
    }

    /// Whether the write that comes now is the one that fills it up.
    fn fills_up(&mut self) -> bool {
        let is_full = self.fault.is_some_and(|(fault, well)| fault == Fault::Full && self.done >= well);
        let now = is_full && !self.failed;
        self.failed |= now;
        now
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

/// Something below a folder of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file's text and permission bits.
    File(String, u32),
    /// What a link says.
    Link(String),
}

/// The files and links below a folder of a disk, by their paths.
pub fn everything_below(folder: &Path) -> BTreeMap<String, Found> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("it is there");
            let found = if metadata.is_dir() {
                folders.push(path);
                continue;
            } else if metadata.is_symlink() {
                Found::Link(std::fs::read_link(&path).expect("a link").display().to_string())
            } else {
                Found::File(std::fs::read_to_string(&path).expect("a text"), metadata.mode() & 0o777)
            };
            all.insert(path.strip_prefix(folder).expect("it is below").display().to_string(), found);
        }
    }
    all
}
