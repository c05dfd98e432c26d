//! A session's sandbox: started in the background, waited for by the first tool call, and replaced when it dies.

use super::{Isolation, Plan, Sandbox, SandboxError};
use crate::environment::Environment;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Where a session's commands run.
pub struct SandboxSlot {
    environment: Environment,
    /// `Err`: there is none, and why.
    plan: Result<Plan, SandboxError>,
    /// Locked while one is started, so that every call waits for the same.
    current: Mutex<Option<Arc<Sandbox>>>,
    tell: Box<dyn Fn(SandboxNews) + Send + Sync>,
}

/// What happens to a session's sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxNews {
    /// One is on its way.
    Starting,
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
        Arc::new(Self { environment, plan, current: Mutex::new(None), tell: Box::new(tell) })
    }

    /// A session without a sandbox, and why.
    pub fn none(environment: Environment, why: SandboxError) -> Arc<Self> {
        Self::new(environment, Err(why), |_| ())
    }

    /// Starts the sandbox without waiting for it.
    pub fn warm_up(self: &Arc<Self>) {
        if self.plan.is_ok() {
            let slot = Arc::clone(self);
            // Whoever needs it gets the error again, from a start of its own.
            tokio::spawn(async move { drop(slot.ready().await) });
        }
    }

    /// The sandbox, as soon as it takes commands. One that has died is replaced by a fresh one.
    pub async fn ready(&self) -> Result<Arc<Sandbox>, SandboxError> {
        let plan = self.plan.as_ref().map_err(Clone::clone)?;
        let mut current = self.current.lock().await;
        match current.take() {
            Some(sandbox) if !sandbox.link().is_closed() => {
                *current = Some(Arc::clone(&sandbox));
                return Ok(sandbox);
            }
            Some(dead) => {
                let said = dead.last_words();
                let why = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
                (self.tell)(SandboxNews::Stopped(format!("the sandbox ended unexpectedly{why}")));
                dead.stop().await;
            }
            None => {}
        }
        (self.tell)(SandboxNews::Starting);
        match Sandbox::start(&self.environment, plan).await {
            Ok(sandbox) => {
                let sandbox = Arc::new(sandbox);
                let detail = sandbox.describe();
                (self.tell)(SandboxNews::Ready { isolation: sandbox.isolation(), detail });
                *current = Some(Arc::clone(&sandbox));
                Ok(sandbox)
            }
            Err(error) => {
                (self.tell)(SandboxNews::Failed(error.clone()));
                Err(error)
            }
        }
    }

    /// Ends the sandbox. It is gone when this returns.
    pub async fn stop(&self) {
        if let Some(sandbox) = self.current.lock().await.take() {
            sandbox.stop().await;
        }
    }
}
