//! `/trust`: lets the workspace's own instructions, commands and configuration count.

use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::agent::OfWorkspace;
use crate::agent::permission::{PermissionKind, PermissionOption, PermissionRequest};
use crate::agent::session::{Session, State};
use crate::paths::WorkspaceRoot;
use crate::trust::{Survey, TrustState, survey};
use futures::future::BoxFuture;

pub(super) struct Trust;

impl BuiltIn for Trust {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("trust", "Use this workspace's own instructions, commands and configuration", Some("[off]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let root = context.session.workspace.as_ref().ok_or("there is no workspace to trust")?;
            match arguments.trim() {
                "" => trust(context, root).await?,
                "off" => {
                    let CommandContext { session, state, .. } = context;
                    let was = session.agent.trust.revoke(root).map_err(|error| error.to_string())?;
                    reload(session, state).await;
                    session.say(if was {
                        "This workspace is no longer trusted."
                    } else {
                        "It was not trusted."
                    });
                }
                other => return Err(format!("/trust takes nothing or \"off\", not {other:?}")),
            }
            Ok(Outcome::Done)
        })
    }
}

async fn trust(context: CommandContext<'_>, root: &WorkspaceRoot) -> Result<(), String> {
    let CommandContext { session, state, cancel } = context;
    let shown = survey(root).map_err(|error| error.to_string())?;
    if shown.files.is_empty() {
        session.say("This workspace has no instructions, commands or configuration of its own.");
        return Ok(());
    }
    if let Some(TrustState::Trusted(_)) = session.agent.trust_of(Some(root)) {
        // Another window may have trusted it since this session began.
        reload(session, state).await;
        session.say("This workspace is trusted as it is now. `/trust off` takes that back.");
        return Ok(());
    }
    let asked = session.ask(question(root, &shown), state.settings.permission_timeout_s);
    let answer = unless_stopped(cancel, asked).await?;
    if answer.as_deref() != Some("trust") {
        session.say("It stays untrusted.");
        return Ok(());
    }
    session.agent.trust.trust(root, &shown).map_err(|error| error.to_string())?;
    reload(session, state).await;
    let later = if state.header.is_some() {
        " Its instructions count from the next conversation on (`/clear`)."
    } else {
        ""
    };
    session.say(format!("This workspace is trusted as it is now; a change asks again.{later}"));
    Ok(())
}

/// The whole list, for the answer binds to exactly these bytes.
fn question(root: &WorkspaceRoot, shown: &Survey) -> PermissionRequest {
    let lines = shown.files.iter().map(|file| match &file.link_target {
        Some(target) => format!("{} -> {target} (a link, not followed)", file.path),
        None => format!("{} ({} bytes)", file.path, file.size_bytes),
    });
    let option = |id: &str, label: &str, kind| PermissionOption { id: id.into(), label: label.into(), kind };
    PermissionRequest {
        tool_call_id: String::new(),
        title: format!("Trust {} and use its own instructions, commands and configuration?", root.name()),
        detail: lines.collect::<Vec<_>>().join("\n"),
        options: vec![
            option("trust", "Trust", PermissionKind::AllowOnce),
            option("no", "Do not trust", PermissionKind::Reject),
        ],
    }
}

/// Takes over what the workspace may now say, or no longer.
async fn reload(session: &Session, state: &mut State) {
    let mut notices = Vec::new();
    let OfWorkspace { settings, custom, trusted } =
        session.agent.of_workspace(session.workspace.as_ref(), &mut notices);
    if state.model == state.settings.model && state.model != settings.model {
        session.choose_model(state, &settings.model).await;
    }
    state.settings = settings;
    state.custom = custom;
    state.shelved.trust(trusted);
    session.renew_shelf(state, &mut notices).await;
    session.set_commands(super::all_infos(&state.custom, &state.shelved.shelf));
    for (level, text) in notices {
        session.notice(level, text);
    }
}
