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

const FOLDERS: [&str; 9] = ["usr", "etc", "proc", "sys", "dev", "tmp", "run", "workspace", "home/agent"];
const LINKS: [(&str, &str); 4] =
    [("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64"), ("sbin", "usr/sbin")];
/// Nobody but the agent lives here.
const PASSWD: &str =
    "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n";
const GROUP: &str = "root:x:0:\nagent:x:1000:\n";
/// No network, so nothing to look up but ourselves.
const HOSTS: &str = "127.0.0.1 localhost sandbox\n::1 localhost\n";

/// What programs need of the host's `/etc`: nothing that names users, keys or the network.
pub(super) const ETC: [&str; 5] =
    ["/etc/alternatives", "/etc/ssl/certs", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/// The root of this version. Made once under a name that tells its content, and never changed.
pub(super) fn make(folder: &Path) -> Result<PathBuf, SandboxError> {
    let digest = Sha256::digest(GUEST);
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
    // Some runtimes give what is mounted there this mode, whatever the mount says.
    storage::set_mode(&root.join("tmp"), 0o1777)?;
    for (name, target) in LINKS {
        // A host without `/usr/lib64` has no use for the link either, but it does no harm.
        storage::link(Path::new(target), &root.join(name))?;
    }
    storage::write_open(&root.join("etc/passwd"), PASSWD.as_bytes(), 0o644)?;
    storage::write_open(&root.join("etc/group"), GROUP.as_bytes(), 0o644)?;
    storage::write_open(&root.join("etc/hosts"), HOSTS.as_bytes(), 0o644)?;
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
