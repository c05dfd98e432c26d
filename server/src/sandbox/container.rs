//! The container or microVM: how it is made, and the way to the guest in it.

use super::create_call;
use super::error::SandboxError;
use super::image::MountedImage;
use super::mounts::{USER, mapped, mounts, workspace};
use super::place::{Place, Size};
use super::podman::{PodmanService, within};
use super::root::{GUEST_PATH, HOME_PATH, PASSWD_ENTRY, WORKSPACE_PATH};
use super::runtime::Runtime;
use crate::limits::{MICROVM_FILES_MAX, MICROVM_MONITOR_MIB, SANDBOX_STOP_MAX_MS, SANDBOX_TEMPORARY_MIB};
use futures::{StreamExt, TryStreamExt};
use podman_api::conn::TtyChunk;
use podman_api::models::{LinuxMemory, LinuxPids, LinuxResources, Namespace, PosixRlimit};
use podman_api::opts::{ContainerAttachOpts, ContainerCreateOpts, ContainerDeleteOpts};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{FuturesAsyncReadCompatExt, FuturesAsyncWriteCompatExt};

/// Makes a container and gives its id.
pub(super) async fn create(
    service: &PodmanService,
    place: &Place,
    image: Option<&MountedImage>,
    size: Size,
    labels: Vec<(String, String)>,
) -> Result<String, SandboxError> {
    let runtime = service.runtime();
    let root = image.map_or(&place.root, |image| &image.root);
    let mut options = ContainerCreateOpts::builder()
        .rootfs(root.display().to_string())
        .rootfs_overlay(true)
        // What is written there is on a disk that nobody watches. The runtime for microVMs writes there itself.
        .read_only_fs(!runtime.is_krun)
        .command([GUEST_PATH, WORKSPACE_PATH])
        .env(variables(image))
        .stdin(true)
        .terminal(false)
        .user(format!("{USER}:{USER}"))
        .passwd_entry(PASSWD_ENTRY)
        .work_dir(WORKSPACE_PATH)
        .hostname("sandbox")
        .labels(labels)
        .net_namespace(Namespace { nsmode: Some("none".to_owned()), value: None })
        .overlay_volumes([workspace(place)])
        .mounts(mounts(place, runtime))
        .drop_capabilities(["all"])
        .no_new_privilages(true)
        .r_limits([limit("nofile", files_max(size, runtime)), limit("nproc", size.processes_max)])
        .resource_limits(resources(size, runtime))
        .remove(true);
    if runtime.is_krun {
        // Always both: what an image says of its microVM counts only where nothing is said here.
        let annotations =
            [("krun.cpus", size.cpus.to_string()), ("krun.ram_mib", size.memory_mib.to_string())];
        options = options.annotations(annotations);
    }
    let options = mapped(options, place).build();
    within("make a container", create_call::create(service.socket(), &options)).await
}

/// The variables that there are at first: an image's own count, but not against ours.
fn variables(image: Option<&MountedImage>) -> Vec<(String, String)> {
    let own = [("HOME", HOME_PATH), ("LANG", "C.UTF-8"), ("TERM", "dumb")];
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    let of_image = image.map(|image| image.variables.as_slice()).unwrap_or_default();
    let of_image = of_image.iter().filter_map(|variable| variable.split_once('='));
    let of_image = of_image.map(|(name, value)| (name.to_owned(), value.to_owned()));
    std::iter::once(path).chain(of_image).chain(own).collect()
}

/// The runtime that podman says it used, if it says so.
pub(super) async fn runtime_used(service: &PodmanService, id: &str) -> Option<String> {
    let inspected = within("inspect the container", service.api().containers().get(id).inspect()).await;
    match inspected {
        Ok(inspected) => inspected.oci_runtime,
        Err(error) => {
            tracing::debug!(%error, "the runtime is not known");
            None
        }
    }
}

/// The first process of a running container.
pub(super) async fn process(service: &PodmanService, id: &str) -> Option<u32> {
    let inspected = within("inspect the container", service.api().containers().get(id).inspect()).await;
    inspected.ok()?.state?.pid.and_then(|pid| pid.try_into().ok()).filter(|pid| *pid > 0)
}

/// Whether the guest, which cannot be heard, is well: it runs, or has ended well, as it does when nobody is at the other
/// end any more. One that podman knows nothing of may have.
pub(super) async fn is_well(service: &PodmanService, id: &str) -> bool {
    match within("inspect the container", service.api().containers().get(id).inspect()).await {
        Ok(inspected) => {
            inspected.state.is_some_and(|state| state.running == Some(true) || state.exit_code == Some(0))
        }
        Err(error) => error.passing,
    }
}

