//! Folders of Airlock's own that somebody else arranged before it came: the agent's work and podman's socket would be where
//! they say.

use super::error::SandboxError;
use crate::environment::Environment;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Others may write to a folder with one of these bits.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// And in one with this bit too nobody can replace what is somebody else's.
const STICKY: u32 = 0o1000;

/// Sees that the folders in which sandboxes and homes are kept are the user's own, as far as they exist.
pub(super) fn check_state(environment: &Environment) -> Result<(), SandboxError> {
    let state = &environment.state_dir;
    // A user may keep all of it elsewhere, but nobody has a reason to keep a part of it elsewhere.
    check(state, true)?;
    for folder in ["sandboxes", "homes"] {
        check(&state.join(folder), false)?;
    }
    Ok(())
}

/// Sees that nobody else decides what is in the folder where podman's socket is made.
pub(super) fn check_runtime(folder: &Path) -> Result<(), SandboxError> {
    let Ok(metadata) = folder.metadata() else { return Ok(()) };
    // As `/tmp` is.
    if metadata.mode() & STICKY != 0 && metadata.uid() == 0 {
        return Ok(());
    }
    check(folder, true).map_err(|SandboxError { what, .. }| {
        SandboxError::new(what, "set XDG_RUNTIME_DIR to a folder that only you can write to, or unset it")
    })
}

fn check(folder: &Path, may_be_link: bool) -> Result<(), SandboxError> {
    let shown = folder.display();
    let found = if may_be_link { folder.metadata() } else { folder.symlink_metadata() };
    let metadata = match found {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(SandboxError::new(
                format!("{shown} cannot be looked at: {error}"),
                "make it readable",
            ));
        }
    };
    let us = rustix::process::geteuid().as_raw();
    if !metadata.is_dir() {
        let what = format!("{shown} is a symlink or a file, and must be a folder of your own");
        return Err(SandboxError::new(what, "see who made it, and remove it: Airlock makes it again"));
    }
    if metadata.uid() != us {
        let what = format!("{shown} belongs to another user (id {})", metadata.uid());
        return Err(SandboxError::new(
            what,
            "run Airlock as that user, or set XDG_STATE_HOME to a folder of your own",
        ));
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        let what = format!("other users can write to {shown}");
        return Err(SandboxError::new(what, format!("see what is in it, and run `chmod go-w {shown}`")));
    }
    Ok(())
}
