//! What dies: the guest, the podman that runs it, its container, podman's socket.

use super::world::World;
use crate::traces;
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use tokio::process::Command;

#[derive(Clone, Copy)]
pub(super) enum Crash {
    /// The first process of the sandbox is killed from outside.
    Guest,
    /// Podman's service is killed.
    Podman,
    /// The container is removed.
    Container,
    /// Podman's socket is gone.
    Socket,
}

impl Crash {
    pub(super) fn any(dice: &mut Rng) -> Self {
        *dice.choice(&[Self::Guest, Self::Guest, Self::Podman, Self::Container, Self::Socket]).expect("some")
    }
}

/// Lets it happen to a session; `false` when there was nothing to hit.
pub(super) async fn strike(world: &World, session: &str, crash: Crash) -> bool {
    match crash {
        Crash::Guest => traces::guest_of(world.home(), session).is_some_and(kill),
        Crash::Podman => traces::services(world.home()).first().copied().is_some_and(kill),
        Crash::Container => remove_container(world, session).await,
        Crash::Socket => {
            let socket = sockets(world).into_iter().next();
            socket.is_some_and(|socket| std::fs::remove_file(socket).is_ok())
        }
    }
}

fn kill(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

async fn remove_container(world: &World, session: &str) -> bool {
    let Some((id, _)) =
        traces::containers(world.server()).await.into_iter().find(|(_, other)| other == session)
    else {
        return false;
    };
    let removed = Command::new("podman").args(["rm", "--force", "--time", "0", &id]).output().await;
    removed.is_ok_and(|output| output.status.success())
}

fn sockets(world: &World) -> Vec<PathBuf> {
    let folders = traces::service_folders(world.home()).into_iter();
    folders.map(|folder| folder.join("podman.sock")).filter(|socket| socket.exists()).collect()
}
