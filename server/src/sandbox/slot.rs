//! A session's sandbox: started in the background, waited for by the first tool call, and replaced when it dies.

use super::{Isolation, Plan, Sandbox, SandboxError, disk};
use crate::environment::Environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::Mutex;

/// Where a session's commands run.
pub struct SandboxSlot {
    environment: Environment,
    /// `Err`: there is none, and why.
    plan: Result<Plan, SandboxError>,
    /// Locked while one is started, so that every call waits for the same.
    current: Arc<Mutex<Option<Arc<Sandbox>>>>,
    /// The last one is gone, and with it what a shell keeps.
    lost_one: AtomicBool,
    /// There will be no other one.
    is_over: AtomicBool,
    /// When the last start failed, and why.
    failure: Mutex<Option<(Instant, SandboxError)>>,
    tell: Arc<Tell>,
}

type Tell = dyn Fn(SandboxNews) + Send + Sync;

/// What happens to a session's sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxNews {
    /// One is on its way.
    Starting {
        /// The image that it is made of, which podman may have to copy first.
        image: Option<String>,
    },
    /// It takes commands.
    Ready {
        /// The wall around it, proved.
        isolation: Isolation,
        /// What it is.
        detail: String,
    },
    /// It could not be started.
    Failed(SandboxError),
    /// It ended, and why.
    Stopped(String),
}

impl SandboxSlot {
    /// A slot with no sandbox in it yet.
    pub fn new(
        environment: Environment,
        plan: Result<Plan, SandboxError>,
        tell: impl Fn(SandboxNews) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (current, failure) = (Arc::default(), Mutex::new(None));
        let (lost_one, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { environment, plan, current, lost_one, is_over, failure, tell: Arc::new(tell) })
    }

    /// A session without a sandbox, and why.
    pub fn none(environment: Environment, why: SandboxError) -> Arc<Self> {
        Self::new(environment, Err(why), |_| ())
    }

    /// Whether there can be one at all.
    pub fn has_plan(&self) -> bool {
        self.plan.is_ok()
    }

    /// The one that is there and alive. One that died is gone, and its folders are nobody's, when there is none.
    pub async fn running(&self) -> Result<Option<Arc<Sandbox>>, SandboxError> {
        let mut current = self.current.lock().await;
        self.bury(&mut current).await?;
        Ok(current.clone())
    }

    /// The sandbox, as soon as it takes commands. One that has died is replaced by a fresh one.
    pub async fn ready(self: &Arc<Self>) -> Result<Arc<Sandbox>, SandboxError> {
        self.ready_after(Instant::now(), std::future::ready(())).await
    }

    /// The same for somebody who began to wait earlier, and who prepares the folders where a fresh one is started.
    pub async fn ready_after(
        self: &Arc<Self>,
        asked: Instant,
        preparation: impl Future<Output = ()>,
    ) -> Result<Arc<Sandbox>, SandboxError> {
        let plan = self.plan.as_ref().map_err(Clone::clone)?;
        let mut current = Arc::clone(&self.current).lock_owned().await;
        // Who asked before the end may come here after it, and nobody would end what is started then.
        if self.is_over.load(Ordering::Relaxed) {
            return Err(SandboxError::new("the session is closed", "open another one"));
        }
        self.bury(&mut current).await?;
        if let Some(sandbox) = &*current {
            return Ok(Arc::clone(sandbox));
        }
        // A start that failed while this one waited would fail again, and might take as long.
        if let Some((at, error)) = &*self.failure.lock().await
            && *at >= asked
        {
            return Err(error.clone());
        }
        (self.tell)(SandboxNews::Starting { image: plan.image.clone() });
        preparation.await;
        // In a task of its own: who waits may give up, and a start that is dropped half-way leaves a container that
        // nobody knows of.
        let slot = Arc::clone(self);
        let started = tokio::spawn(async move { slot.start(&mut current).await }).await;
        started.unwrap_or_else(|error| {
            let what = format!("the start of the sandbox broke off, which is a bug: {error}");
            Err(SandboxError::new(what, "try again"))
        })
    }

