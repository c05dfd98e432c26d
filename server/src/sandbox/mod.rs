//! Where the agent's commands run: a microVM or a container of our own podman, with our guest in it.
//!
//! | what | where |
//! |---|---|
//! | how one is started; which runtime to try | `start`, `runtime` |
//! | the installed podman, our own service of it, and its process | `podman_program`, `podman`, `service_process` |
//! | the host's tools as a root, or an image | `root`, `image` |
//! | how the container is made, and what it sees | `container`, `mounts` |
//! | folders on the host, and what stays of them | `place` |
//! | what kind of wall it is, proved | `proof` |
//! | the disk that it writes to | `disk` |
//! | what a killed server left behind; what a killed podman did | `leftovers`, `monitor` |
//! | what it needs of this machine; one that is started to see whether it can be | `survey`, `user`, `user_namespace`; `trial` |
//!
//! Architecture invariant: `podman exec` is never used. It does not enter a microVM, and older versions of crun run the
//! command on the host's kernel instead.

mod container;
mod create_call;
mod disk;
mod error;
mod image;
mod last_words;
mod leftovers;
mod monitor;
mod mounts;
mod place;
mod planted;
mod podman;
mod podman_program;
mod proof;
mod root;
mod runtime;
mod service_process;
mod slot;
mod start;
mod survey;
mod trial;
mod user;
mod user_counts;
mod user_namespace;

pub use error::SandboxError;
pub use place::{keeps_work, session_folder, session_folders, state_is_ours};
pub use slot::{SandboxNews, SandboxSlot};
pub use survey::{Part, survey};
pub use trial::{Trial, try_out};

use crate::config::IsolationWish;
use crate::environment::Environment;
use crate::limits::{SANDBOX_STOP_MAX_MS, SANDBOX_STOP_PODMANS_MAX};
use crate::neutral::neutral_line;
use crate::paths::WorkspaceRoot;
use airlock_guest::{Hello, Link};
use last_words::LastWords;
use podman::PodmanService;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What kind of wall stands around the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Another kernel.
    Microvm,
    /// Namespaces of this kernel.
    Container,
}

/// A running sandbox. It ends when it is stopped or dropped.
pub struct Sandbox {
    service: Arc<PodmanService>,
    id: String,
    link: Link,
    isolation: Isolation,
    hello: Hello,
    session_folder: PathBuf,
    /// Why it is no microVM.
    remarks: Vec<String>,
    /// The same where one was tried.
    no_microvm: Option<SandboxError>,
    /// What else of it is not as it should be.
    shortcomings: Vec<String>,
    last_words: LastWords,
    environment: Environment,
    /// It took the place of one that died, and no command was told yet.
    is_replacement: AtomicBool,
    /// The user knows that it is over.
    end_is_told: AtomicBool,
    /// What the agent's home takes of the disk, as the guest said last.
    home_bytes: AtomicU64,
}

/// What a sandbox is for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The session that it belongs to.
    pub session_id: String,
    /// What the agent sees a copy of.
    pub workspace: WorkspaceRoot,
    /// What the user insists on.
    pub isolation: IsolationWish,
    /// The image whose tools there are; without one, the host's.
    pub image: Option<String>,
}

impl Sandbox {
    /// Starts a sandbox with the best runtime that works.
    pub async fn start(environment: &Environment, plan: &Plan) -> Result<Self, SandboxError> {
        start::start(environment, plan).await
    }

    /// The way to the guest.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// What kind of wall stands around it: proved, not believed.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// What the guest said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// The folder on the disk that it writes to.
    fn session_folder(&self) -> &std::path::Path {
        &self.session_folder
    }

    /// What the guest, or the kernel below it, said last.
    pub fn last_words(&self) -> String {
        self.last_words.said()
    }

    /// Whether it took the place of one that died: true once, for whom it matters first.
    pub fn take_replacement_note(&self) -> bool {
        self.is_replacement.swap(false, Ordering::Relaxed)
    }

    /// What the agent's home takes of the disk, as the guest counted it last.
    pub fn home_bytes(&self) -> u64 {
        self.home_bytes.load(Ordering::Relaxed)
    }

    /// The guest has counted it.
    pub fn set_home_bytes(&self, bytes: u64) {
        self.home_bytes.store(bytes, Ordering::Relaxed);
    }

    /// What it is, in a line for people, with all remarks.
    pub fn describe(&self) -> String {
        let remarks = self.remarks.iter().chain(&self.shortcomings);
        let remarks: String = remarks.map(|remark| format!("; {remark}")).collect();
        format!("{}{remarks}", self.what())
    }

    /// What it is.
    fn what(&self) -> String {
        let Hello { kernel, memory_kib, .. } = &self.hello;
        let kind = match self.isolation {
            Isolation::Microvm => "a microVM with a kernel of its own",
            Isolation::Container => "a container on this machine's kernel",
        };
        // Said by the guest, whoever that is by now.
        let kernel: String = neutral_line(kernel).chars().take(64).collect();
        format!("{kind} ({kernel}), {} MiB, no network", memory_kib / 1024)
    }

    /// Ends it under its users, who learn why. The user is told first, for it may take a moment.
    async fn end_because(&self, why: &str, tell: impl FnOnce(&Self)) {
        self.last_words.hear(why.as_bytes());
        tell(self);
        if let Err(error) = container::remove(&self.service, &self.id).await {
            tracing::warn!(%error, why, "the sandbox did not end");
        }
    }

    /// Ends it. It is gone when this returns well.
    pub async fn stop(&self) -> Result<(), SandboxError> {
        self.end_is_told.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        let mut removed = container::remove(&self.service, &self.id).await;
        for others in 0..SANDBOX_STOP_PODMANS_MAX {
            let Err(error) = &removed else { break };
            // One that keeps silent is not asked for ever.
            if others > 0 && begun.elapsed() > Duration::from_millis(SANDBOX_STOP_MAX_MS) {
                break;
            }
            tracing::info!(%error, "a podman cannot end the sandbox; another one is asked");
            removed = match PodmanService::start(&self.environment, self.service.runtime()).await {
                Ok(service) => container::remove(&service, &self.id).await,
                Err(error) => Err(error),
            };
            if removed.is_ok() {
                monitor::end(&self.id).await;
            }
        }
        removed
    }
}
