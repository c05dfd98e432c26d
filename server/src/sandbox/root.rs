//! The sandbox's root without an image: the host's own tools, read-only, around a few files of ours.

use super::error::SandboxError;
use crate::storage;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The guest, built by the build script.
const GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/airlock-guest"));

/// Where the guest is in the sandbox.
pub(super) const GUEST_PATH: &str = "/.airlock-guest";
/// The agent's home in the sandbox.
pub(super) const HOME_PATH: &str = "/home/agent";
/// The workspace in the sandbox.
pub(super) const WORKSPACE_PATH: &str = "/workspace";

const FOLDERS: [&str; 11] = [
    "usr",
    "etc",
    "proc",
    "sys",
    "dev/pts",
    "dev/shm",
    "tmp",
    "run/secrets",
    "workspace",
    "home/agent",
    "var",
];
/// Anybody may write there. Some runtimes give what is mounted on a folder the folder's mode, whatever the mount says.
const SHARED_FOLDERS: [&str; 2] = ["tmp", "dev/shm"];
const LINKS: [(&str, &str); 10] = [
    ("bin", "usr/bin"),
    ("lib", "usr/lib"),
    ("lib64", "usr/lib64"),
    ("sbin", "usr/sbin"),
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
    ("dev/ptmx", "pts/ptmx"),
    ("var/tmp", "/tmp"),
];
/// The devices that a command gets.
pub(super) const DEVICES: [&str; 6] = ["full", "null", "random", "tty", "urandom", "zero"];
/// Nobody but the agent lives here.
const PASSWD: &str =
    "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n";
/// The agent's line for an image that has none. Podman would make one of what it knows of the user.
pub(super) const PASSWD_ENTRY: &str = "agent:x:1000:1000:agent:/home/agent:/bin/bash";
const GROUP: &str = "root:x:0:\nagent:x:1000:\n";
/// No network, so nothing to look up but ourselves.
const HOSTS: &str = "127.0.0.1 localhost sandbox\n::1 localhost\n";

/// Files that podman would mount with what it takes from the host's, the user's to write.
const FILES: [(&str, &str); 6] = [
    ("etc/passwd", PASSWD),
    ("etc/group", GROUP),
    ("etc/hosts", HOSTS),
    ("etc/hostname", "sandbox\n"),
    ("etc/resolv.conf", ""),
    ("run/.containerenv", ""),
];
/// Those of them that are mounted, also over an image's, and an empty folder where some distributions have podman mount
/// the system's subscription, with its key.
pub(super) const OWN: [&str; 5] =
    ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv", "/run/secrets"];

/// What programs need of the host's `/etc`: nothing that names users, keys or the network.
pub(super) const ETC: [&str; 5] =
    ["/etc/alternatives", "/etc/ssl/certs", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/// The root of this version. Made once under a name that tells its content, and never changed.
pub(super) fn make(folder: &Path) -> Result<PathBuf, SandboxError> {
    let files = format!("{FOLDERS:?}{SHARED_FOLDERS:?}{LINKS:?}{DEVICES:?}{FILES:?}{ETC:?}");
    let digest = Sha256::new().chain_update(GUEST).chain_update(files).finalize();
    let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let root = folder.join(format!("root-{name}"));
    let made = if root.is_dir() { Ok(()) } else { storage::make_folder_whole(&root, build) };
    made.map_err(|error| {
        let what = format!("the sandbox's root {} cannot be made: {error}", root.display());
        SandboxError::new(what, "make that folder writable, or free some space")
    })?;
    Ok(root)
}

fn build(root: &Path) -> std::io::Result<()> {
    for folder in FOLDERS {
        storage::make_open_folder(&root.join(folder))?;
    }
    for folder in SHARED_FOLDERS {
        storage::set_mode(&root.join(folder), 0o1777)?;
    }
    for (name, target) in LINKS {
        // A host without `/usr/lib64` has no use for the link either, but it does no harm.
        storage::link(Path::new(target), &root.join(name))?;
    }
    for (name, text) in FILES {
        storage::write_open(&root.join(name), text.as_bytes(), 0o644)?;
    }
    for name in DEVICES {
        storage::write_open(&root.join("dev").join(name), b"", 0o644)?;
    }
    for name in ETC {
        let inside = root.join(name.trim_start_matches('/'));
        let host = Path::new(name);
        if host.is_dir() {
            storage::make_open_folder(&inside)?;
        } else if host.is_file() {
            storage::write_open(&inside, b"", 0o644)?;
        }
    }
    storage::write_open(&root.join(GUEST_PATH.trim_start_matches('/')), GUEST, 0o755)
}
