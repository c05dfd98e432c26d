//! Watches a workspace and tells which paths changed.
//!
//! One watch serves every session of a workspace. Folders that git ignores are not watched: a build may change
//! thousands of files in them, and what is in there is made from what is watched. Nor is the store of git's objects,
//! whose files never change once they are there.
//!
//! The kernel hands events over in order. So a file that appears in a folder of our own, the bell, tells when all that
//! happened before it has been seen.

use super::git_paths::head_beside;
use super::ignored::Ignored;
use super::watch_share::{RAISE, why_no_more};
use crate::limits::{CHANGED_PATHS_MAX, WATCH_CATCH_UP_MAX_MS};
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::storage;
use dashmap::DashMap;
use ignore::WalkBuilder;
use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// Where git keeps its objects.
const GIT_OBJECTS: &str = ".git/objects";

/// The watches of all workspaces in use.
#[derive(Default)]
pub struct WorkspaceWatches(DashMap<WorkspaceRoot, Weak<WorkspaceWatch>>);

/// The watch of one workspace. It ends when nobody holds it.
struct WorkspaceWatch {
    shared: Arc<Shared>,
    bell: PathBuf,
}

/// Numbers the bells of all watches: who hears a later one has seen what was before an earlier one, too.
static BELLS: AtomicU64 = AtomicU64::new(0);

/// What changed since it was last asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Where.
    pub paths: BTreeSet<WorkspacePath>,
    /// More than could be remembered.
    pub too_many: bool,
}

/// One session's share of a watch.
pub struct Subscription {
    watch: Arc<WorkspaceWatch>,
    changed: Arc<Mutex<Changed>>,
}

struct Shared {
    subscribers: Mutex<Vec<Weak<Mutex<Changed>>>>,
    /// The last bell that was heard; none until the watch stands.
    heard: watch::Sender<Option<u64>>,
    /// Why a part of the workspace is not watched.
    gap: Mutex<Option<String>>,
    /// In each repository. Who did not see one yet is to look at it.
    heads: Mutex<BTreeSet<WorkspacePath>>,
}

impl WorkspaceWatches {
    /// Subscribes to the watch of a workspace, which is begun if there is none. It is set up in the background.
    /// `bell` is a folder of our own.
    pub fn subscribe(&self, root: &WorkspaceRoot, bell: &Path) -> io::Result<Subscription> {
        let mut entry = self.0.entry(root.clone()).or_default();
        let watch = match entry.upgrade() {
            Some(watch) => watch,
            None => {
                let watch = Arc::new(WorkspaceWatch::start(root, bell)?);
                *entry = Arc::downgrade(&watch);
                watch
            }
        };
        let changed = Arc::new(Mutex::new(Changed::default()));
        lock(&watch.shared.subscribers).push(Arc::downgrade(&changed));
        lock(&changed).paths.extend(lock(&watch.shared.heads).iter().cloned());
        Ok(Subscription { watch, changed })
    }
}

impl Subscription {
    /// Waits until the watch stands, but not for ever.
    pub async fn stands(&self, wait_max: Duration) -> bool {
        let mut heard = self.watch.shared.heard.subscribe();
        tokio::time::timeout(wait_max, heard.wait_for(Option::is_some))
            .await
            .is_ok_and(|stands| stands.is_ok())
    }

    /// Gives what changed up to this moment, and forgets it.
    pub async fn take(&self) -> Changed {
        self.watch.catch_up().await;
        std::mem::take(&mut *lock(&self.changed))
    }

    /// What changed was of no use yet: the next one to ask gets it again.
    pub fn put_back(&self, unused: Changed) {
        let mut changed = lock(&self.changed);
        changed.paths.extend(unused.paths);
        changed.too_many |= unused.too_many;
        if changed.too_many || changed.paths.len() > CHANGED_PATHS_MAX {
            *changed = Changed { paths: BTreeSet::new(), too_many: true };
        }
    }

    /// Whether a path is known to have changed, without forgetting it.
    pub fn includes(&self, path: &WorkspacePath) -> bool {
        let changed = lock(&self.changed);
        changed.too_many || changed.paths.contains(path)
    }

    /// The paths that are known to have changed, without forgetting them.
    pub fn known(&self) -> Vec<WorkspacePath> {
        lock(&self.changed).paths.iter().cloned().collect()
    }

    /// Waits until all that happened before this moment is known.
    pub async fn catch_up(&self) {
        self.watch.catch_up().await;
    }

    /// Why a part of the workspace is not watched, the first time that it is asked.
    pub fn gap(&self) -> Option<String> {
        lock(&self.watch.shared.gap).take()
    }
}

