//! What a sandbox needs of this machine, looked at part by part: what is there, and what gets it where it is not.
//! Nothing is started but `podman --version`. Whether all of it works together is seen only by a trial.

mod control_groups;
mod overlay;
mod podman;

use super::error::SandboxError;
use super::{runtime, user, user_namespace};
use crate::config::IsolationWish;
use crate::environment::Environment;
use std::path::{Path, PathBuf};

/// One part.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name for programs. It stays the same from version to version.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What is there; or what is missing, and what to do.
    pub found: Result<String, SandboxError>,
    /// Without it there is no sandbox, or not the one that the user insists on.
    pub is_required: bool,
}

/// Looks at every part that a sandbox of this kind has to do with.
pub async fn survey(environment: &Environment, wish: IsolationWish) -> Vec<Part> {
    let (wants_microvm, wants_container) = match wish {
        IsolationWish::Auto => (true, true),
        IsolationWish::Microvm => (true, false),
        IsolationWish::Container => (false, true),
    };
    let part = |name, title, found, is_required| Part { name, title, found, is_required };
    let mut parts = vec![part("podman", "Podman", podman::version(environment).await, true)];
    if parts[0].found.is_ok() {
        parts.push(part("user_namespaces", "User namespaces", user_namespace::made(environment), true));
    }
    if wants_container {
        parts.push(part("runtime", "Container runtime", plain(environment), true));
    }
    if wants_microvm {
        let is_required = !wants_container;
        let krun = runtime::krun(environment).map(|program| program.display().to_string());
        parts.push(part("krun", "MicroVM runtime", krun, is_required));
        let device = Path::new("/dev/kvm");
        let kvm = runtime::kvm(device)
            .map(|()| format!("{} may be opened; only a boot proves that it works", device.display()));
        parts.push(part("kvm", "Virtualisation", kvm, is_required));
    }
    if !rustix::process::geteuid().is_root() {
        parts.push(part("user_ids", "User ids", user::ids(environment), true));
    }
    parts.push(part("overlay", "Copy-on-write", overlay::below(&environment.state_dir), true));
    parts.push(part("control_groups", "Limits", control_groups::limits(), false));
    parts
}

fn plain(environment: &Environment) -> Result<String, SandboxError> {
    let all = runtime::plain(environment);
    if all.is_empty() {
        return Err(runtime::no_runtime());
    }
    Ok(all.iter().map(|program| program.display().to_string()).collect::<Vec<_>>().join(", "))
}

/// The folder itself, or the nearest one above it that is there.
pub(super) fn nearest_existing(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
}
