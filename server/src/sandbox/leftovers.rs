//! What a killed server left behind: found by its labels, removed at the next start.

use super::error::SandboxError;
use super::podman::{PodmanService, within};
use super::root::GUEST_PATH;
use super::{container, monitor};
use crate::environment::Environment;
use crate::storage;
use crate::storage::beneath::{Folder, Node};
use podman_api::opts::{ContainerListFilter, ContainerListOpts};
use std::collections::HashMap;
use std::path::Path;

const OWNER: &str = "airlock.owner";
const SESSION: &str = "airlock.session";
const UPPER: &str = "airlock.upper";
const FOLDER: &str = "airlock-podman-";
/// The name of a service's socket.
pub(super) const SOCKET: &str = "podman.sock";
/// A file that conmon writes where it stands when a container's memory ran out.
const OUT_OF_MEMORY: &str = "oom";

/// What names a server: its process and when that began, since a process id is used again.
pub(super) fn owner() -> String {
    let pid = std::process::id();
    format!("{pid}@{}", began(pid).unwrap_or_default())
}

/// Labels for a container of ours, which writes to this folder.
pub(super) fn labels(session_id: &str, upper: &Path) -> Vec<(String, String)> {
    let labels = [(OWNER, owner()), (SESSION, session_id.to_owned()), (UPPER, upper.display().to_string())];
    labels.map(|(name, value)| (name.to_owned(), value)).into()
}

/// How the name of a folder for a service's socket begins.
pub(super) fn folder_prefix() -> String {
    named(FOLDER)
}

/// How the name of a folder begins that goes with this process.
pub(super) fn named(prefix: &str) -> String {
    format!("{prefix}{}-", owner())
}

/// Removes such folders of processes that are gone, with all that is in them.
pub(super) fn remove_folders(base: &Path, prefix: &str) {
    let names = storage::names_with_prefix(base, prefix).unwrap_or_default();
    for name in names.iter().filter(|name| owner_of_folder(name, prefix).is_some_and(|owner| !lives(owner))) {
        let folder = base.join(name);
        if let Err(error) = storage::remove_tree(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a leftover folder cannot be removed");
        }
    }
}

/// Ends the podman services of servers that are gone, and removes their sockets. The folder they are looked for in may
/// be `/tmp`, so nothing is touched whose name is not exactly one of ours, and nothing but what we know is removed.
pub(super) fn remove_services(base: &Path) {
    let names = match storage::names_with_prefix(base, FOLDER) {
        Ok(names) => names,
        Err(error) => return tracing::warn!(%error, "leftover services cannot be looked for"),
    };
    for name in names.iter().filter(|name| owner_of_folder(name, FOLDER).is_some_and(|owner| !lives(owner))) {
        let folder = base.join(name);
        for pid in services_at(&folder) {
            // It may have ended by itself meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        if let Err(error) = remove_service_folder(base, name) {
            tracing::warn!(folder = %folder.display(), %error, "a leftover folder cannot be removed");
        }
    }
}

/// Somebody else may have made a folder or a link with such a name.
fn remove_service_folder(base: &Path, name: &str) -> std::io::Result<()> {
    let base = Folder::open(base)?;
    let Node::Folder(folder) = base.node(name.as_ref())? else { return Ok(()) };
    for ours in [SOCKET, OUT_OF_MEMORY] {
        folder.remove_file(ours.as_ref())?;
    }
    base.remove_empty_folder(name.as_ref())
}

/// The owner in a folder's name, when it is a name of ours: `PREFIX-PID@TIME-RANDOM`.
fn owner_of_folder<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (owner, random) = name.strip_prefix(prefix)?.split_once('-')?;
    (is_owner(owner) && random.len() == 6).then_some(owner)
}

/// Whether this can name a server: `PID@TIME`.
fn is_owner(owner: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    owner.split_once('@').is_some_and(|(pid, time)| number(pid) && number(time))
}

/// The processes that serve a socket in a folder: known by that very argument.
fn services_at(folder: &Path) -> Vec<rustix::process::Pid> {
    let argument = format!("unix://{}/{SOCKET}", folder.display());
    monitor::processes(|arguments| arguments.contains(&argument.as_str()))
}

/// Removes the containers of servers that are gone, and of our own those that write to this folder: podman may have made
/// one whose id we never heard. What cannot be removed is left to the next start.
pub(super) async fn remove(service: &PodmanService, upper: &Path) {
    let is_left =
        |labels: &Labels| writes_to(labels, upper) || labels.get(OWNER).is_some_and(|owner| !lives(owner));
    if let Err(error) = remove_those(service, is_left).await {
        tracing::warn!(%error, "a leftover container cannot be removed");
    }
}

