//! Whether the kernel makes user namespaces for us. Every sandbox has one, so that its ids are not the host's, and where
//! there can be none, runtimes only say that a child of theirs has gone.

use super::error::SandboxError;
use super::podman_program::PodmanProgram;
use crate::distribution::{HostCommand, Remedy};
use crate::environment::Environment;
use crate::storage;
use std::io;
use std::path::Path;

/// How many there may be.
const MOST: &str = "user.max_user_namespaces";
/// Whether who is not root may have one. Only some kernels know it.
const UNPRIVILEGED: &str = "kernel.unprivileged_userns_clone";
/// What many kernels allow by themselves.
const MANY: u32 = 15_000;

/// Has one made. Gives what is there, in words.
pub(super) fn made(environment: &Environment) -> Result<String, SandboxError> {
    let podman = PodmanProgram::find(environment)?;
    podman.start_in_a_user_namespace().map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSPC | libc::EUSERS) => {
            refused(&error, setting(MOST).as_deref(), setting(UNPRIVILEGED).as_deref())
        }
        _ => podman.does_not_start(&error),
    })?;
    Ok("the kernel makes them".to_owned())
}

fn refused(error: &io::Error, most: Option<&str>, unprivileged: Option<&str>) -> SandboxError {
    let what = format!("the kernel makes no user namespace: {error}");
    let set = |name: &str, value: u32| {
        let command = HostCommand::as_root(&["sysctl", "-w", &format!("{name}={value}")]);
        let file = format!("put `{name} = {value}` into /etc/sysctl.d/airlock.conf, so that it stays");
        Remedy::run("allow them", vec![command]).and_then(&file)
    };
    let remedy = if most == Some("0") {
        set(MOST, MANY)
    } else if unprivileged == Some("0") {
        set(UNPRIVILEGED, 1)
    } else if error.raw_os_error() == Some(libc::EPERM) {
        "a chroot can have none, nor can many containers: run Airlock outside of it".into()
    } else {
        format!("see that `sysctl {MOST}` is not used up, and what `dmesg` says").into()
    };
    SandboxError::new(what, remedy)
}

fn setting(name: &str) -> Option<String> {
    let file = Path::new("/proc/sys").join(name.replace('.', "/"));
    storage::read_text(&file, 64).ok().flatten().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_was_told_to_refuse_comes_with_the_setting_and_a_chroot_by_its_name() {
        let (denied, full) =
            (io::Error::from_raw_os_error(libc::EPERM), io::Error::from_raw_os_error(libc::ENOSPC));
        for (error, most, unprivileged, expected) in [
            (&full, Some("0"), None, "sysctl -w user.max_user_namespaces=15000`"),
            (&denied, Some("9"), Some("0"), "sysctl -w kernel.unprivileged_userns_clone=1`"),
            (&denied, Some("9"), Some("1"), "a chroot can have none"),
            (&denied, None, None, "a chroot can have none"),
            (&full, Some("9"), None, "is not used up"),
        ] {
            let told = refused(error, most, unprivileged);
            assert!(told.remedy.text.contains(expected), "{told}");
        }
    }
}
