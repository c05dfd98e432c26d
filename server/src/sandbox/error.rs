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
        Self { what: what.into(), remedy: remedy.into() }
    }

    /// Something that podman said. Its `Error` must not be cloned (it recurses for ever), so it becomes text here.
    pub(super) fn of_podman(doing: &str, error: &podman_api::Error) -> Self {
        let said = error.to_string();
        let mut what = format!("podman could not {doing}: {said}");
        let remedy = if said.to_lowercase().contains("no space left") {
            "free some space on the disks that hold Airlock's state and podman's storage"
        } else if said.contains("upperdir=") {
            what = format!("the copy-on-write view of the workspace cannot be mounted: {what}");
            "the folder for Airlock's state must be on a file system that can be an overlay's upper layer, such as ext4, \
             xfs or btrfs: set XDG_STATE_HOME to a folder on one"
        } else {
            ASK_PODMAN
        };
        Self::new(what, remedy)
    }

    /// The same of a microVM: what nothing better is known of is most often the machine's virtualisation.
    pub(super) fn of_microvm(self) -> Self {
        let is_vague = [ASK_PODMAN, ASK_DOCTOR].contains(&self.remedy.text.as_str());
        if is_vague { Self::new(self.what, ASK_KERNEL) } else { self }
    }
}
