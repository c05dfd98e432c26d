//! Whether podman can limit the memory and the processes of a container: control groups, and for a user who is not root
//! those of version 2, handed to them.

use crate::sandbox::error::SandboxError;
use crate::storage;
use std::path::Path;

const ROOT: &str = "/sys/fs/cgroup";
const WANTED: [&str; 2] = ["memory", "pids"];

pub(super) fn limits() -> Result<String, SandboxError> {
    let uid = rustix::process::geteuid();
    judge(Path::new(ROOT), uid.is_root(), uid.as_raw(), &read(Path::new("/proc/self/cgroup")))
}

fn judge(root: &Path, is_root: bool, uid: u32, own: &str) -> Result<String, SandboxError> {
    let is_v2 = root.join("cgroup.controllers").exists();
    let said = |version: u32| Ok(format!("memory and processes can be limited (cgroups v{version})"));
    if !is_v2 && is_root && WANTED.iter().all(|name| root.join(name).is_dir()) {
        return said(1);
    }
    if !is_v2 && !is_root {
        return Err(SandboxError::new(
            "without root, memory and processes can be limited with cgroups v2 only, and this system has v1",
            "start the kernel with systemd.unified_cgroup_hierarchy=1",
        ));
    }
    let users = format!("user.slice/user-{uid}.slice/user@{uid}.service");
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let groups = if is_root { vec![""] } else { vec![users.as_str(), own] };
    let controllers = groups.iter().map(|group| read(&root.join(group).join("cgroup.controllers")));
    let controllers = controllers.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let missing: Vec<&str> =
        WANTED.into_iter().filter(|name| !controllers.split_whitespace().any(|has| has == *name)).collect();
    if missing.is_empty() {
        return said(2);
    }
    Err(SandboxError::new(
        format!("{} cannot be limited: the control groups for it are not yours", missing.join(" and ")),
        "log in through systemd (not with `su`), or have Delegate=yes set for user@.service",
    ))
}

fn read(path: &Path) -> String {
    storage::read_text(path, 64 << 10).ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of control groups with these files.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            storage::replace(&root.path().join(name), text.as_bytes()).unwrap();
        }
        root
    }

    #[test]
    fn root_can_limit_with_either_version_and_a_user_with_the_second_one_only() {
        let first = tree(&[("memory/x", ""), ("pids/x", "")]);
        assert!(judge(first.path(), true, 0, "").is_ok());
        assert!(judge(first.path(), false, 1000, "").unwrap_err().what.contains("v1"));
        let second = tree(&[("cgroup.controllers", "cpu memory pids\n")]);
        assert!(judge(second.path(), true, 0, "").is_ok());
    }

    #[test]
    fn a_user_needs_groups_that_were_handed_to_them() {
        let handed = "user.slice/user-7.slice/user@7.service/cgroup.controllers";
        let all = tree(&[("cgroup.controllers", "memory pids"), (handed, "memory pids")]);
        assert!(judge(all.path(), false, 7, "").is_ok());
        let some = tree(&[("cgroup.controllers", "memory pids"), (handed, "pids")]);
        assert!(judge(some.path(), false, 7, "").unwrap_err().what.starts_with("memory cannot"));
        let by_hand = tree(&[("cgroup.controllers", ""), ("mine/cgroup.controllers", "memory pids")]);
        assert!(judge(by_hand.path(), false, 7, "0::/mine\n").is_ok());
        assert!(judge(by_hand.path(), false, 7, "0::/other\n").is_err());
    }
}
