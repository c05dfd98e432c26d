//! Where the agent's commands run: a microVM or a container of our own podman, with our guest in it.
//!
//! | what | where |
//! |---|---|
//! | which runtime to try | `runtime` |
//! | our own podman | `podman` |
//! | the host's tools as a root | `root` |
//! | how the container is made | `container` |
//! | what kind of wall it is, proved | `proof` |
//! | what a killed server left behind | `leftovers` |
//!
//! Architecture invariant: `podman exec` is never used. It does not enter a microVM, and older versions of crun run the
//! command on the host's kernel instead.

mod container;
mod error;
mod leftovers;
mod podman;
mod proof;
mod root;
mod runtime;
mod slot;

pub use error::SandboxError;
pub use slot::{SandboxNews, SandboxSlot};

use crate::config::IsolationWish;
use crate::environment::Environment;
use crate::limits::{SANDBOX_FILES_MAX, SANDBOX_HELLO_MAX_MS, SANDBOX_MEMORY_MIB, SANDBOX_PROCESSES_MAX};
use crate::paths::WorkspaceRoot;
use crate::storage;
use airlock_guest::{Answer, Call, Hello, Link};
use podman::PodmanService;
use runtime::Runtime;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
    upper: PathBuf,
    /// Why it is not the microVM that one might expect.
    remark: Option<String>,
    last_words: Arc<Mutex<String>>,
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
}

/// Where everything is on the host.
struct Place {
    root: PathBuf,
    workspace: PathBuf,
    upper: PathBuf,
    work: PathBuf,
    home: PathBuf,
    /// The workspace's user and group.
    owner: (u32, u32),
    /// We are root, so podman is.
    rootful: bool,
}

/// How large it may become.
#[derive(Clone, Copy)]
struct Size {
    memory_mib: u64,
    cpus: usize,
    files_max: u64,
    processes_max: u64,
}

