//! A sandbox that is started only to see whether it can be, and what kind of wall it has. Nothing of it stays: it has a
//! folder of its own, on the disk where those of sessions are or would be.

use super::survey::nearest_existing;
use super::{Isolation, Plan, Sandbox, SandboxError, leftovers};
use crate::config::IsolationWish;
use crate::environment::Environment;
use crate::paths::WorkspaceRoot;
use crate::storage;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// What came up.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The wall, proved.
    pub isolation: Isolation,
    /// What it is, in a line for people.
    pub description: String,
    /// What of it is not as it should be.
    pub shortcomings: Vec<String>,
    /// Why no microVM booted, where one should have.
    pub no_microvm: Option<SandboxError>,
}

const FOLDER: &str = ".airlock-trial-";

/// Starts one on an empty folder, and ends it. When this is dropped meanwhile, it ends too.
pub async fn try_out(
    environment: &Environment,
    isolation: IsolationWish,
    image: Option<String>,
) -> Result<Trial, SandboxError> {
    let nearest = nearest_existing(&environment.state_dir);
    leftovers::remove_folders(&nearest, FOLDER);
    let failed = |error: io::Error| {
        SandboxError::new(
            format!("no folder can be made in {}: {error}", nearest.display()),
            "make that folder writable",
        )
    };
    let folder = private_folder(&nearest).map_err(failed)?;
    let workspace = folder.path().join("workspace");
    storage::make_private_folder(&workspace).map_err(failed)?;
    let workspace = WorkspaceRoot::open(&workspace).map_err(|error| failed(io::Error::other(error)))?;
    let environment = environment.keeping_in(folder.path().join("state"));
    let plan = Plan { session_id: "trial".to_owned(), workspace, isolation, image };
    let outcome = start_and_stop(&environment, &plan).await;
    if let Err(error) = storage::remove_tree(folder.path()) {
        tracing::warn!(folder = %folder.path().display(), %error, "what a trial left cannot be removed");
    }
    outcome
}

fn private_folder(base: &Path) -> io::Result<TempDir> {
    // `tempfile` makes it with mode 0700.
    tempfile::Builder::new().prefix(&leftovers::named(FOLDER)).tempdir_in(base)
}

async fn start_and_stop(environment: &Environment, plan: &Plan) -> Result<Trial, SandboxError> {
    let sandbox = Sandbox::start(environment, plan).await?;
    let trial = Trial {
        isolation: sandbox.isolation(),
        description: sandbox.what(),
        shortcomings: sandbox.shortcomings.clone(),
        no_microvm: sandbox.no_microvm.clone(),
    };
    sandbox.stop().await?;
    Ok(trial)
}
