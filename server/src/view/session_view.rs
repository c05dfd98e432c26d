//! One session's view of its workspace: its sandbox, fresh before each use.

use super::base::Agreed;
use super::due::Due;
use super::entry::{Content, Entry, FileEntry};
use super::freshness::{Plan, Push, Sides, call};
use super::stale::stale;
use super::user_side::Buffers;
use super::watch::{Changed, Subscription, WorkspaceWatches};
use crate::limits::WATCH_START_MAX_MS;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::sandbox::{Sandbox, SandboxError, SandboxSlot};
use crate::storage::confined::{Reach, Worker};
use airlock_guest::{Link, LinkError};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::MutexGuard;

/// What the system says of a file that an overlay still knows and the disk below it does not: on NFS, 9p and FUSE, after
/// another took its name.
const STALE: &str = "(os error 116)";

/// A session's sandbox, and what keeps its view fresh.
pub struct SessionView {
    slot: Arc<SandboxSlot>,
    /// Or why there is nothing to keep fresh, and nothing to review.
    kept: Result<Kept, String>,
    tell: Box<dyn Fn(String) + Send + Sync>,
}

struct Kept {
    /// Held while the view is brought up to date or reviewed, and never by two.
    turn: tokio::sync::Mutex<()>,
    sides: Arc<Mutex<Sides>>,
    /// Works on what the agent arranged; of the user's files it can only read.
    looks: Worker,
    /// Writes the user's files.
    writes: Worker,
    changed: Arc<Subscription>,
    /// What the agent's changes take of the disk.
    changes_bytes: AtomicU64,
}

/// What a session takes of the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskTaken {
    /// The agent's changes.
    pub workspace_bytes: u64,
    /// Its home.
    pub home_bytes: u64,
}

/// A view that nobody else brings up to date or reviews meanwhile.
pub struct HeldView<'a> {
    slot: &'a Arc<SandboxSlot>,
    kept: &'a Kept,
    _turn: MutexGuard<'a, ()>,
}

/// What was brought into the view.
enum Brought {
    All,
    /// And why something was not.
    AllBut(String),
    TooMuch,
}

impl SessionView {
    /// A session's view of a workspace, kept in `folder`. `tell` takes what the user should know.
    pub fn new(
        slot: Arc<SandboxSlot>,
        workspace: &WorkspaceRoot,
        buffers: Arc<dyn Buffers>,
        watches: &WorkspaceWatches,
        folder: &Path,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let kept = Kept::open(workspace, buffers, watches, folder);
        if let Err(error) = &kept {
            tell(format!(
                "files that you change may look old to the agent, for they cannot be watched: {error}"
            ));
        }
        let kept = kept.map_err(|error| format!("{} cannot be used: {error}", folder.display()));
        Arc::new(Self { slot, kept, tell: Box::new(tell) })
    }

    /// A session without a workspace, or without a sandbox.
    pub fn none(slot: Arc<SandboxSlot>) -> Arc<Self> {
        Arc::new(Self { slot, kept: Err("this session has no sandbox".to_owned()), tell: Box::new(|_| ()) })
    }

    /// Starts the sandbox without waiting for it.
    pub fn warm_up(self: &Arc<Self>) {
        if self.slot.has_plan() {
            let view = Arc::clone(self);
            // Whoever needs it gets the error again, from a start of its own.
            tokio::spawn(async move { drop(view.running().await) });
        }
    }

    /// The sandbox, with everything in it as the user has it now, apart from what the agent changed.
    pub async fn ready(&self) -> Result<Arc<Sandbox>, SandboxError> {
        let sandbox = self.running().await?;
        let Some(held) = self.hold().await else {
            return Ok(sandbox);
        };
        let changed = &held.kept.changed;
        changed.stands(Duration::from_millis(WATCH_START_MAX_MS)).await;
        if let Some(gap) = changed.gap() {
            (self.tell)(gap);
        }
        match held.refresh(sandbox.link()).await {
            // The next call gets a fresh one; this one learns of it when it uses the link.
            Ok(true) | Err(LinkError::Broken(_)) => Ok(sandbox),
            Err(LinkError::Refused(why)) if why.contains(STALE) => {
                held.afresh("the disk of the workspace forgot a file that the sandbox had open").await
            }
            Err(LinkError::Refused(why)) => {
                (self.tell)(format!("a file that you changed could not be shown to the agent: {why}"));
                Ok(sandbox)
            }
            Ok(false) => {
                held.afresh("so many files of the workspace changed that a fresh one is quicker").await
            }
        }
    }

    /// What the agent is to be told of what the user did with git, which then is.
    pub async fn take_notes(&self) -> String {
        let Some(held) = self.hold().await else { return String::new() };
        if held.kept.sides.try_lock().is_ok_and(|sides| !sides.git.has_notes()) {
            return String::new();
        }
        let notes = held.sides(|sides| sides.git.take_notes()).await;
        notes.map(|notes| notes.concat()).unwrap_or_else(|error| {
            tracing::warn!(%error, "what the user did with git may be told again");
            String::new()
        })
    }

