//! Where everything of a sandbox is on the host, how large it may become, and what stays of it.
//!
//! `sandboxes/SESSION/upper` holds what the agent changed, and `base` what that was made from, until the user has
//! reviewed it. Everything else goes when the sandbox does, and after a kill at the next start of one.

use super::error::SandboxError;
use super::podman_program::PodmanProgram;
use super::{Plan, leftovers, planted, root};
use crate::environment::Environment;
use crate::limits::{SANDBOX_FILES_MAX, SANDBOX_MEMORY_MIB, SANDBOX_PROCESSES_MAX};
use crate::storage::{self, AgentTree};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where everything is.
pub(super) struct Place {
    /// Our own files for the root, the guest among them.
    pub(super) root: PathBuf,
    /// Whose tools there are instead of the host's.
    pub(super) image: Option<String>,
    pub(super) workspace: PathBuf,
    pub(super) upper: AgentTree,
    pub(super) work: AgentTree,
    pub(super) home: AgentTree,
    /// The workspace's user and group.
    pub(super) owner: (u32, u32),
    /// We are root, so podman is.
    pub(super) rootful: bool,
}

/// How large it may become.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) memory_mib: u64,
    pub(super) cpus: usize,
    pub(super) files_max: u64,
    pub(super) processes_max: u64,
}

/// Names the server that uses a session's folder.
const OWNER: &str = "owner";

/// Where what belongs to a session's sandbox is kept: its upper folder, and what that was made from.
pub fn session_folder(environment: &Environment, session_id: &str) -> PathBuf {
    base(environment).join(session_id)
}

/// Whether the folders of all sessions are the user's own. What somebody else arranged is not looked at; who starts a sandbox
/// is told why.
pub fn state_is_ours(environment: &Environment) -> bool {
    planted::check_state(environment).is_ok()
}

/// Those of all sessions in which something is kept.
pub fn session_folders(environment: &Environment) -> Vec<PathBuf> {
    if !state_is_ours(environment) {
        return Vec::new();
    }
    let base = base(environment);
    let us = rustix::process::geteuid().as_raw();
    let names = storage::names_with_prefix(&base, "").unwrap_or_default();
    let is_ours = |folder: &PathBuf| {
        folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == us)
    };
    names.into_iter().map(|name| base.join(name)).filter(is_ours).collect()
}

impl Place {
    /// Makes the folders.
    pub(super) fn prepare(environment: &Environment, plan: &Plan) -> Result<Self, SandboxError> {
        keep_apart(environment, plan)?;
        planted::check_state(environment)?;
        let base = base(environment);
        let session = session_folder(environment, &plan.session_id);
        let workspace = plan.workspace.as_host().to_owned();
        let failed = |error: std::io::Error| {
            SandboxError::new(
                format!("the sandbox's folders in {} cannot be made: {error}", base.display()),
                "make that folder writable, or free some space",
            )
        };
        let owner = workspace.metadata().map_err(failed)?;
        let rootful = rustix::process::geteuid().is_root();
        if rootful && owner.uid() != 0 {
            // The agent is the workspace's owner, and that one may not look into root's folders.
            return Err(SandboxError::new(
                format!("you are root, and the workspace belongs to another user (id {})", owner.uid()),
                "run Airlock as that user, or open a workspace of root's",
            ));
        }
        let place = Self {
            root: root::make(&base)?,
            image: plan.image.clone(),
            upper: AgentTree::new(&session, "upper"),
            work: work_of(&session),
            home: AgentTree::new(&environment.state_dir.join("homes"), plan.workspace.kept_name()),
            workspace,
            owner: (owner.uid(), owner.gid()),
            rootful,
        };
        for path in [&place.workspace, &place.upper.for_podman()] {
            check_path(path)?;
        }
        for folder in [&place.upper, &place.work, &place.home] {
            folder.make().map_err(failed)?;
        }
        storage::replace(&session.join(OWNER), leftovers::owner().as_bytes()).map_err(failed)?;
        Ok(place)
    }
}

/// Airlock's own folders hold the key, what the user allowed, and what was said. So none of them is in a workspace, nor a
/// workspace in one of them, also where they are links to elsewhere.
fn keep_apart(environment: &Environment, plan: &Plan) -> Result<(), SandboxError> {
    let workspace = plan.workspace.as_host();
    let Environment { config_dir, state_dir, cache_dir, .. } = environment;
    // A trial's workspace is made there, and empty.
    let is_trial = workspace == resolved(&state_dir.join(&plan.session_id));
    let linked = ["config.toml", "commands", "plugins"].map(|name| config_dir.join(name));
    for ours in [config_dir, state_dir, cache_dir].into_iter().chain(&linked) {
        let place = resolved(ours);
        let what = if place.starts_with(workspace) {
            "holds"
        } else if workspace.starts_with(&place) && !is_trial {
            "is in"
        } else {
            continue;
        };
        return Err(SandboxError::new(
            format!("the workspace {what} Airlock's own folder {}", ours.display()),
            "open another one: what is in there decides what the agent may do",
        ));
    }
    Ok(())
}