/// Removes what a start that failed has left. Podman may have made a container and died before it could say so; then
/// another one is asked.
pub(super) async fn remove_of(environment: &Environment, service: &PodmanService, upper: &Path) {
    let is_ours = |labels: &Labels| writes_to(labels, upper);
    let Err(error) = remove_those(service, is_ours).await else { return };
    tracing::info!(%error, "the podman that was to start the sandbox cannot clear up; another one is asked");
    let removed = match PodmanService::start(environment, service.runtime()).await {
        Ok(other) => remove_those(&other, is_ours).await,
        Err(error) => Err(error),
    };
    if let Err(error) = removed {
        tracing::warn!(%error, "a container of a start that failed may be left");
    }
}

type Labels = HashMap<String, String>;

/// Whether it is a container of this server that writes to a folder.
fn writes_to(labels: &Labels, upper: &Path) -> bool {
    labels.get(OWNER).is_some_and(|made_by| *made_by == owner())
        && labels.get(UPPER).is_some_and(|label| Path::new(label) == upper)
}

/// Removes the containers of Airlock that have such labels, as far as it can. A label is anybody's to write, so what is
/// removed must be labelled and made as ours are.
async fn remove_those(service: &PodmanService, wanted: impl Fn(&Labels) -> bool) -> Result<(), SandboxError> {
    let of_airlock = ContainerListFilter::LabelKey(OWNER.to_owned());
    let options = ContainerListOpts::builder().all(true).filter([of_airlock]).build();
    let listed = within("list containers", service.api().containers().list(&options)).await?;
    let mut outcome = Ok(());
    for found in listed {
        let labels = found.labels.unwrap_or_default();
        let is_labelled =
            labels.get(OWNER).is_some_and(|owner| is_owner(owner)) && labels.contains_key(SESSION);
        let runs_our_guest =
            found.command.is_some_and(|command| command.first().is_some_and(|first| first == GUEST_PATH));
        let Some(id) = found.id.filter(|_| is_labelled && runs_our_guest && wanted(&labels)) else {
            continue;
        };
        match container::remove(service, &id).await {
            Ok(()) => monitor::end(&id).await,
            Err(error) => outcome = Err(error),
        }
    }
    outcome
}

/// Whether the server that is named still runs.
pub(super) fn lives(owner: &str) -> bool {
    let Some((pid, time)) = owner.split_once('@') else { return false };
    pid.parse().ok().and_then(began).is_some_and(|now| now == time)
}

/// When a process that still runs began, in the kernel's own count.
fn began(pid: u32) -> Option<String> {
    began_of_stat(&storage::read_text(Path::new(&format!("/proc/{pid}/stat")), 4 << 10).ok()??)
}

fn began_of_stat(stat: &str) -> Option<String> {
    // The name may hold anything, also spaces and brackets; what follows the last bracket is plain words.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    // Dead, and nobody has waited for it yet: some containers have nobody who ever does.
    if matches!(words.next()?, "Z" | "X") {
        return None;
    }
    words.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_live_and_a_process_that_began_at_another_time_does_not() {
        let [(_, owner), ..] = &labels("s", Path::new("u"))[..] else { panic!() };
        assert!(lives(owner));
        let (pid, time) = owner.split_once('@').unwrap();
        assert!(!lives(&format!("{pid}@{time}0")));
        assert!(!lives("999999999@1") && !lives("nonsense"));
    }

    #[test]
    fn a_dead_process_that_nobody_waited_for_does_not_live() {
        let stat = |state: &str| format!("7 (a) b) {state} 1{} 77 0", " 0".repeat(17));
        assert_eq!(began_of_stat(&stat("S")).as_deref(), Some("77"));
        assert_eq!(began_of_stat(&stat("Z")), None);
    }

    #[test]
    fn folders_of_others_and_whatever_else_is_in_ours_are_never_touched() {
        let base = tempfile::tempdir().unwrap();
        let others = [
            "airlock-home-AbCdEf",
            "airlock-podman-mine-AbCdEf",
            "airlock-podman-1@2",
            "airlock-podman-1@x-AbCdEf",
        ];
        for name in others {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        let ours = base.path().join("airlock-podman-999999999@1-AbCdEf");
        let full = base.path().join("airlock-podman-999999999@2-AbCdEf");
        for folder in [&ours, &full] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(SOCKET), "").unwrap();
            std::fs::write(folder.join(OUT_OF_MEMORY), "").unwrap();
        }
        std::fs::write(full.join("precious"), "").unwrap();
        remove_services(base.path());
        assert!(others.iter().all(|name| base.path().join(name).is_dir()));
        assert!(!ours.exists() && full.join("precious").exists());
    }
}
