//! The container or microVM: how it is made, and the way to the guest in it.

use super::error::SandboxError;
use super::podman::{PodmanService, within};
use super::root::{ETC, GUEST_PATH, HOME_PATH, WORKSPACE_PATH};
use super::{Place, Size};
use crate::limits::SANDBOX_STOP_MAX_MS;
use futures::{StreamExt, TryStreamExt};
use podman_api::conn::TtyChunk;
use podman_api::models::{
    ContainerMount, IdMap, IdMappingOptions, LinuxMemory, LinuxPids, LinuxResources, Namespace,
    OverlayVolume, PosixRlimit,
};
use podman_api::opts::{
    ContainerAttachOpts, ContainerCreateOpts, ContainerCreateOptsBuilder, ContainerDeleteOpts,
};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{FuturesAsyncReadCompatExt, FuturesAsyncWriteCompatExt};

/// The agent's user and group in the sandbox.
const USER: u32 = 1000;
/// Ids of the sandbox above the agent's own.
const IDS: u32 = 65_536;

/// Makes a container and gives its id.
pub(super) async fn create(
    service: &PodmanService,
    place: &Place,
    size: Size,
    labels: Vec<(String, String)>,
) -> Result<String, SandboxError> {
    let runtime = service.runtime();
    let mut options = ContainerCreateOpts::builder()
        .rootfs(place.root.display().to_string())
        .rootfs_overlay(true)
        .command([GUEST_PATH, WORKSPACE_PATH])
        .stdin(true)
        .terminal(false)
        .user(format!("{USER}:{USER}"))
        .work_dir(WORKSPACE_PATH)
        .hostname("sandbox")
        .env([
            ("HOME", HOME_PATH),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
        ])
        .labels(labels)
        .net_namespace(Namespace { nsmode: Some("none".to_owned()), value: None })
        .overlay_volumes([workspace(place)])
        .mounts(mounts(place))
        .drop_capabilities(["all"])
        .no_new_privilages(true)
        .r_limits([limit("nofile", size.files_max), limit("nproc", size.processes_max)])
        .resource_limits(resources(size))
        .remove(true);
    if runtime.is_krun {
        let annotations =
            [("krun.cpus", size.cpus.to_string()), ("krun.ram_mib", size.memory_mib.to_string())];
        options = options.annotations(annotations);
    }
    let options = mapped(options, place).build();
    let created = within("make a container", service.api().containers().create(&options)).await?;
    Ok(created.id)
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
    let stdout =
        output.map_err(|error| std::io::Error::other(error.to_string())).try_filter_map(move |chunk| {
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

fn workspace(place: &Place) -> OverlayVolume {
    OverlayVolume {
        destination: Some(WORKSPACE_PATH.to_owned()),
        source: Some(place.workspace.display().to_string()),
        options: Some(vec![
            format!("upperdir={}", place.upper.display()),
            format!("workdir={}", place.work.display()),
        ]),
    }
}

fn mounts(place: &Place) -> Vec<ContainerMount> {
    let read_only = |path: &str| bind(Path::new(path), path, &["ro", "rbind", "nosuid", "nodev"]);
    let tools = std::iter::once("/usr").chain(ETC).filter(|path| Path::new(path).exists()).map(read_only);
    let home = bind(&place.home, HOME_PATH, &["rw", "rbind", "nosuid", "nodev"]);
    tools.chain([home, temporary("/tmp")]).collect()
}

fn bind(source: &Path, destination: &str, options: &[&str]) -> ContainerMount {
    mount("bind", Some(source.display().to_string()), destination, options)
}

fn temporary(destination: &str) -> ContainerMount {
    mount("tmpfs", Some("tmpfs".to_owned()), destination, &["rw", "nosuid", "nodev", "mode=1777"])
}

fn mount(kind: &str, source: Option<String>, destination: &str, options: &[&str]) -> ContainerMount {
    ContainerMount {
        _type: Some(kind.to_owned()),
        source,
        destination: Some(destination.to_owned()),
        options: Some(options.iter().map(|option| (*option).to_owned()).collect()),
        gid_mappings: None,
        uid_mappings: None,
    }
}

fn limit(kind: &str, most: u64) -> PosixRlimit {
    PosixRlimit { type_: Some(kind.to_owned()), soft: Some(most), hard: Some(most) }
}

fn resources(size: Size) -> LinuxResources {
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
        unified: None,
    }
}

/// The agent is an ordinary user inside and the workspace's owner outside, so that what it writes belongs to the user,
/// and it has the rights of nobody else.
fn mapped(options: ContainerCreateOptsBuilder, place: &Place) -> ContainerCreateOptsBuilder {
    if !place.rootful {
        let value = Some(format!("uid={USER},gid={USER}"));
        return options.user_namespace(Namespace { nsmode: Some("keep-id".to_owned()), value });
    }
    let map = |owner: u32| {
        let id = |inside, outside, size| IdMap {
            container_id: Some(i64::from(inside)),
            host_id: Some(i64::from(outside)),
            size: Some(i64::from(size)),
        };
        // Above every ordinary user's ids, so that nobody else's file is theirs.
        let base = 1 << 20;
        vec![id(0, base, USER), id(USER, owner, 1), id(USER + 1, base + USER + 1, IDS - USER - 1)]
    };
    let (user, group) = place.owner;
    options.user_namespace(Namespace { nsmode: Some("private".to_owned()), value: None }).id_mappings(
        IdMappingOptions {
            auto_user_ns: None,
            auto_user_ns_opts: None,
            uid_map: Some(map(user)),
            gid_map: Some(map(group)),
            host_uid_mapping: Some(false),
            host_gid_mapping: Some(false),
        },
    )
}
