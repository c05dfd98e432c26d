//! A podman of our own: its API on a socket in a private folder, with the runtime that we chose.
//!
//! Why not the user's: until podman 5.8 the call that makes a container ignores the runtime it is asked for, and a
//! plain container comes up without a word. A service that was started with the runtime cannot ignore it.

use super::error::{ASK_PODMAN, SandboxError};
use super::podman_program::PodmanProgram;
use super::runtime::Runtime;
use super::service_process::ServiceProcess;
use super::{leftovers, planted};
use crate::environment::Environment;
use crate::limits::{PODMAN_ANSWER_MAX_MS, PODMAN_START_MAX_MS};
use podman_api::Podman;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A running service. It ends when this is dropped.
pub(super) struct PodmanService {
    program: PodmanProgram,
    api: Podman,
    runtime: Runtime,
    process: ServiceProcess,
    socket: PathBuf,
    /// Holds the socket.
    _folder: TempDir,
}

impl PodmanService {
    /// Starts a service and waits until it answers.
    pub(super) async fn start(environment: &Environment, runtime: &Runtime) -> Result<Self, SandboxError> {
        let program = PodmanProgram::find(environment)?;
        let folder = private_folder(environment)?;
        let socket = folder.path().join(leftovers::SOCKET);
        let process = ServiceProcess::start(&program, runtime, &socket)?;
        let (api, runtime) = (Podman::unix(&socket), runtime.clone());
        let mut service = Self { program, api, runtime, process, socket, _folder: folder };
        service.until_ready().await?;
        Ok(service)
    }

    pub(super) fn program(&self) -> &PodmanProgram {
        &self.program
    }

    pub(super) fn api(&self) -> &Podman {
        &self.api
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    async fn until_ready(&mut self) -> Result<(), SandboxError> {
        const POLL: Duration = Duration::from_millis(5);
        let answered = async {
            loop {
                if self.socket.exists() && self.api.ping().await.is_ok() {
                    return Ok(());
                }
                if let Some(what) = self.process.ended().await {
                    return Err(SandboxError::new(what, ASK_PODMAN));
                }
                tokio::time::sleep(POLL).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_millis(PODMAN_START_MAX_MS), answered).await;
        waited.unwrap_or_else(|_| {
            let what = format!("podman did not answer within {} s", PODMAN_START_MAX_MS / 1000);
            Err(SandboxError::new(
                what,
                "try `podman info`; a hung podman is often cured by `podman system migrate`",
            ))
        })
    }
}

/// Every call to podman has a deadline.
pub(super) async fn within<T>(
    doing: &str,
    call: impl Future<Output = podman_api::Result<T>>,
) -> Result<T, SandboxError> {
    match tokio::time::timeout(Duration::from_millis(PODMAN_ANSWER_MAX_MS), call).await {
        Ok(result) => result.map_err(|error| SandboxError::of_podman(doing, &error)),
        Err(_) => {
            let what =
                format!("podman could not {doing}: no answer within {} s", PODMAN_ANSWER_MAX_MS / 1000);
            Err(SandboxError::new(what, ASK_PODMAN))
        }
    }
}

/// Only the user may reach the socket. Its path must be short: the system allows 107 bytes.
fn private_folder(environment: &Environment) -> Result<TempDir, SandboxError> {
    let base =
        environment.variable("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).is_dir()).unwrap_or("/tmp");
    planted::check_runtime(Path::new(base))?;
    leftovers::remove_services(Path::new(base));
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    let mut folder = tempfile::Builder::new();
    folder.prefix(&leftovers::folder_prefix()).permissions(private).tempdir_in(base).map_err(|error| {
        SandboxError::new(
            format!("no private folder can be made in {base}: {error}"),
            "free some space there",
        )
    })
}