/// Attaches to a container that has been made, starts it, and gives the stream to its guest.
pub(super) async fn start(
    service: &PodmanService,
    id: &str,
    on_stderr: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + 'static, SandboxError> {
    let container = service.api().containers().get(id);
    let options = ContainerAttachOpts::builder().stdin(true).stdout(true).stderr(true).build();
    let attached = within("attach to the container", container.attach(&options)).await?;
    within("start the container", container.start(None)).await?;
    let (output, input) = attached.split();
    let on_stderr = std::sync::Arc::new(on_stderr);
    // Its reader panics at a frame of a kind that it does not know: that is the end of this way, and of nothing else.
    let output = AssertUnwindSafe(output).catch_unwind().map(|read| match read {
        Ok(chunk) => chunk.map_err(|error| std::io::Error::other(error.to_string())),
        Err(_) => Err(std::io::Error::other("podman sent what is no frame of a container's output")),
    });
    let stdout = output.try_filter_map(move |chunk| {
        let on_stderr = std::sync::Arc::clone(&on_stderr);
        async move {
            match chunk {
                TtyChunk::StdErr(bytes) => {
                    on_stderr(&bytes);
                    Ok(None)
                }
                TtyChunk::StdOut(bytes) | TtyChunk::StdIn(bytes) => Ok(Some(bytes)),
            }
        }
    });
    Ok(tokio::io::join(stdout.boxed().into_async_read().compat(), Box::pin(input).compat_write()))
}

/// Removes a container, however it is. It is gone when this returns well.
///
/// A container that ends by itself is removed by podman too, and of two who remove it one is told that it cannot. So
/// what counts is not the answer but whether it is still there.
pub(super) async fn remove(service: &PodmanService, id: &str) -> Result<(), SandboxError> {
    const POLL: Duration = Duration::from_millis(20);
    let container = service.api().containers().get(id);
    let options = ContainerDeleteOpts::builder().force(true).timeout(0).build();
    let begun = std::time::Instant::now();
    let gone = async {
        loop {
            let removed = within("remove the container", container.delete(&options)).await;
            if !within("look for the container", container.exists()).await? {
                tracing::debug!(took = ?begun.elapsed(), "the container is gone");
                return Ok(());
            }
            if let Err(error) = removed {
                tracing::debug!(%error, "the container is still there");
            }
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(Duration::from_millis(SANDBOX_STOP_MAX_MS), gone).await.unwrap_or_else(|_| {
        let what = format!("the container {id} cannot be removed");
        Err(SandboxError::new(
            what,
            format!("it is removed at the next start, or by `podman rm --force {id}`"),
        ))
    })
}

fn limit(kind: &str, most: u64) -> PosixRlimit {
    PosixRlimit { type_: Some(kind.to_owned()), soft: Some(most), hard: Some(most) }
}

/// A microVM's monitor keeps a file open for every one that was looked at inside, so it gets as many as this machine
/// allows. The limit of a process inside is its own kernel's business.
fn files_max(size: Size, runtime: &Runtime) -> u64 {
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    if runtime.is_krun { allowed.unwrap_or(MICROVM_FILES_MAX).min(MICROVM_FILES_MAX) } else { size.files_max }
}

fn resources(size: Size, runtime: &Runtime) -> LinuxResources {
    let bytes = i64::try_from(size.memory_mib << 20).unwrap_or(i64::MAX);
    LinuxResources {
        memory: Some(LinuxMemory {
            limit: Some(bytes),
            swap: Some(bytes),
            disable_oom_killer: None,
            kernel: None,
            kernel_tcp: None,
            reservation: None,
            swappiness: None,
            use_hierarchy: None,
        }),
        pids: Some(LinuxPids { limit: i64::try_from(size.processes_max).ok() }),
        block_io: None,
        cpu: None,
        devices: None,
        hugepage_limits: None,
        network: None,
        rdma: None,
        unified: (runtime.is_krun && Path::new("/sys/fs/cgroup/cgroup.controllers").exists())
            .then(|| HashMap::from([("memory.max".to_owned(), monitor_memory_bytes(size).to_string())])),
    }
}

/// What a microVM may take of this machine: its own memory, what is in its `/tmp`, which is a folder of this machine, and
/// what its monitor needs. Without this its control group would have the limit that older versions of krun make its
/// memory from, and a command that uses all of that would be the end of the whole microVM and not of the command.
fn monitor_memory_bytes(size: Size) -> u64 {
    (size.memory_mib + SANDBOX_TEMPORARY_MIB + MICROVM_MONITOR_MIB) << 20
}
