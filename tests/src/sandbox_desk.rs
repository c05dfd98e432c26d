//! A sandbox with its view, and the tools that work in it, without an agent: in this very process.

use airlock::config::IsolationWish;
use airlock::environment::Environment;
use airlock::paths::WorkspaceRoot;
use airlock::sandbox::{Plan, SandboxSlot, session_folder};
use airlock::tools::{Consent, Progress, Registry, ToolContext, ToolOutcome, built_in};
use airlock::view::{NoEditor, SessionView, WorkspaceWatches};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Its home goes with it.
pub struct SandboxDesk {
    home: TempDir,
    view: Arc<SessionView>,
    tools: Registry,
    _watches: WorkspaceWatches,
}

impl SandboxDesk {
    /// With an empty workspace.
    #[allow(clippy::new_without_default, reason = "it makes folders")]
    pub fn new() -> Self {
        Self::with_files(|_| ())
    }

    /// With a workspace that is filled first.
    pub fn with_files(fill: impl FnOnce(&Path)) -> Self {
        Self::with(&std::env::var("PATH").expect("a PATH"), fill)
    }

    /// With an empty workspace, and the programs that are found here.
    pub fn with_programs(path: &str) -> Self {
        Self::with(path, |_| ())
    }

    fn with(path: &str, fill: impl FnOnce(&Path)) -> Self {
        let home = TempDir::with_prefix("airlock-home-").expect("a temporary folder");
        let (workspace, runtime) = (home.path().join("ws"), home.path().join("run"));
        for folder in [&workspace, &runtime] {
            std::fs::create_dir(folder).expect("a folder");
        }
        std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o700)).expect("our own folder");
        fill(&workspace);
        let runtime = runtime.to_str().expect("UTF-8").to_owned();
        let environment =
            Environment::for_test(home.path(), &[("PATH", path), ("XDG_RUNTIME_DIR", &runtime)]);
        let root = WorkspaceRoot::open(&workspace).expect("a workspace");
        let plan = Plan {
            session_id: "desk".into(),
            workspace: root.clone(),
            isolation: IsolationWish::Auto,
            image: None,
        };
        let folder = session_folder(&environment, "desk");
        let slot = SandboxSlot::new(environment, Ok(plan), |_| ());
        let watches = WorkspaceWatches::default();
        let view = SessionView::new(slot, &root, Arc::new(NoEditor), &watches, &folder, |_| ());
        Self { home, view, tools: Registry::new(built_in()).0, _watches: watches }
    }

    /// The agent's view.
    pub fn view(&self) -> &SessionView {
        &self.view
    }

    /// Runs a command as the agent would, and gives what the agent gets.
    pub async fn bash(&self, command: &str) -> String {
        let outcome = self.call("bash", json!({"command": command})).await;
        assert!(!outcome.is_error, "{}", outcome.all_text());
        outcome.all_text()
    }

    /// Makes a call as the agent would.
    pub async fn call(&self, tool: &str, input: Value) -> ToolOutcome {
        let context = ToolContext {
            cancel: CancellationToken::new(),
            progress: Progress::nowhere(),
            view: Arc::clone(&self.view),
            editor: Default::default(),
            consent: Consent::nobody(),
        };
        self.tools.run(tool, input, context).await
    }

    /// The containers that there are of it, told by podman itself.
    pub fn containers(&self) -> Vec<String> {
        let upper = self.home.path().join("state/sandboxes/desk/upper");
        let filter = format!("label=airlock.upper={}", upper.display());
        let listed = Command::new("podman").args(["ps", "--all", "--quiet", "--filter", &filter]).output();
        let listed = String::from_utf8(listed.expect("podman").stdout).expect("UTF-8");
        listed.lines().map(str::to_owned).collect()
    }

    /// Where what belongs to the session is kept.
    pub fn folder(&self) -> PathBuf {
        self.home.path().join("state/sandboxes/desk")
    }

    /// The root that the sandbox is made of.
    pub fn root(&self) -> PathBuf {
        one(&self.home.path().join("state/sandboxes"), "root-")
    }

    /// The socket of the podman that runs it.
    pub fn socket(&self) -> PathBuf {
        one(&self.home.path().join("run"), "airlock-podman-").join("podman.sock")
    }

    /// The container's id.
    pub async fn container(&self) -> String {
        let podman = podman_api::Podman::unix(self.socket());
        let all = podman.containers().list(&Default::default()).await.expect("a list");
        let owner = format!("{}@", std::process::id());
        let is_ours = |labels: &HashMap<String, String>| {
            labels.get("airlock.owner").is_some_and(|label| label.starts_with(&owner))
        };
        let mut ours = all.into_iter().filter(|container| container.labels.as_ref().is_some_and(is_ours));
        ours.next().and_then(|container| container.id).expect("a container of ours")
    }

    /// The runtime that it runs under.
    pub async fn runtime(&self) -> String {
        let podman = podman_api::Podman::unix(self.socket());
        let inspected = podman.containers().get(self.container().await).inspect().await.expect("a container");
        inspected.oci_runtime.expect("a runtime")
    }

    /// Ends it.
    pub async fn end(self) {
        self.view.stop().await;
    }
}

/// The only entry of a folder whose name begins like this.
pub(crate) fn one(folder: &Path, prefix: &str) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.next().unwrap_or_else(|| panic!("no {prefix}* in {}", folder.display())).path()
}
