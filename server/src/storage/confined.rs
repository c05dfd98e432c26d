//! Threads that can touch only the folders that they work on, whatever a slip in the code or a planted link asks of them.
//!
//! The kernel confines such a thread for good (Landlock), so it is never one of those that serve everybody, and it starts
//! no process. A kernel without Landlock leaves it as it is: `airlock doctor` says so.
//!
//! Landlock bounds what is opened, made, renamed and removed. It doesn't bound what is looked at (`stat`) or the mode and
//! the owner of a file, so every call beneath a handle stays as careful as it is.

use super::beneath::Disturber;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, Weak};

/// The newest rules that are asked for. An older kernel has less.
const RULES: ABI = ABI::V5;

/// The folders that a thread may reach.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Everything below these.
    pub writes: Vec<PathBuf>,
    /// Everything below these, without changing it.
    pub reads: Vec<PathBuf>,
}

/// How far the kernel confines a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// As far as Airlock asks for.
    Full,
    /// An older kernel: before Linux 6.10 a device may be controlled, before 6.2 a file may be emptied, and before 5.19 no
    /// file can be moved between folders.
    Partial,
    /// Not at all.
    None,
}

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// Who waits for the work on this thread; `None` where it is done in any case.
    static WANTED: RefCell<Option<Weak<()>>> = const { RefCell::new(None) };
}

/// An error where nobody waits any more for the work on this thread.
pub fn check_wanted() -> io::Result<()> {
    match WANTED.with_borrow(|wanted| wanted.as_ref().is_none_or(|wanted| wanted.strong_count() > 0)) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::Interrupted, "nobody waits for it any more")),
    }
}

/// A thread of this kind. It starts with the first work and ends when this is dropped.
pub struct Worker {
    reach: Reach,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Worker {
    /// One that can touch these folders. They must exist when its first work comes.
    pub fn new(reach: Reach) -> Self {
        Self { reach, jobs: Mutex::default() }
    }

    /// The same for work that may stop where it calls [`check_wanted`] once its caller has gone.
    pub async fn run_while_wanted<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let wanted = Arc::new(());
        let known = Arc::downgrade(&wanted);
        let outcome = self
            .run(move || {
                WANTED.set(Some(known));
                work()
            })
            .await;
        drop(wanted);
        outcome
    }

    /// Does this work there, in the order in which it is asked for. Work whose caller has gone is done all the same.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, outcome) = tokio::sync::oneshot::channel();
        let disturber = Disturber::here();
        let work = move || catch_unwind(AssertUnwindSafe(|| Disturber::over(disturber, work)));
        self.send(Box::new(move || drop(done.send(work()))));
        match outcome.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => unreachable_thread(),
        }
    }

    fn send(&self, job: Job) {
        let mut jobs = self.jobs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let jobs = jobs.get_or_insert_with(|| start(self.reach.clone()));
        if jobs.send(job).is_err() {
            unreachable_thread()
        }
    }
}

/// Its thread takes jobs as long as somebody can send some, and no job ends it.
fn unreachable_thread() -> ! {
    unreachable!("a confined thread ends only with its worker")
}

fn start(reach: Reach) -> Sender<Job> {
    let (jobs, waiting) = channel::<Job>();
    let is_free = Disturber::here().is_some();
    std::thread::spawn(move || {
        if !is_free {
            confine_to(&reach);
        }
        for job in waiting {
            WANTED.set(None);
            job();
        }
    });
    jobs
}

/// Does this work on a thread that can touch only these folders, and waits for it.
pub fn once<T: Send>(reach: &Reach, work: impl FnOnce() -> T + Send) -> T {
    on_a_thread(|| confine_to(reach), work)
}

/// The same for one folder that is open.
pub(super) fn within<T: Send>(folder: BorrowedFd<'_>, work: impl FnOnce() -> T + Send) -> T {
    on_a_thread(|| confine(&[folder], &[]), work)
}

