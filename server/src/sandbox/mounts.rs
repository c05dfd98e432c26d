//! What the sandbox sees of the host, and who it is there.

use super::place::Place;
use super::root::{DEVICES, ETC, GUEST_PATH, HOME_PATH, OWN, WORKSPACE_PATH};
use super::runtime::Runtime;
use crate::limits::{SANDBOX_SHARED_MEMORY_MIB, SANDBOX_TEMPORARY_MIB};
use podman_api::models::{ContainerMount, IdMap, IdMappingOptions, Namespace, OverlayVolume};
use podman_api::opts::ContainerCreateOptsBuilder;
use std::path::{Path, PathBuf};

/// The agent's user and group in the sandbox.
pub(super) const USER: u32 = 1000;
/// Ids of the sandbox above the agent's own.
const IDS: u32 = 65_536;

/// The workspace as a view that takes changes and keeps them elsewhere.
pub(super) fn workspace(place: &Place) -> OverlayVolume {
    OverlayVolume {
        destination: Some(WORKSPACE_PATH.to_owned()),
        source: Some(place.workspace.display().to_string()),
        options: Some(vec![
            format!("upperdir={}", place.upper.for_podman().display()),
            // As root podman forgets the last option, without which no folder can be replaced: the runtime mounts it
            // in a user namespace, where the overlay may not use the attributes that are root's.
            format!(
                "workdir={}{}",
                place.work.for_podman().display(),
                if place.rootful { ",userxattr" } else { "" }
            ),
        ]),
    }
}

/// The host's tools, or the guest alone where an image has tools of its own; files of ours in the place of podman's; the
/// agent's home; places for its temporary files. Nothing else is writable, and each of these is bounded or watched.
pub(super) fn mounts(place: &Place, runtime: &Runtime) -> Vec<ContainerMount> {
    const READ_ONLY: [&str; 4] = ["ro", "rbind", "nosuid", "nodev"];
    let ours = |path: &str| bind(&of_root(place, path), path, &READ_ONLY);
    let tools: Vec<ContainerMount> = if place.image.is_some() {
        vec![ours(GUEST_PATH)]
    } else {
        let paths = std::iter::once("/usr").chain(ETC).filter(|path| Path::new(path).exists());
        paths.map(|path| bind(Path::new(path), path, &READ_ONLY)).collect()
    };
    let home = bind(&place.home.for_podman(), HOME_PATH, &["rw", "rbind", "nosuid", "nodev"]);
    let mut all: Vec<ContainerMount> = tools.into_iter().chain(OWN.map(ours)).collect();
    all.extend([home, temporary("/tmp", SANDBOX_TEMPORARY_MIB)]);
    // A microVM's kernel makes its own.
    if !runtime.is_krun {
        if place.rootful {
            all.extend(devices(place));
        }
        all.push(temporary("/dev/shm", SANDBOX_SHARED_MEMORY_MIB));
    }
    all
}

/// The devices, such that nobody inside can change their permissions. Runtimes bind the host's own into a user namespace,
/// writable; and in a workspace of root's the agent is root outside, to whom they belong.
fn devices(place: &Place) -> Vec<ContainerMount> {
    const READ_ONLY: [&str; 4] = ["ro", "bind", "nosuid", "noexec"];
    const TERMINALS: [&str; 6] = ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"];
    let folder = bind(&of_root(place, "/dev"), "/dev", &READ_ONLY);
    let device = DEVICES.map(|name| Path::new("/dev").join(name).display().to_string());
    let device = device.map(|path| bind(Path::new(&path), &path, &READ_ONLY));
    let terminals = mount("devpts", Some("devpts".to_owned()), "/dev/pts", &TERMINALS);
    std::iter::once(folder).chain(device).chain([terminals]).collect()
}

fn of_root(place: &Place, path: &str) -> PathBuf {
    place.root.join(path.trim_start_matches('/'))
}

fn bind(source: &Path, destination: &str, options: &[&str]) -> ContainerMount {
    mount("bind", Some(source.display().to_string()), destination, options)
}

/// In memory, and less than the sandbox has: a full one is an error for who fills it, not the end of the sandbox.
fn temporary(destination: &str, mib: u64) -> ContainerMount {
    let size = format!("size={mib}m");
    mount("tmpfs", Some("tmpfs".to_owned()), destination, &["rw", "nosuid", "nodev", "mode=1777", &size])
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

/// The agent is an ordinary user inside and the workspace's owner outside, so that what it writes belongs to the user,
/// and it has the rights of nobody else.
pub(super) fn mapped(options: ContainerCreateOptsBuilder, place: &Place) -> ContainerCreateOptsBuilder {
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
