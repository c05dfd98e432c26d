//! Why there is no sandbox, and what to do about it.

use crate::distribution::Remedy;

/// What failed, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct SandboxError {
    /// What failed.
    pub what: String,
    /// What the user can do.
    pub remedy: Remedy,
    /// Podman stumbled over nothing of ours, so that the same may go well another time.
    pub passing: bool,
}

/// What to do where nothing better is known.
pub(super) const ASK_PODMAN: &str = "try `podman info` and see what it says";
/// The same where podman did its part.
pub(super) const ASK_DOCTOR: &str = "try `airlock doctor`";
const ASK_KERNEL: &str = "see what `dmesg` says of kvm: another hypervisor may hold it, or this machine is virtual itself \
                          and its host does not allow nested virtualisation";

impl SandboxError {
    /// What failed, and the remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self { what: what.into(), remedy: remedy.into(), passing: false }
    }

    /// Something that podman said. Its `Error` must not be cloned (it recurses for ever), so it becomes text here.
    pub(super) fn of_podman(doing: &str, error: &podman_api::Error) -> Self {
        let said = error.to_string();
        let mut passing = is_passing(error);
        let mut what = format!("podman could not {doing}: {said}");
        let remedy = if said.to_lowercase().contains("no space left") {
            passing = false;
            "free some space on the disks that hold Airlock's state and podman's storage"
        } else if said.contains("upperdir=") {
            passing = false;
            what = format!("the copy-on-write view of the workspace cannot be mounted: {what}");
            "the folder for Airlock's state must be on a file system that can be an overlay's upper layer, such as ext4, \
             xfs or btrfs: set XDG_STATE_HOME to a folder on one"
        } else {
            ASK_PODMAN
        };
        Self { passing, ..Self::new(what, remedy) }
    }

    /// The same of a microVM: what nothing better is known of is most often the machine's virtualisation.
    pub(super) fn of_microvm(self) -> Self {
        let is_vague = [ASK_PODMAN, ASK_DOCTOR].contains(&self.remedy.text.as_str());
        if is_vague { Self { remedy: ASK_KERNEL.into(), ..self } } else { self }
    }
}

/// Whether podman, or the way to it, is to blame, and not what it was asked for. What a runtime says begins with "OCI".
/// A container that is not there any more was ours: somebody else has removed it.
fn is_passing(error: &podman_api::Error) -> bool {
    match error {
        podman_api::Error::Fault { code, message } if code.is_server_error() => !message.contains("OCI"),
        podman_api::Error::Fault { message, .. } => message.contains("no such container"),
        _ => true,
    }
}