    /// Remembers what the agent's latest changes were made from. To be called after each tool call that may write.
    pub async fn capture(&self) {
        if let Some(held) = self.hold().await {
            held.capture().await;
        }
    }

    /// What the session took of the disk when that was counted last.
    pub async fn disk_taken(&self) -> DiskTaken {
        let running = self.slot.running().await.ok().flatten();
        DiskTaken {
            workspace_bytes: self.kept.as_ref().map_or(0, |kept| kept.changes_bytes.load(Ordering::Relaxed)),
            home_bytes: running.map_or(0, |sandbox| sandbox.home_bytes()),
        }
    }

    /// Keeps everybody else from bringing it up to date or reviewing it. `None`: there is nothing to review.
    pub async fn hold(&self) -> Option<HeldView<'_>> {
        let kept = self.kept.as_ref().ok()?;
        Some(HeldView { slot: &self.slot, kept, _turn: kept.turn.lock().await })
    }

    /// Why there is nothing to review, where that is so whatever the agent does.
    pub fn why_nothing(&self) -> Option<&str> {
        self.kept.as_ref().err().map(String::as_str)
    }

    /// Ends the sandbox. It is gone when this returns.
    pub async fn stop(&self) {
        self.slot.stop(self.finish()).await;
    }

    /// A session in which the agent only looked around leaves nothing. Nobody is waited for: what is left is settled when it
    /// is loaded.
    async fn finish(&self) {
        let Some((kept, _turn)) =
            self.kept.as_ref().ok().and_then(|kept| Some((kept, kept.turn.try_lock().ok()?)))
        else {
            return;
        };
        let sides = Arc::clone(&kept.sides);
        if let Err(error) = kept.looks.run(move || lock(&sides).settle_git()).await {
            tracing::info!(%error, "copies of the state of git stay");
        }
    }

    async fn running(&self) -> Result<Arc<Sandbox>, SandboxError> {
        let asked = Instant::now();
        // Who waits for one that is being started does not hold the view meanwhile: that may take long.
        self.slot.running().await?;
        let held = self.hold().await;
        let settle = async move {
            if let Some(held) = held {
                held.settle().await;
            }
        };
        self.slot.ready_after(asked, settle).await
    }
}

impl Kept {
    fn open(
        workspace: &WorkspaceRoot,
        buffers: Arc<dyn Buffers>,
        watches: &WorkspaceWatches,
        folder: &Path,
    ) -> io::Result<Self> {
        let bell = folder.parent().unwrap_or(folder);
        let (root, own) = (workspace.as_host().to_owned(), folder.to_owned());
        Ok(Self {
            turn: tokio::sync::Mutex::default(),
            looks: Worker::new(Sides::reach(workspace, folder)),
            writes: Worker::new(Reach { writes: vec![root, own], reads: Vec::new() }),
            changed: Arc::new(watches.subscribe(workspace, bell)?),
            changes_bytes: AtomicU64::new(0),
            sides: Arc::new(Mutex::new(Sides::open(workspace, buffers, folder)?)),
        })
    }
}

