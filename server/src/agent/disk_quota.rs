//! What a session may take of the disk. It isn't a wall: the disk itself is watched, and the sandbox is ended before that is
//! full. It is told, so that somebody cleans up in time.

use super::session::Session;
use super::update::NoticeLevel;

impl Session {
    /// What the agent has to be told after a call, where the session takes more than it may. The user is told once, until
    /// it takes less.
    pub(super) async fn over_disk_quota(&self) -> Option<String> {
        let max_gib = self.agent.settings().max_session_disk_gib;
        let taken = self.view.disk_taken().await;
        let is_over = taken.workspace_bytes + taken.home_bytes > max_gib << 30;
        let was_over = std::mem::replace(&mut self.facts().is_over_disk_quota, is_over);
        if !is_over {
            return None;
        }
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        let (workspace, home) = (gib(taken.workspace_bytes), gib(taken.home_bytes));
        let total = gib(taken.workspace_bytes + taken.home_bytes);
        if !was_over {
            self.notice(
                NoticeLevel::Warning,
                format!(
                    "the agent's files take {total:.1} GiB of the disk: {workspace:.1} in the workspace, {home:.1} in its home. \
                     That is more than max_session_disk_gib = {max_gib}; the agent is told to remove some"
                ),
            );
        }
        Some(format!(
            "[your files take {total:.1} GiB of the disk: {workspace:.1} in the workspace, {home:.1} in your home. You may \
             take {max_gib} GiB: remove what you don't need any more]"
        ))
    }
}