fn on_a_thread<T: Send>(confine: impl FnOnce() -> Confinement + Send, work: impl FnOnce() -> T + Send) -> T {
    let disturber = Disturber::here();
    let confined = move || {
        if disturber.is_none() {
            confine();
        }
        Disturber::over(disturber, work)
    };
    std::thread::scope(|scope| scope.spawn(confined).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

fn confine_to(reach: &Reach) -> Confinement {
    let open = |paths: &[PathBuf]| paths.iter().filter_map(|path| PathFd::new(path).ok()).collect::<Vec<_>>();
    confine(&open(&reach.writes), &open(&reach.reads))
}

/// Confines this thread, and whatever thread it starts, for good.
fn confine<F: AsFd>(writes: &[F], reads: &[F]) -> Confinement {
    match try_confine(writes, reads) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Full,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
        Ok(RulesetStatus::NotEnforced) => Confinement::None,
        Err(error) => {
            tracing::warn!(%error, "the kernel confines none of Airlock's threads; work on files goes on without");
            Confinement::None
        }
    }
}

fn try_confine<F: AsFd>(writes: &[F], reads: &[F]) -> Result<RulesetStatus, RulesetError> {
    let (all, looking) = (AccessFs::from_all(RULES), AccessFs::ReadFile | AccessFs::ReadDir);
    let writes = writes.iter().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, all)));
    let reads = reads.iter().map(|folder| Ok::<_, RulesetError>(PathBeneath::new(folder, looking)));
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?.create()?;
    Ok(rules.add_rules(writes)?.add_rules(reads)?.restrict_self()?.ruleset)
}

/// How far this kernel confines a thread.
pub fn confinement() -> Confinement {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| confine::<PathFd>(&[], &[]));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Everything that a slip could do at a path, and whether it was done.
    fn tried(at: &Path) -> Vec<(&'static str, bool)> {
        let (file, folder, link) = (at.join("file"), at.join("folder"), at.join("link"));
        vec![
            ("read", fs::read(&file).is_ok()),
            ("list", fs::read_dir(at).is_ok()),
            ("write", fs::OpenOptions::new().append(true).open(&file).is_ok()),
            ("make a file", fs::write(at.join("new"), "").is_ok()),
            ("make a folder", fs::create_dir(at.join("new-folder")).is_ok()),
            ("make a link", std::os::unix::fs::symlink("x", at.join("new-link")).is_ok()),
            ("give a second name", fs::hard_link(&file, at.join("second")).is_ok()),
            ("rename", fs::rename(&link, at.join("renamed")).is_ok()),
            ("shorten", fs::OpenOptions::new().write(true).truncate(true).open(&file).is_ok()),
            ("remove a file", fs::remove_file(&file).is_ok()),
            ("remove a folder", fs::remove_dir(&folder).is_ok()),
        ]
    }

    fn place(top: &Path, name: &str) -> PathBuf {
        let place = top.join(name);
        fs::create_dir_all(place.join("folder")).unwrap();
        fs::write(place.join("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", place.join("link")).unwrap();
        place
    }

    fn which(done: bool, all: &[(&'static str, bool)]) -> Vec<&'static str> {
        all.iter().filter(|(_, was_done)| *was_done == done).map(|(name, _)| *name).collect()
    }

    #[tokio::test]
    async fn a_confined_thread_leaves_its_folders_in_no_way() {
        assert_eq!(confinement(), Confinement::Full, "the tests need a kernel with Landlock, 6.10 or newer");
        let top = tempfile::tempdir().unwrap();
        let [own, looked_at, outside] = ["own", "looked-at", "outside"].map(|name| place(top.path(), name));
        // A link in its own folder is the way that an attacker would make.
        std::os::unix::fs::symlink(&outside, own.join("way-out")).unwrap();
        let reach = Reach { writes: vec![own.clone()], reads: vec![looked_at.clone()] };
        let worker = Worker::new(reach.clone());
        let way_out = own.join("way-out");
        let [by_link, by_path, looking, at_home] =
            [way_out, outside.clone(), looked_at, own].map(|place| move || tried(&place));
        let nothing = Vec::<&str>::new();
        assert_eq!(which(true, &worker.run(by_link.clone()).await), nothing);
        assert_eq!(which(true, &worker.run(by_path).await), nothing);
        assert_eq!(which(true, &worker.run(looking).await), ["read", "list"]);
        assert_eq!(which(false, &worker.run(at_home).await), nothing);
        assert_eq!(which(true, &once(&reach, by_link)), nothing);
        // Not even a thread that it starts.
        let started = worker.run({
            let outside = outside.clone();
            move || std::thread::spawn(move || tried(&outside)).join().unwrap()
        });
        assert_eq!(which(true, &started.await), nothing);
        // Only that thread: this one is free.
        assert_eq!(which(false, &tried(&outside)), nothing);
    }

    #[tokio::test]
    async fn work_that_panics_is_told_to_its_caller_and_ends_nothing() {
        let worker = std::sync::Arc::new(Worker::new(Reach::default()));
        let broken = tokio::spawn({
            let worker = std::sync::Arc::clone(&worker);
            async move { worker.run(|| panic!("broken")).await }
        });
        assert!(broken.await.unwrap_err().is_panic());
        assert_eq!(worker.run(|| 7).await, 7);
    }
}