impl WorkspaceWatch {
    fn start(root: &WorkspaceRoot, bell: &Path) -> io::Result<Self> {
        let inotify = Inotify::init()?;
        let shared = Arc::new(Shared {
            subscribers: Mutex::default(),
            heard: watch::channel(None).0,
            gap: Mutex::default(),
            heads: Mutex::default(),
        });
        storage::make_private_folder(bell)?;
        let bell_mark = inotify.watches().add(bell, WatchMask::CREATE | WatchMask::ONLYDIR)?;
        let thread = Watcher {
            root: root.as_host().to_owned(),
            watches: inotify.watches(),
            folders: HashMap::new(),
            marks: BTreeMap::new(),
            bell: bell_mark,
            shared: Arc::downgrade(&shared),
        };
        std::thread::Builder::new().name("workspace-watch".into()).spawn(move || thread.run(inotify))?;
        Ok(Self { shared, bell: bell.to_owned() })
    }

    async fn catch_up(&self) {
        let mut heard = self.shared.heard.subscribe();
        if heard.borrow().is_none() {
            return;
        }
        let number = BELLS.fetch_add(1, Ordering::SeqCst) + 1;
        if let Err(error) = self.ring(number) {
            tracing::warn!(%error, "changes of the workspace may be seen late");
            return;
        }
        let caught_up = heard.wait_for(|heard| heard.is_some_and(|heard| heard >= number));
        if tokio::time::timeout(Duration::from_millis(WATCH_CATCH_UP_MAX_MS), caught_up).await.is_err() {
            tracing::warn!("changes of the workspace are seen late");
        }
    }

    fn ring(&self, number: u64) -> io::Result<()> {
        let name = format!("bell-{}-{number}", std::process::id());
        let path = self.bell.join(name);
        storage::write_private(&path, b"")?;
        storage::remove(&path)
    }
}

impl Drop for WorkspaceWatch {
    fn drop(&mut self) {
        // Wakes the thread, which then finds that nobody listens.
        let _ = self.ring(BELLS.fetch_add(1, Ordering::SeqCst) + 1);
    }
}

/// The thread that listens to the kernel.
struct Watcher {
    root: PathBuf,
    watches: Watches,
    /// Relative to the root.
    folders: HashMap<WatchDescriptor, PathBuf>,
    /// The same, the other way round.
    marks: BTreeMap<PathBuf, WatchDescriptor>,
    bell: WatchDescriptor,
    shared: Weak<Shared>,
}

impl Watcher {
    fn run(mut self, mut inotify: Inotify) {
        self.follow(Path::new(""), None);
        match self.shared.upgrade() {
            Some(shared) => drop(shared.heard.send_replace(Some(0))),
            None => return,
        }
        let mut buffer = vec![0; 64 << 10];
        loop {
            let events = match inotify.read_events_blocking(&mut buffer) {
                Ok(events) => events,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::warn!(%error, "the workspace is no longer watched");
                    return;
                }
            };
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            for event in events {
                self.handle(&shared, &event.wd, event.mask, event.name);
            }
        }
    }

    fn handle(&mut self, shared: &Shared, wd: &WatchDescriptor, mask: EventMask, name: Option<&OsStr>) {
        if mask.contains(EventMask::Q_OVERFLOW) {
            shared.mark_all();
        } else if *wd == self.bell {
            if let Some(number) = name.and_then(bell_number) {
                shared.heard.send_replace(Some(number));
            }
        } else if mask.contains(EventMask::IGNORED) {
            if let Some(path) = self.folders.remove(wd) {
                self.marks.remove(&path);
            }
        } else if let (Some(folder), Some(name)) = (self.folders.get(wd), name) {
            let path = folder.join(name);
            if !mask.contains(EventMask::ISDIR) {
                shared.mark(&path);
            } else if mask.intersects(EventMask::CREATE | EventMask::MOVED_TO) {
                self.follow(&path, Some(shared));
            } else if self.marks.contains_key(&path) {
                // A folder that is not watched is one that git ignores.
                shared.mark(&path);
                if mask.intersects(EventMask::MOVED_FROM | EventMask::DELETE) {
                    self.leave(&path);
                }
            }
        }
    }

    /// Watches a folder and all below it that git does not ignore. With `tell`, everything in it is new.
    fn follow(&mut self, below: &Path, tell: Option<&Shared>) {
        let mut ignored = Ignored::as_git(&self.root);
        if ignored.is_ignored_folder(below) || below.ends_with(GIT_OBJECTS) {
            return;
        }
        for entry in walk(&self.root, below, ignored).build().flatten() {
            let Ok(path) = entry.path().strip_prefix(&self.root).map(Path::to_owned) else {
                continue;
            };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) && !self.watch(&path) {
                return;
            }
            if let Some(shared) = tell {
                shared.mark(&path);
            }
        }
    }

    /// `false` when no more folders can be watched.
    fn watch(&mut self, path: &Path) -> bool {
        let mask = WatchMask::MODIFY
            | WatchMask::ATTRIB
            | WatchMask::CREATE
            | WatchMask::DELETE
            | WatchMask::MOVED_FROM
            | WatchMask::MOVED_TO
            | WatchMask::ONLYDIR
            | WatchMask::DONT_FOLLOW
            | WatchMask::EXCL_UNLINK;
        let why = match why_no_more(self.folders.len()) {
            Some(why) => why,
            None => match self.watches.add(self.root.join(path), mask) {
                Ok(mark) => {
                    if let Some((head, shared)) = head_beside(path).zip(self.shared.upgrade()) {
                        lock(&shared.heads).insert(head.clone());
                        shared.mark(head.as_path());
                    }
                    self.marks.insert(path.to_owned(), mark.clone());
                    self.folders.insert(mark, path.to_owned());
                    return true;
                }
                // It is gone, or nobody may look into it.
                Err(error) if error.kind() != io::ErrorKind::StorageFull => return true,
                Err(_) => RAISE.to_owned(),
            },
        };
        if let Some(shared) = self.shared.upgrade() {
            *lock(&shared.gap) = Some(format!(
                "only a part of the workspace is watched, for {why}. Files that you change elsewhere may look old to the agent"
            ));
        }
        false
    }

    fn leave(&mut self, path: &Path) {
        let below = self.marks.range(path.to_owned()..).take_while(|(folder, _)| folder.starts_with(path));
        for folder in below.map(|(folder, _)| folder.clone()).collect::<Vec<_>>() {
            if let Some(mark) = self.marks.remove(&folder) {
                self.folders.remove(&mark);
                // The kernel has dropped it already when the folder is gone.
                let _ = self.watches.remove(mark);
            }
        }
    }
}

