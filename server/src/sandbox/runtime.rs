//! The container runtimes, and which one to try.

use super::error::SandboxError;
use crate::config::IsolationWish;
use crate::environment::Environment;
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
    let find = |name: &str| environment.program(name);
    let krun = krun(&find, Path::new("/dev/kvm"));
    let plain =
        || ["crun", "runc"].into_iter().filter_map(find).map(|program| Runtime { program, is_krun: false });
    match (wish, krun) {
        (IsolationWish::Microvm, Ok(krun)) => Ok((vec![krun], None)),
        (IsolationWish::Microvm, Err(why)) => Err(SandboxError::new(
            format!("no microVM can be started: {why}"),
            "install what is missing, or set isolation = \"auto\" in your config.toml to accept a container",
        )),
        (IsolationWish::Container, _) => some(plain().collect(), None),
        (IsolationWish::Auto, Ok(krun)) => some(std::iter::once(krun).chain(plain()).collect(), None),
        (IsolationWish::Auto, Err(why)) => some(plain().collect(), Some(why)),
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

/// These did not work where another one did.
pub(super) fn remember_failed(these: Vec<(Runtime, String)>) {
    failed().extend(these);
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
    if runtimes.is_empty() {
        return Err(SandboxError::new(
            "no container runtime is installed",
            "install one: `sudo apt install crun` on Debian and Ubuntu, `sudo dnf install crun` on Fedora",
        ));
    }
    Ok((runtimes, left_out))
}

/// The runtime for microVMs, or what is missing for it. Whether one really boots is seen only by booting it.
fn krun(find: &dyn Fn(&str) -> Option<PathBuf>, kvm: &Path) -> Result<Runtime, String> {
    let Some(program) = find("krun") else {
        return Err("the runtime \"krun\" is not installed (`sudo dnf install crun-krun` on Fedora; Debian and Ubuntu \
                    have no package of it)"
            .to_owned());
    };
    if !kvm.exists() {
        return Err(format!("{} is not there: switch on virtualisation in the firmware", kvm.display()));
    }
    if rustix::fs::access(kvm, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK).is_err() {
        return Err(format!(
            "{} may not be used: `sudo usermod -aG kvm $USER`, then log in again",
            kvm.display()
        ));
    }
    Ok(Runtime { program, is_krun: true })
}