    async fn start(&self, current: &mut Option<Arc<Sandbox>>) -> Result<Arc<Sandbox>, SandboxError> {
        let plan = self.plan.as_ref().map_err(Clone::clone)?;
        match Sandbox::start(&self.environment, plan).await {
            Ok(sandbox) => {
                let sandbox = Arc::new(sandbox);
                let is_replacement = self.lost_one.swap(false, Ordering::Relaxed);
                sandbox.is_replacement.store(is_replacement, Ordering::Relaxed);
                let detail = sandbox.describe();
                (self.tell)(SandboxNews::Ready { isolation: sandbox.isolation(), detail });
                self.watch(&sandbox);
                *current = Some(Arc::clone(&sandbox));
                Ok(sandbox)
            }
            Err(error) => {
                (self.tell)(SandboxNews::Failed(error.clone()));
                *self.failure.lock().await = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Ends what is left of a sandbox that died: two must never write to the same folders.
    async fn bury(&self, current: &mut Option<Arc<Sandbox>>) -> Result<(), SandboxError> {
        if let Some(dead) = current.as_ref().filter(|sandbox| sandbox.link().is_closed()) {
            tell_end(dead, &*self.tell);
            dead.stop().await.inspect_err(|error| (self.tell)(SandboxNews::Failed(error.clone())))?;
            self.lost_one.store(true, Ordering::Relaxed);
            *current = None;
        }
        Ok(())
    }

    /// Ends a sandbox that fills the disk, and tells the user at once when one ends by itself.
    fn watch(&self, sandbox: &Arc<Sandbox>) {
        let (closed, tell) = (sandbox.link().closed(), Arc::clone(&self.tell));
        let nearly_full = disk::nearly_full(sandbox.session_folder().to_owned());
        let sandbox = Arc::downgrade(sandbox);
        tokio::spawn(async move {
            let why = tokio::select! {
                () = closed => None,
                why = nearly_full => Some(why),
            };
            let Some(sandbox) = sandbox.upgrade() else { return };
            match why {
                None => tell_end(&sandbox, &*tell),
                Some(why) => sandbox.end_because(&why, |sandbox| tell_end(sandbox, &*tell)).await,
            }
        });
    }

    /// Ends the sandbox and says why; the next that is asked for is a fresh one.
    pub async fn restart(&self, why: &str) -> Result<(), SandboxError> {
        if end(&mut *self.current.lock().await).await? {
            self.lost_one.store(true, Ordering::Relaxed);
        }
        (self.tell)(SandboxNews::Stopped(why.to_owned()));
        Ok(())
    }

    /// Ends the sandbox for good. It is gone when this returns, with all but what it changed. `finish` is the last to work in
    /// its folders.
    pub async fn stop(&self, finish: impl Future<Output = ()>) {
        self.is_over.store(true, Ordering::Relaxed);
        // Held until all is tidy: who ends a session that is being ended finds nothing left to do.
        let mut current = self.current.lock().await;
        match (end(&mut current).await, &self.plan) {
            (Err(error), _) => tracing::warn!(%error, "the sandbox did not end"),
            (Ok(_), Ok(plan)) => {
                finish.await;
                super::place::tidy(&self.environment, &plan.session_id).await;
            }
            (Ok(_), Err(_)) => {}
        }
    }
}

/// Whether there was one to end.
async fn end(current: &mut Option<Arc<Sandbox>>) -> Result<bool, SandboxError> {
    if let Some(sandbox) = &*current {
        sandbox.stop().await?;
    }
    Ok(current.take().is_some())
}

/// Tells the user that a sandbox has ended by itself, unless that is known.
fn tell_end(dead: &Sandbox, tell: &Tell) {
    if !dead.end_is_told.swap(true, Ordering::Relaxed) {
        let said = dead.last_words();
        let why = if said.is_empty() { String::new() } else { format!(": {said}") };
        tell(SandboxNews::Stopped(format!("the sandbox ended unexpectedly{why}")));
    }
}
