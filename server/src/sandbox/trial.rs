//! A sandbox that is started only to see whether it can be, and what kind of wall it has. Nothing of it stays.

use super::{Isolation, Plan, Sandbox, SandboxError, place};
use crate::config::IsolationWish;
use crate::environment::Environment;
use crate::paths::WorkspaceRoot;
use crate::storage;

/// What came up.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The wall, proved.
    pub isolation: Isolation,
    /// What it is, in a line for people.
    pub description: String,
}

/// Starts one on an empty folder, and ends it.
pub async fn try_out(
    environment: &Environment,
    isolation: IsolationWish,
    image: Option<String>,
) -> Result<Trial, SandboxError> {
    let session_id = format!("trial-{}", std::process::id());
    let folder = environment.state_dir.join(&session_id);
    let failed = |error: std::io::Error| {
        SandboxError::new(format!("{} cannot be made: {error}", folder.display()), "make its folder writable")
    };
    storage::make_private_folder(&folder).map_err(failed)?;
    let workspace = WorkspaceRoot::open(&folder).map_err(|error| failed(std::io::Error::other(error)))?;
    let home = environment.state_dir.join("homes").join(workspace.kept_name());
    let plan = Plan { session_id: session_id.clone(), workspace, isolation, image };
    let outcome = start_and_stop(environment, &plan).await;
    place::tidy(environment, &session_id);
    for left in [&folder, &home] {
        if let Err(error) = storage::remove_tree(left) {
            tracing::warn!(folder = %left.display(), %error, "what a trial left cannot be removed");
        }
    }
    outcome
}

async fn start_and_stop(environment: &Environment, plan: &Plan) -> Result<Trial, SandboxError> {
    let sandbox = Sandbox::start(environment, plan).await?;
    let trial = Trial { isolation: sandbox.isolation(), description: sandbox.describe() };
    sandbox.stop().await?;
    Ok(trial)
}