impl HeldView<'_> {
    /// Work on the sides, which is work on the disk, away from the threads that serve everybody. It can't write the user's
    /// files. Once nobody waits for it any more, it may stop.
    pub async fn sides<T: Send + 'static>(&self, work: impl FnOnce(&mut Sides) -> T + Send + 'static) -> T {
        let sides = Arc::clone(&self.kept.sides);
        self.kept.looks.run_while_wanted(move || work(&mut lock(&sides))).await
    }

    /// Work that writes the user's files.
    pub async fn write<T: Send + 'static>(&self, work: impl FnOnce(&mut Sides) -> T + Send + 'static) -> T {
        let sides = Arc::clone(&self.kept.sides);
        self.kept.writes.run(move || work(&mut lock(&sides))).await
    }

    /// Remembers what the agent's latest changes were made from.
    pub async fn capture(&self) {
        let changed = Arc::clone(&self.kept.changed);
        changed.catch_up().await;
        let captured = self.sides(move |sides| {
            let bytes = sides.capture(|path| changed.includes(path))?;
            sides.lose_hidden(&changed.known())?;
            Ok::<_, io::Error>(bytes)
        });
        match captured.await {
            Ok(bytes) => self.kept.changes_bytes.store(bytes, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(%error, "what the agent's changes were made from cannot be kept");
            }
        }
    }

    /// Gives a path of the agent's view this state: through the guest, or on the disk while no sandbox runs.
    pub async fn put(&self, path: &WorkspacePath, entry: &Entry) -> io::Result<()> {
        let large = matches!(entry, Entry::File(FileEntry { content: Content::Large { .. }, .. }));
        let no_sandbox = |error: SandboxError| io::Error::other(error.to_string());
        match self.slot.running().await.map_err(no_sandbox)? {
            Some(sandbox) if !large => {
                let broken = |error: LinkError| io::Error::other(error.to_string());
                put(sandbox.link(), path, entry, None).await.map_err(broken)
            }
            running => {
                if running.is_some() {
                    self.slot.restart("a large file was put back").await.map_err(no_sandbox)?;
                }
                let (path, entry) = (path.clone(), entry.clone());
                self.sides(move |sides| put_on_disk(sides, &path, &entry)).await
            }
        }
    }

    /// Brings the view up to date; `false` when that is too much work.
    async fn refresh(&self, link: &Link) -> Result<bool, LinkError> {
        let mut due = Due::take(&self.kept.changed).await;
        // No work on the disk, so it is not worth another thread: this is done before every call.
        let look = |sides: &mut Sides| (sides.user.changed_buffers(), sides.git.is_due());
        let seen = self.kept.sides.try_lock().ok().map(|mut sides| look(&mut sides));
        let (buffers, git_is_due) = match seen {
            Some(seen) => seen,
            // Work that nobody waits for any more isn't over yet.
            None => self.sides(look).await,
        };
        due.changed.paths.extend(buffers);
        if due.changed.too_many {
            return Ok(false);
        }
        if due.changed.paths.is_empty() && !git_is_due {
            return Ok(true);
        }
        let brought = self.bring_in(link, due.changed.paths.clone()).await?;
        if matches!(brought, Brought::TooMuch) {
            due.changed = Changed { paths: BTreeSet::new(), too_many: true };
            return Ok(false);
        }
        due.changed = Changed::default();
        match brought {
            // One that cannot be put is tried again when it changes again.
            Brought::AllBut(why) => Err(LinkError::Refused(why)),
            _ => Ok(true),
        }
    }

    async fn bring_in(&self, link: &Link, mut paths: BTreeSet<WorkspacePath>) -> Result<Brought, LinkError> {
        let plan = |sides: &mut Sides| Ok((sides.plan_git(&mut paths)?, sides.suspects(paths)));
        let (Plan::Push(git), suspects) = self.sides(plan).await.map_err(refused)? else {
            return Ok(Brought::TooMuch);
        };
        let stale = stale(link, suspects).await?;
        let Plan::Push(pushes) = self.sides(move |sides| sides.plan(&stale)).await.map_err(refused)? else {
            return Ok(Brought::TooMuch);
        };
        let mut brought = Brought::All;
        for Push { path, entry, modified_ns } in pushes.into_iter().chain(git) {
            match put(link, &path, &entry, modified_ns).await {
                // It keeps no other from being put.
                Err(LinkError::Refused(why)) if !why.contains(STALE) => {
                    brought = Brought::AllBut(why);
                    continue;
                }
                put => put?,
            }
            self.sides(move |sides| sides.agree(&path, &Agreed::On(entry))).await.map_err(refused)?;
        }
        self.sides(Sides::git_is_put).await.map_err(refused)?;
        Ok(brought)
    }

    /// A new sandbox, which sees the workspace as it is.
    async fn afresh(&self, why: &str) -> Result<Arc<Sandbox>, SandboxError> {
        self.slot.restart(why).await?;
        // All that was still due: the new one has it.
        drop(self.kept.changed.take().await);
        self.settle().await;
        let sandbox = self.slot.ready().await?;
        // What stands unsaved in an editor.
        match self.refresh(sandbox.link()).await {
            Ok(true) => {}
            other => tracing::warn!(?other, "a fresh sandbox may show old files"),
        }
        Ok(sandbox)
    }

    /// Takes out of the view what a new sandbox shows by itself. Only while none runs.
    pub async fn settle(&self) {
        if let Err(error) = self.sides(Sides::settle).await {
            tracing::warn!(%error, "the sandbox may show old files");
        }
    }
}

async fn put(
    link: &Link,
    path: &WorkspacePath,
    entry: &Entry,
    modified_ns: Option<i64>,
) -> Result<(), LinkError> {
    let content = match entry {
        Entry::File(FileEntry { content: Content::Whole(bytes), .. }) => Some(Arc::clone(bytes)),
        _ => None,
    };
    match call(path, entry, modified_ns) {
        Some(call) => link.ask(&call, content.as_deref()).await.map(drop),
        None => Ok(()),
    }
}

/// Where the user's file is what is wanted, the upper folder need not mention it.
fn put_on_disk(sides: &Sides, path: &WorkspacePath, entry: &Entry) -> io::Result<()> {
    if *entry != Entry::Folder && sides.user.on_disk(path)? == *entry {
        sides.upper.forget(path)?;
        if matches!(sides.upper.entry(path)?, super::upper::InUpper::Untouched) {
            return Ok(());
        }
    }
    sides.upper.put(path, entry)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(error: io::Error) -> LinkError {
    LinkError::Refused(error.to_string())
}
