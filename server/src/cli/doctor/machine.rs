//! What Airlock needs of the machine besides the sandbox: a place for its files, git, and a kernel that confines threads.

use super::finding::Finding;
use crate::distribution::{Distribution, Need};
use crate::environment::Environment;
use crate::limits::SANDBOX_DISK_KEPT_MIB;
use crate::storage;
use crate::storage::confined::{Confinement, confinement};
use std::path::Path;

pub(super) fn findings(environment: &Environment) -> Vec<Finding> {
    vec![state(&environment.state_dir), git(environment), landlock(confinement())]
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

/// What `SECURITY.md` says under "What Airlock's own threads can reach", on this kernel.
fn landlock(confinement: Confinement) -> Finding {
    let (name, title) = ("landlock", "Landlock");
    let newer = "use Linux 6.10 or newer";
    match confinement {
        Confinement::Full => {
            let text =
                "Airlock's threads that handle the agent's files can reach only the folders that they need";
            Finding::well(name, title, text)
        }
        Confinement::Partial => {
            let text = "this kernel has only some of the rules that keep Airlock's threads in the folders that they need, \
                        so a mistake in Airlock could do more harm to your files";
            Finding::hint(name, title, text, newer)
        }
        Confinement::None => {
            let text = "this kernel doesn't keep Airlock's threads in the folders that they need, so a mistake in Airlock \
                        could do more harm to your files";
            let advice = "with landlock in its list of security modules: `cat /sys/kernel/security/lsm` shows the list, and \
                          the boot option `lsm=` sets it. In a container, its seccomp filter must allow Landlock";
            Finding::hint(name, title, text, format!("{newer}, {advice}").as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_kernel_that_confines_no_thread_is_a_hint_that_says_what_to_do_and_no_failure() {
        let told = |confinement| {
            let Finding { state, remedy, .. } = landlock(confinement);
            (state, remedy.map(|remedy| remedy.text).unwrap_or_default())
        };
        assert_eq!(told(Confinement::Full), (State::Well, String::new()));
        assert_eq!(told(Confinement::Partial), (State::Hint, "use Linux 6.10 or newer".to_owned()));
        let (state, remedy) = told(Confinement::None);
        assert_eq!(state, State::Hint);
        assert!(remedy.contains("use Linux 6.10 or newer") && remedy.contains("`lsm=`"), "{remedy}");
    }
}
