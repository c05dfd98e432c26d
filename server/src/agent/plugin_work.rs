//! The plugins of a session: fresh before each prompt, their tools after the built-in ones.
//!
//! The list of tools is what the model's cache begins with. So it stays as it is within a turn, and between turns it only
//! grows: a tool that is gone keeps its place, and says so when it is called.

use super::Agent;
use super::commands::SlashCommand;
use super::commands::built_in;
use super::history::Entry;
use super::outbox::Outbox;
use super::permission::{PermissionKind, PermissionOption, PermissionRequest};
use super::prompt::Prompt;
use super::session::{Session, State, TurnOver};
use super::turn_task::{Ready, TurnTask, over};
use super::update::{NoticeLevel, StopReason, Update};
use crate::claude::ToolSpec;
use crate::limits::PATIENCE_MS;
use crate::paths::WorkspaceRoot;
use crate::plugins::{Shelf, WorkspaceSide, workspace_stamp};
use crate::tools::{Consent, Progress, Registry, ToolContext};
use crate::trust::{TrustState, TrustedWorkspace};
use crate::view::EditorView;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A session's plugins, and all its tools.
pub(super) struct Shelved {
    pub(super) shelf: Shelf,
    pub(super) tools: Arc<Registry>,
    trust: Trust,
    /// What the disk told of the workspace's plugins when trust was last looked at.
    stamp: Vec<(PathBuf, String)>,
}

enum Trust {
    Trusted(TrustedWorkspace),
    Changed,
    None,
}

impl Trust {
    fn of(trusted: Option<TrustedWorkspace>) -> Self {
        trusted.map_or(Self::None, Self::Trusted)
    }

    fn side(&self) -> WorkspaceSide<'_> {
        match self {
            Self::Trusted(trusted) => WorkspaceSide::Trusted(trusted),
            Self::Changed => WorkspaceSide::Changed,
            Self::None => WorkspaceSide::None,
        }
    }
}

impl Shelved {
    /// The user changed their mind about the workspace.
    pub(super) fn trust(&mut self, trusted: Option<TrustedWorkspace>) {
        self.trust = Trust::of(trusted);
    }
}

impl Agent {
    /// A session's plugins as they are now, without compiling anything.
    pub(super) fn shelve(
        &self,
        workspace: Option<&WorkspaceRoot>,
        trusted: Option<TrustedWorkspace>,
        outbox: &Arc<Outbox>,
        notices: &mut Vec<(NoticeLevel, String)>,
    ) -> Shelved {
        let told = Arc::clone(outbox);
        let tell = move |text| told.push(Update::Notice { level: NoticeLevel::Warning, text });
        let trust = Trust::of(trusted);
        let (shelf, problems) = Shelf::open(&self.plugins, trust.side(), tell);
        notices.extend(problems.into_iter().map(|problem| (NoticeLevel::Warning, problem)));
        let tools = self.tools_with(&shelf, notices);
        let stamp = workspace.map(|root| workspace_stamp(root.as_host())).unwrap_or_default();
        Shelved { shelf, tools, trust, stamp }
    }

    fn tools_with(&self, shelf: &Shelf, notices: &mut Vec<(NoticeLevel, String)>) -> Arc<Registry> {
        if shelf.is_empty() {
            return Arc::clone(&self.tools);
        }
        let (tools, left_out) = self.tools.with(shelf.tools());
        notices.extend(left_out.into_iter().map(|why| (NoticeLevel::Warning, why)));
        Arc::new(tools)
    }
}

impl Session {
    /// Brings the plugins up to date. Gives whether something changed.
    pub(super) async fn renew_shelf(
        &self,
        state: &mut State,
        notices: &mut Vec<(NoticeLevel, String)>,
    ) -> bool {
        let Shelved { shelf, tools, trust, stamp } = &mut state.shelved;
        if let Some(root) = &self.workspace {
            let now = workspace_stamp(root.as_host());
            if now != *stamp && !matches!(trust, Trust::None) {
                *trust = match self.agent.trust.state(root).0 {
                    TrustState::Trusted(trusted) => Trust::Trusted(trusted),
                    TrustState::Changed { files } => {
                        notices.push((NoticeLevel::Warning, super::changed_since_trusted(&files)));
                        Trust::Changed
                    }
                    TrustState::Untrusted => Trust::None,
                };
            }
            *stamp = now;
        }
        let what = || "a plugin that is new or changed is being compiled".to_owned();
        let begun = Instant::now();
        let (changed, problems) = self.patiently(what, shelf.refresh(trust.side())).await;
        if begun.elapsed() >= Duration::from_millis(PATIENCE_MS) {
            self.notice(NoticeLevel::Info, "the plugins are ready");
        }
        notices.extend(problems.into_iter().map(|problem| (NoticeLevel::Warning, problem)));
        if changed {
            *tools = self.agent.tools_with(shelf, notices);
        }
        changed
    }

