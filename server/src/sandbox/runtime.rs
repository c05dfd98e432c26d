//! The container runtimes, and which one to try.

use super::error::SandboxError;
use super::user;
use crate::config::IsolationWish;
use crate::distribution::{Distribution, HostCommand, Need, Remedy};
use crate::environment::Environment;
use crate::storage;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A runtime that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Runtime {
    /// Its program.
    pub(super) program: PathBuf,
    /// It starts microVMs.
    pub(super) is_krun: bool,
}

/// The runtimes to try, best first. What was left out and why comes along, to be told when nothing else is.
pub(super) fn candidates(
    environment: &Environment,
    wish: IsolationWish,
) -> Result<(Vec<Runtime>, Option<String>), SandboxError> {
    let microvms = || {
        let program = krun(environment)?;
        kvm(Path::new("/dev/kvm")).map(|()| Runtime { program, is_krun: true })
    };
    let plain = || plain(environment).into_iter().map(|program| Runtime { program, is_krun: false });
    match (wish, microvms()) {
        (IsolationWish::Microvm, Ok(krun)) => Ok((vec![krun], None)),
        (IsolationWish::Microvm, Err(SandboxError { what, mut remedy, .. })) => {
            remedy.text.push_str(", or set isolation = \"auto\" in your config.toml to accept a container");
            Err(SandboxError::new(format!("no microVM can be started: {what}"), remedy))
        }
        (IsolationWish::Container, _) => some(plain().collect(), None),
        (IsolationWish::Auto, Ok(krun)) => some(std::iter::once(krun).chain(plain()).collect(), None),
        (IsolationWish::Auto, Err(why)) => {
            let left_out = format!("no microVM, for {} (`airlock doctor` says what to do)", why.what);
            some(plain().collect(), Some(left_out))
        }
    }
}

/// The runtimes that did not work while another one did, and why. A start with each of them again would only take time.
static FAILED: Mutex<Vec<(Runtime, String)>> = Mutex::new(Vec::new());

/// The same runtimes, those that failed before at the end.
pub(super) fn best_first(mut runtimes: Vec<Runtime>) -> Vec<Runtime> {
    let failed = failed();
    runtimes.sort_by_key(|runtime| failed.iter().any(|(other, _)| other == runtime));
    runtimes
}

/// Whether this one did not work before, while another one did.
pub(super) fn failed_before(runtime: &Runtime) -> bool {
    failed().iter().any(|(other, _)| other == runtime)
}

/// These did not work where another one did. Of each, the last reason counts.
pub(super) fn remember_failed(these: Vec<(Runtime, String)>) {
    let mut failed = failed();
    failed.retain(|(runtime, _)| these.iter().all(|(other, _)| other != runtime));
    failed.extend(these);
}

/// Why there is no microVM, when that was found out at an earlier start and nobody said it yet.
pub(super) fn why_no_microvm(said: &[String]) -> Option<String> {
    let failed = failed();
    let (_, why) = failed.iter().find(|(runtime, _)| runtime.is_krun)?;
    let words = format!("no microVM came up: {why}");
    (!said.contains(&words)).then_some(words)
}

fn failed() -> MutexGuard<'static, Vec<(Runtime, String)>> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn some(
    runtimes: Vec<Runtime>,
    left_out: Option<String>,
) -> Result<(Vec<Runtime>, Option<String>), SandboxError> {
    if runtimes.is_empty() { Err(no_runtime()) } else { Ok((runtimes, left_out)) }
}

/// The runtimes for plain containers that are installed, best first.
pub(super) fn plain(environment: &Environment) -> Vec<PathBuf> {
    ["crun", "runc"].into_iter().filter_map(|name| environment.program(name)).collect()
}

/// There is none of them.
pub(super) fn no_runtime() -> SandboxError {
    let remedy = Distribution::of_system().remedy("install one", Need::Runtime);
    SandboxError::new("no container runtime is installed", remedy)
}

/// The runtime for microVMs. Whether one really boots is seen only by booting it.
pub(super) fn krun(environment: &Environment) -> Result<PathBuf, SandboxError> {
    environment.program("krun").ok_or_else(|| {
        let remedy = Distribution::of_system().remedy("install it", Need::Krun);
        SandboxError::new("the runtime \"krun\" is not installed", remedy)
    })
}

/// Whether the device for virtual machines is there, and may be used.
pub(super) fn kvm(device: &Path) -> Result<(), SandboxError> {
    let shown = device.display();
    if !device.exists() {
        return Err(SandboxError::new(format!("{shown} is not there"), how_to_get_kvm(&processor())));
    }
    if rustix::fs::access(device, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK).is_err() {
        let command = HostCommand::as_root(&["usermod", "-aG", "kvm", &user::name()]);
        let remedy = Remedy::run("let yourself in", vec![command]).and_then("log in again");
        return Err(SandboxError::new(format!("{shown} may not be used by you"), remedy));
    }
    Ok(())
}

fn processor() -> String {
    storage::read_text(Path::new("/proc/cpuinfo"), 1 << 20).ok().flatten().unwrap_or_default()
}

/// What the kernel says of the processor tells whether its module is missing, or what it would work with.
fn how_to_get_kvm(cpuinfo: &str) -> Remedy {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags")).flat_map(str::split_whitespace);
    match flags.find_map(|flag| match flag {
        "vmx" => Some("kvm_intel"),
        "svm" => Some("kvm_amd"),
        _ => None,
    }) {
        Some(module) => {
            Remedy::run("load the kernel's module for it", vec![HostCommand::as_root(&["modprobe", module])])
        }
        None => "switch on virtualisation in the machine's firmware; on a machine that is virtual itself, have its host \
                 allow nested virtualisation"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_can_is_told_its_module_and_another_one_the_firmware() {
        for (cpuinfo, expected) in [
            ("flags\t\t: fpu vmx sse\n", "modprobe kvm_intel`"),
            ("vendor\nflags : svm\n", "modprobe kvm_amd`"),
            ("flags : fpu vmxnet\nmodel name : vmx\n", "firmware"),
            ("", "firmware"),
        ] {
            let remedy = how_to_get_kvm(cpuinfo);
            assert!(remedy.text.contains(expected), "{cpuinfo:?}: {remedy}");
        }
    }

    #[test]
    fn a_runtime_that_fails_again_and_again_is_remembered_once_with_its_last_reason() {
        let runtime = Runtime { program: "/nowhere/fails-again".into(), is_krun: false };
        for why in ["first", "second"] {
            remember_failed(vec![(runtime.clone(), why.to_owned())]);
        }
        let reasons: Vec<String> =
            failed().iter().filter(|(other, _)| *other == runtime).map(|(_, why)| why.clone()).collect();
        assert_eq!(reasons, ["second"]);
    }

    #[test]
    fn a_device_that_is_not_there_is_named() {
        let error = kvm(Path::new("/nowhere/kvm")).unwrap_err();
        assert_eq!(error.what, "/nowhere/kvm is not there");
    }
}
