//! Why there is no sandbox, and what to do about it.

/// What failed, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct SandboxError {
    /// What failed.
    pub what: String,
    /// What the user can do.
    pub remedy: String,
}

impl SandboxError {
    /// What failed, and the remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
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
            "try `podman info` and see what it says"
        };
        Self::new(what, remedy)
    }
}