impl Sandbox {
    /// Starts a sandbox with the best runtime that works.
    pub async fn start(environment: &Environment, plan: &Plan) -> Result<Self, SandboxError> {
        let (runtimes, mut remark) = runtime::candidates(environment, plan.isolation)?;
        let place = Place::prepare(environment, plan)?;
        let mut failure = None;
        for runtime in runtimes {
            match Self::start_with(environment, plan, &place, &runtime).await {
                Ok(mut sandbox) => {
                    sandbox.remark = remark.filter(|_| sandbox.isolation == Isolation::Container);
                    return Ok(sandbox);
                }
                Err(error) => {
                    tracing::info!(runtime = %runtime.program.display(), %error, "this runtime did not work");
                    if runtime.is_krun {
                        remark = Some(format!("no microVM came up: {error}"));
                    }
                    failure.get_or_insert(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| SandboxError::new("there is no runtime to try", "install crun")))
    }

    async fn start_with(
        environment: &Environment,
        plan: &Plan,
        place: &Place,
        runtime: &Runtime,
    ) -> Result<Self, SandboxError> {
        let service = Arc::new(PodmanService::start(environment, runtime).await?);
        leftovers::remove(&service).await;
        let id =
            container::create(&service, place, Size::of_host(), leftovers::labels(&plan.session_id)).await?;
        let last_words = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&last_words);
        let started = container::start(&service, &id, move |bytes| hear(&heard, bytes)).await;
        let met = match started {
            Ok(stream) => meet(stream, plan.isolation).await,
            Err(error) => Err(error),
        };
        match met {
            Ok((link, hello, isolation)) => {
                let upper = place.upper.clone();
                Ok(Self { service, id, link, isolation, hello, upper, remark: None, last_words })
            }
            Err(error) => {
                // It may be gone already; what stays is removed at the next start.
                let _ = container::remove(&service, &id).await;
                let said = last_words.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned();
                let what = if said.is_empty() { error.what } else { format!("{} ({said})", error.what) };
                Err(SandboxError { what, remedy: error.remedy })
            }
        }
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

    /// Why it is a container and not a microVM, when that was not asked for.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// The folder that holds what the agent changed.
    pub fn upper(&self) -> &std::path::Path {
        &self.upper
    }

    /// What the guest, or the kernel below it, said last.
    pub fn last_words(&self) -> String {
        self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it is, in a line for people.
    pub fn describe(&self) -> String {
        let Hello { kernel, memory_kib, .. } = &self.hello;
        let kind = match self.isolation {
            Isolation::Microvm => "a microVM with a kernel of its own",
            Isolation::Container => "a container on this machine's kernel",
        };
        let remark = self.remark.as_ref().map(|remark| format!("; {remark}")).unwrap_or_default();
        format!("{kind} ({kernel}), {} MiB, no network{remark}", memory_kib / 1024)
    }

    /// Ends it. It is gone when this returns.
    pub async fn stop(&self) {
        if let Err(error) = container::remove(&self.service, &self.id).await {
            tracing::warn!(%error, "the sandbox did not end");
        }
    }
}

/// Asks the guest who it is, and proves where it runs.
async fn meet(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    wish: IsolationWish,
) -> Result<(Link, Hello, Isolation), SandboxError> {
    let link = Link::new(stream);
    let asked =
        tokio::time::timeout(Duration::from_millis(SANDBOX_HELLO_MAX_MS), link.ask(&Call::Hello, None)).await;
    let hello = match asked {
        Ok(Ok(Answer::Hello(hello))) => hello,
        Ok(Ok(other)) => {
            return Err(SandboxError::new(format!("the guest answered {other:?}"), "install Airlock again"));
        }
        Ok(Err(error)) => {
            return Err(SandboxError::new(
                format!("the guest did not come up: {error}"),
                "try `airlock doctor`",
            ));
        }
        Err(_) => {
            let what = format!("the guest did not answer within {} s", SANDBOX_HELLO_MAX_MS / 1000);
            return Err(SandboxError::new(what, "see whether the machine is very busy, and try again"));
        }
    };
    let host_boot_id = storage::read_text(std::path::Path::new("/proc/sys/kernel/random/boot_id"), 64);
    let isolation = proof::isolation(&hello, host_boot_id.ok().flatten().unwrap_or_default().trim())?;
    proof::accept(isolation, wish)?;
    Ok((link, hello, isolation))
}

/// Keeps the end of what is said on stderr.
fn hear(last_words: &Mutex<String>, bytes: &[u8]) {
    const KEPT_BYTES: usize = 4 << 10;
    let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
    words.push_str(&String::from_utf8_lossy(bytes));
    let over = words.len().saturating_sub(KEPT_BYTES);
    let cut = words.ceil_char_boundary(over);
    words.drain(..cut);
}

impl Place {
    fn prepare(environment: &Environment, plan: &Plan) -> Result<Self, SandboxError> {
        let base = environment.state_dir.join("sandboxes");
        let session = base.join(&plan.session_id);
        let workspace = plan.workspace.as_host().to_owned();
        let failed = |error: std::io::Error| {
            SandboxError::new(
                format!("the sandbox's folders in {} cannot be made: {error}", base.display()),
                "make that folder writable, or free some space",
            )
        };
        let owner = workspace.metadata().map_err(failed)?;
        let place = Self {
            root: root::make(&base)?,
            upper: session.join("upper"),
            work: session.join("work"),
            home: environment.state_dir.join("homes").join(plan.workspace.kept_name()),
            workspace,
            owner: (owner.uid(), owner.gid()),
            rootful: rustix::process::geteuid().is_root(),
        };
        for folder in [&place.upper, &place.work, &place.home] {
            storage::make_private_folder(folder).map_err(failed)?;
        }
        Ok(place)
    }
}

impl Size {
    fn of_host() -> Self {
        let capped = |resource, wanted: u64| {
            let hard = rustix::process::getrlimit(resource).maximum;
            hard.map_or(wanted, |hard| hard.min(wanted))
        };
        Self {
            memory_mib: SANDBOX_MEMORY_MIB,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            files_max: capped(rustix::process::Resource::Nofile, SANDBOX_FILES_MAX),
            processes_max: capped(rustix::process::Resource::Nproc, SANDBOX_PROCESSES_MAX),
        }
    }
}
