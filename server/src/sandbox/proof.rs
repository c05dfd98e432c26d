//! Proves what kind of wall stands around the guest, instead of believing it.
//!
//! A kernel makes its boot id anew at each boot. A guest that tells another one than ours runs on another kernel; one
//! that tells ours runs on this one, whatever the runtime was called.

use super::Isolation;
use super::error::SandboxError;
use super::place::Size;
use crate::config::IsolationWish;
use airlock_guest::{Hello, VERSION};

/// The isolation that there is.
pub(super) fn isolation(hello: &Hello, host_boot_id: &str) -> Result<Isolation, SandboxError> {
    let is_id = |id: &str| id.len() == 36 && id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if hello.version != VERSION {
        return Err(SandboxError::new(
            format!("the guest speaks version {} and the server version {VERSION}", hello.version),
            "install Airlock again",
        ));
    }
    if !is_id(&hello.boot_id) || !is_id(host_boot_id) {
        // Without both ids nothing is proved, and what is not proved is not claimed.
        return Ok(Isolation::Container);
    }
    Ok(if hello.boot_id == host_boot_id { Isolation::Container } else { Isolation::Microvm })
}

/// Whether that is what the user insists on.
pub(super) fn accept(isolation: Isolation, wish: IsolationWish) -> Result<(), SandboxError> {
    match (wish, isolation) {
        (IsolationWish::Microvm, Isolation::Container) => Err(SandboxError::new(
            "a microVM was asked for, but what came up is a container on this machine's own kernel",
            "see that podman really uses the krun runtime, or set isolation = \"auto\" in your config.toml",
        )),
        _ => Ok(()),
    }
}

/// A remark when the guest has more memory than it should: where control groups cannot limit it, that is said.
pub(super) fn memory_is_unlimited(hello: &Hello, isolation: Isolation, size: Size) -> Option<String> {
    let is_limited = isolation == Isolation::Microvm || hello.memory_kib <= size.memory_mib << 10;
    (!is_limited).then(|| {
        format!(
            "its memory is not limited to {} MiB, because the control groups of this system do not let podman do that \
             (without root it takes cgroups v2)",
            size.memory_mib
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "1204d9dc-28d3-424e-a776-7e22a8281c8b";

    fn hello(boot_id: &str) -> Hello {
        let (kernel, boot_id) = ("6.1".to_owned(), boot_id.to_owned());
        Hello { version: VERSION, boot_id, kernel, memory_kib: 1, cpus: 1, uid: 1000 }
    }

    #[test]
    fn only_another_kernel_is_a_microvm() {
        let other = OURS.replace('1', "2");
        assert_eq!(isolation(&hello(&other), OURS), Ok(Isolation::Microvm));
        assert_eq!(isolation(&hello(OURS), OURS), Ok(Isolation::Container));
    }

    #[test]
    fn what_is_not_proved_is_not_claimed() {
        for (guest, host) in [("", OURS), (OURS, ""), ("nonsense", OURS), ("", "")] {
            assert_eq!(isolation(&hello(guest), host), Ok(Isolation::Container), "{guest:?} {host:?}");
        }
    }

    #[test]
    fn a_container_is_refused_where_a_microvm_is_wanted() {
        assert!(accept(Isolation::Container, IsolationWish::Microvm).is_err());
        assert!(accept(Isolation::Microvm, IsolationWish::Microvm).is_ok());
        assert!(accept(Isolation::Container, IsolationWish::Auto).is_ok());
    }
}