    /// What this session's user has in front of them.
    pub(super) fn editor_view(&self, state: &State) -> EditorView {
        let desk = Arc::clone(&self.agent.desk);
        EditorView::new(desk as _, self.workspace.clone(), Arc::clone(&state.shown))
    }
}

impl TurnTask {
    /// Before a prompt: plugins that came, went or changed.
    pub(super) async fn renew_plugins(&self, state: &mut State) {
        let mut notices = Vec::new();
        let renewed = self.session.renew_shelf(state, &mut notices);
        let changed = self.cancel.run_until_cancelled(renewed).await.unwrap_or(false);
        for (level, text) in notices {
            self.session.notice(level, text);
        }
        if changed {
            let infos = built_in::all_infos(&state.custom, &state.shelved.shelf);
            if infos != self.session.commands() {
                self.session.set_commands(infos);
            }
        }
    }

    /// Tells the model of tools that came or changed since the session began.
    pub(super) async fn renew_tools(&self, state: &mut State) {
        let tools = Arc::clone(&state.shelved.tools);
        let specs = tools.specs().iter().filter(|spec| tools.owner(&spec.name).is_some());
        let Some(header) = &mut state.header else { return };
        if take_over(&mut header.tools, specs) {
            let entry = Entry::Session(header.clone());
            // The prompt that follows is waited for, and lines are written in order.
            drop(state.write(entry).await);
        }
    }

    /// A plugin's slash command: the prompt that it stands for.
    pub(super) async fn plugin_command(
        &self,
        state: &mut State,
        prompt: Prompt,
        command: &SlashCommand,
    ) -> Result<Ready, TurnOver> {
        let all = state.shelved.shelf.commands();
        let Some(found) = all.into_iter().find(|found| found.listed.name == command.name) else {
            return Err(self.unknown_command(state, &command.name));
        };
        let context = ToolContext {
            cancel: self.cancel.child_token(),
            progress: Progress::nowhere(),
            view: Arc::clone(&self.session.view),
            editor: self.session.editor_view(state),
            consent: consent(&self.session, "", state.settings.permission_timeout_s),
        };
        let changes_files = found.changes_files();
        if changes_files {
            self.checkpoint.get_or_init(|| self.session.keep_checkpoint()).await;
        }
        let expanded = found.expand(&command.arguments, context).await;
        if changes_files {
            self.session.view.capture().await;
            // The turn may end here.
            if expanded.is_err() {
                self.tell_changes().await;
            }
        }
        match expanded {
            Ok(text) => {
                self.session.outbox.push(Update::UserMessage { text: text.clone() });
                Ok(Ready { prompt: Prompt { text, ..prompt }, model: None })
            }
            Err(_) if self.cancel.is_cancelled() => Err(over(StopReason::Cancelled, None)),
            Err(why) => Err(over(StopReason::Error, Some(why))),
        }
    }
}

/// Puts new tools after the old ones, and changed ones in their old place. Gives whether there were any.
fn take_over<'s>(tools: &mut Vec<ToolSpec>, now: impl Iterator<Item = &'s ToolSpec>) -> bool {
    let mut changed = false;
    for spec in now {
        match tools.iter_mut().find(|tool| tool.name == spec.name) {
            Some(tool) if tool == spec => continue,
            Some(tool) => tool.clone_from(spec),
            None => tools.push(spec.clone()),
        }
        changed = true;
    }
    changed
}

/// A tool's way to ask this session's user for something lasting.
pub(super) fn consent(session: &Arc<Session>, tool_call_id: &str, wait_max_s: u64) -> Consent {
    let (session, tool_call_id) = (Arc::clone(session), tool_call_id.to_owned());
    Consent::new(move |question| {
        let option =
            |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
        let request = PermissionRequest {
            tool_call_id: tool_call_id.clone(),
            title: question.title,
            detail: question.detail,
            options: vec![
                option("grant", "Grant", PermissionKind::AllowSession),
                option("no", "Not now", PermissionKind::Reject),
            ],
        };
        let session = Arc::clone(&session);
        Box::pin(async move { session.ask(request, wait_max_s).await.as_deref() == Some("grant") })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_keep_their_places_and_new_ones_come_last() {
        let spec = |name: &str, description: &str| ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: json!({"type": "object"}),
        };
        let mut tools = vec![spec("bash", ""), spec("gone", ""), spec("count", "old")];
        assert!(take_over(&mut tools, [spec("new", ""), spec("count", "new")].iter()));
        assert_eq!(tools, [spec("bash", ""), spec("gone", ""), spec("count", "new"), spec("new", "")]);
        assert!(!take_over(&mut tools, [spec("count", "new")].iter()));
    }
}