/// Where a path leads, also when its end is not there yet.
fn resolved(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    found.map_or_else(
        || path.to_owned(),
        |(above, real)| real.join(path.strip_prefix(above).unwrap_or(Path::new(""))),
    )
}

/// An overlay is mounted with a line of options. A path that could be taken for another option would let a folder's
/// name decide what is mounted.
fn check_path(path: &Path) -> Result<(), SandboxError> {
    let plain = |text: &str| !text.contains([',', '\\']) && !text.contains(char::is_control);
    if path.to_str().is_some_and(plain) {
        return Ok(());
    }
    Err(SandboxError::new(
        format!(
            "{path:?} holds a comma, a backslash or another character that an overlay cannot be mounted with"
        ),
        "rename the folder",
    ))
}

/// Removes what a session's sandbox needed only while it ran, and everything when nothing was changed.
pub(super) async fn tidy(environment: &Environment, session_id: &str) {
    let session = session_folder(environment, session_id);
    if let Err(error) = tidy_folder(environment, &session).await {
        tracing::warn!(folder = %session.display(), %error, "the sandbox's folder cannot be tidied");
    }
}

/// The same for sessions of servers that are gone. Their containers must be, too.
pub(super) async fn tidy_leftovers(environment: &Environment) {
    for session in session_folders(environment) {
        let owner = storage::read_text(&session.join(OWNER), 256).ok().flatten();
        if owner.is_some_and(|owner| !leftovers::lives(&owner))
            && let Err(error) = tidy_folder(environment, &session).await
        {
            tracing::warn!(folder = %session.display(), %error, "a leftover folder cannot be tidied");
        }
    }
}

async fn tidy_folder(environment: &Environment, session: &Path) -> std::io::Result<()> {
    remove_work(environment, &work_of(session)).await?;
    if is_needed(session)? {
        return storage::remove(&session.join(OWNER));
    }
    storage::remove_tree(session)
}

fn work_of(session: &Path) -> AgentTree {
    AgentTree::new(session, "work")
}

/// What an overlay keeps beside the upper folder. Without root, what it leaves of that belongs to an id that the user has
/// only in podman's user namespace.
async fn remove_work(environment: &Environment, work: &AgentTree) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind::PermissionDenied};
    match (work.remove(), work.for_podman().to_str()) {
        (Err(error), Some(path)) if error.kind() == PermissionDenied => {
            let podman = PodmanProgram::find(environment).map_err(|_| error)?;
            let removed = podman.ask("remove a folder", &["unshare", "rm", "-rf", "--", path]).await;
            removed.map(drop).map_err(|error| Error::other(error.to_string()))
        }
        (removed, _) => removed,
    }
}

/// Whether there is something in a session's folder for which the session must be found again.
pub fn keeps_work(environment: &Environment, session_id: &str) -> bool {
    is_needed(&session_folder(environment, session_id)).unwrap_or(true)
}

/// Whether something was changed, or somebody above us keeps something there: what can be undone, what the agent is
/// still to be told. What changes were made from is worth nothing without the changes.
fn is_needed(session: &Path) -> std::io::Result<bool> {
    if !AgentTree::new(session, "upper").is_empty()? {
        return Ok(true);
    }
    for name in storage::names_with_prefix(session, "")? {
        if !["upper", "work", "base", OWNER].contains(&name.as_str())
            && storage::holds_content(&session.join(name))?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn base(environment: &Environment) -> PathBuf {
    environment.state_dir.join("sandboxes")
}

impl Size {
    pub(super) fn of_host() -> Self {
        let capped = |resource, wanted: u64| {
            let hard = rustix::process::getrlimit(resource).maximum;
            hard.map_or(wanted, |hard| hard.min(wanted))
        };
        Self {
            memory_mib: SANDBOX_MEMORY_MIB,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            files_max: capped(rustix::process::Resource::Nofile, SANDBOX_FILES_MAX),
            processes_max: capped(rustix::process::Resource::Nproc, SANDBOX_PROCESSES_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a session's folder in which these files were, each with this text.
    async fn left(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::for_test(folder.path(), &[]);
        let session = folder.path().join("session");
        for name in ["upper", "work/work"] {
            storage::make_private_folder(&session.join(name)).unwrap();
        }
        for (name, text) in
            [("owner", "1@1"), ("base/log", "x"), ("checkpoints/1/whole", "")].iter().chain(files)
        {
            storage::replace(&session.join(name), text.as_bytes()).unwrap();
        }
        tidy_folder(&environment, &session).await.unwrap();
        storage::names_with_prefix(&session, "").unwrap()
    }

    #[tokio::test]
    async fn what_somebody_needs_stays_and_everything_goes_where_nobody_does() {
        assert_eq!(left(&[]).await, Vec::<String>::new());
        assert_eq!(left(&[("upper/empty", "")]).await, ["base", "checkpoints", "upper"]);
        assert_eq!(left(&[("checkpoints/1/view/log", "x")]).await, ["base", "checkpoints", "upper"]);
        assert_eq!(left(&[("untold", "x")]).await, ["base", "checkpoints", "untold", "upper"]);
    }
}
