//! What the slash commands about git share: the session's room and branch, and the question before something leaves.

use super::commands::built_in::{CommandContext, unless_stopped};
use super::permission::{PermissionKind, PermissionOption, PermissionRequest};
use super::session::Session;
use crate::git::{Branch, Room};
use crate::paths::WorkspaceRoot;
use crate::sandbox::session_folder;
use tokio_util::sync::CancellationToken;

/// A session's repository, its branch, and the workspace in it.
pub(super) struct GitWork<'a> {
    pub(super) workspace: &'a WorkspaceRoot,
    pub(super) room: Room,
    pub(super) branch: Branch,
}

impl Session {
    /// Opens the repository that the session works in.
    pub(super) async fn git_work(&self, cancel: &CancellationToken) -> Result<GitWork<'_>, String> {
        let workspace = self.workspace.as_ref().ok_or("there is no workspace: open a folder first")?;
        let branch = Branch::of_session(&self.id).map_err(|error| error.to_string())?;
        let folder = session_folder(&self.agent.environment, &self.id);
        let room = unless_stopped(cancel, Room::open(&self.agent.environment, workspace, &folder)).await?;
        Ok(GitWork { workspace, room: room.map_err(|error| error.to_string())?, branch })
    }

    /// Origins that the user named although they are plain HTTP.
    pub(super) fn http_origins(&self) -> Vec<String> {
        let origins = self.agent.settings.forges.keys();
        origins.filter(|origin| origin.starts_with("http://")).cloned().collect()
    }
}

impl CommandContext<'_> {
    /// Whether the user agrees to exactly this.
    pub(super) async fn agrees(&self, title: String, detail: String, yes: &str) -> Result<bool, String> {
        let option =
            |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
        let request = PermissionRequest {
            tool_call_id: String::new(),
            title,
            detail,
            options: vec![
                option("yes", yes, PermissionKind::AllowOnce),
                option("no", "Do not", PermissionKind::Reject),
            ],
        };
        let asked = self.session.ask(request, self.state.settings.permission_timeout_s);
        Ok(unless_stopped(self.cancel, asked).await?.as_deref() == Some("yes"))
    }
}