impl Shared {
    fn mark(&self, path: &Path) {
        let Some(path) = WorkspacePath::found(path).filter(|path| !path.as_str().is_empty()) else {
            return;
        };
        self.each(|changed| {
            if changed.paths.len() < CHANGED_PATHS_MAX {
                changed.paths.insert(path.clone());
            } else {
                changed.too_many = true;
            }
        });
    }

    fn mark_all(&self) {
        self.each(|changed| changed.too_many = true);
    }

    fn each(&self, change: impl Fn(&mut Changed)) {
        lock(&self.subscribers).retain(|subscriber| match subscriber.upgrade() {
            Some(changed) => {
                change(&mut lock(&changed));
                true
            }
            None => false,
        });
    }
}

/// All that git does not ignore, hidden files too, no link followed. The walk reads no rules itself: it would follow
/// links to them.
fn walk(root: &Path, below: &Path, ignored: Ignored) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root.join(below));
    builder.standard_filters(false).follow_links(false);
    let (root, ignored) = (root.to_owned(), Mutex::new(ignored));
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        match entry.path().strip_prefix(&root) {
            Ok(path) => !path.ends_with(GIT_OBJECTS) && !lock(&ignored).has_rule_against(path, is_folder),
            Err(_) => false,
        }
    });
    builder
}

fn bell_number(name: &OsStr) -> Option<u64> {
    let (pid, number) = name.to_str()?.strip_prefix("bell-")?.split_once('-')?;
    (pid.parse() == Ok(std::process::id())).then(|| number.parse().ok()).flatten()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rules_that_are_a_pipe_hold_up_no_watch_and_other_rules_hold() {
        let folder = tempfile::tempdir().unwrap();
        let (root, bell) = (folder.path().join("root"), folder.path().join("bell"));
        std::fs::create_dir_all(root.join("sub/built")).unwrap();
        std::fs::write(root.join("sub/.gitignore"), "built/\n").unwrap();
        let (pipe, mode) = (root.join(".gitignore"), rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let watches = WorkspaceWatches::default();
        let changed = watches.subscribe(&WorkspaceRoot::open(&root).unwrap(), &bell).unwrap();
        assert!(changed.stands(Duration::from_secs(20)).await);
        std::fs::write(root.join("sub/a.txt"), "").unwrap();
        std::fs::write(root.join("sub/built/b.txt"), "").unwrap();
        std::fs::create_dir_all(root.join("new/built")).unwrap();
        let paths = changed.take().await.paths;
        let paths: Vec<&str> = paths.iter().map(WorkspacePath::as_str).collect();
        assert_eq!(paths, ["new", "new/built", "sub/a.txt"]);
    }
}
