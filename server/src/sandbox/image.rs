//! An image as a root: podman mounts it as a folder, and the sandbox puts its own layer over that.
//!
//! To podman the container is then not one of the image. So the image decides nothing but its files and variables: not
//! what is started or as whom, no health check beside the guest, no volume that outlives the sandbox.

use super::error::SandboxError;
use super::podman::{PodmanService, within};
use std::path::PathBuf;

/// A mounted image.
pub(super) struct MountedImage {
    /// Its files.
    pub(super) root: PathBuf,
    /// Its variables, each `NAME=value`.
    pub(super) variables: Vec<String>,
    name: String,
}

impl MountedImage {
    /// Mounts an image that is there. It is never pulled: that takes the network, and the user's word.
    pub(super) async fn mount(service: &PodmanService, name: &str) -> Result<Self, SandboxError> {
        let image = service.api().images().get(name);
        if !within("look for the image", image.exists()).await? {
            return Err(SandboxError::new(
                format!("there is no image {name:?} here, and Airlock pulls none by itself"),
                format!(
                    "run `podman pull {name}`, or leave `image` out of your config.toml to use your system's own tools"
                ),
            ));
        }
        let config = within("inspect the image", image.inspect()).await?.config;
        let variables = config.and_then(|config| config.env).unwrap_or_default();
        let root = ask(service, "mount", name).await?;
        Ok(Self { root: root.into(), variables, name: name.to_owned() })
    }

    /// Ends the mount. A container that runs keeps what it has of it.
    pub(super) async fn unmount(self, service: &PodmanService) {
        if let Err(error) = ask(service, "unmount", &self.name).await {
            tracing::warn!(%error, "the image stays mounted until podman is told to unmount it");
        }
    }
}

/// Without root, images are mounted in the namespace that all calls of the user's podman share.
async fn ask(service: &PodmanService, what: &str, name: &str) -> Result<String, SandboxError> {
    let (program, doing) = (service.program(), format!("{what} the image {name}"));
    let path = program.path().to_string_lossy();
    let image = ["image", what, name];
    if rustix::process::geteuid().is_root() {
        program.ask(&doing, &image).await
    } else {
        program.ask(&doing, &[&["unshare", &path][..], &image].concat()).await
    }
}
