//! What Airlock needs of the machine besides the sandbox: a place for its files, and git.

use super::finding::Finding;
use crate::distribution::{Distribution, Need};
use crate::environment::Environment;
use crate::limits::SANDBOX_DISK_KEPT_MIB;
use crate::storage;
use std::path::Path;

pub(super) fn findings(environment: &Environment) -> Vec<Finding> {
    vec![state(&environment.state_dir), git(environment)]
}

/// Nothing is written to see it: the folder need not be there, and is not made.
fn state(folder: &Path) -> Finding {
    let (name, title) = ("state", "State");
    let nearest = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let advice = "make it a folder of yours, or set XDG_STATE_HOME to another one";
    let writable = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    if !nearest.is_dir() || rustix::fs::access(nearest, writable).is_err() {
        let text = format!("{} cannot be written to", nearest.display());
        return Finding::failed(name, title, text, advice);
    }
    match storage::free_mib(nearest) {
        Ok(free) if free < SANDBOX_DISK_KEPT_MIB => {
            let text = format!("{}, where only {free} MiB are free", folder.display());
            Finding::hint(
                name,
                title,
                text,
                "free some space: the agent's sandbox is ended before the disk is full",
            )
        }
        _ => Finding::well(name, title, folder.display().to_string()),
    }
}

fn git(environment: &Environment) -> Finding {
    let (name, title) = ("git", "Git");
    match environment.program("git") {
        Some(program) => Finding::well(name, title, program.display().to_string()),
        None => Finding::hint(
            name,
            title,
            "git is not installed, so /commit, /push and /pr cannot work",
            Distribution::of_system().remedy("install it", Need::Git),
        ),
    }
}
