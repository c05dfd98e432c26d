//! `/push`: sends the agent's branch to a remote, after the user has seen what that is.

use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::git::{Address, PushPlan};
use futures::future::BoxFuture;
use std::fmt::Write;

pub(super) struct Push;

impl BuiltIn for Push {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("push", "Push the agent's branch, after you have seen what that is", Some("[remote]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, cancel, .. } = &context;
            let work = session.git_work(cancel).await?;
            let name = Some(arguments.trim()).filter(|name| !name.is_empty());
            let remote =
                work.room.remote(name, &session.http_origins()).map_err(|error| error.to_string())?;
            let what = || format!("{} is being asked what it has", remote.name);
            let planned = session.patiently(what, work.room.plan_push(work.branch, remote.clone()));
            let planned = unless_stopped(cancel, planned).await?;
            let plan = planned.map_err(|error| error.to_string())?;
            if plan.known_there.as_ref() == Some(&plan.tip) {
                session.say(format!("`{}` is there already.", plan.branch.name()));
                return Ok(Outcome::Done);
            }
            let title = format!("Push {} to {}?", plan.branch.name(), plan.remote.name);
            if !context.agrees(title, detail(&plan), "Push").await? {
                session.say("Nothing was pushed.");
                return Ok(Outcome::Done);
            }
            let what = || format!("pushing to {}", plan.remote.name);
            let pushed = session.patiently(what, work.room.push(&plan, &session.agent.environment));
            let pushed = unless_stopped(cancel, pushed).await?;
            pushed.map_err(|error| error.to_string())?;
            let branch = plan.branch.name();
            session.say(format!("Pushed `{branch}` to {} ({}).", plan.remote.name, plan.remote.push_to));
            Ok(Outcome::Done)
        })
    }
}

/// All of what will happen.
fn detail(plan: &PushPlan) -> String {
    let PushPlan { remote, branch, tip, known_there, commits, more } = plan;
    let from = known_there.as_ref().map_or_else(|| "new there".to_owned(), |id| format!("so far at {id}"));
    let mut text =
        format!("remote: {}\nto: {}\nbranch: {} ({from})\n", remote.name, remote.push_to, branch.name());
    if matches!(remote.push_to, Address::Local(_)) {
        text += "This is a folder of this machine; no hook of that repository is run.\n";
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "will stand at: {tip}\ncommits:");
    for commit in commits {
        let _ = write!(text, "\n  {} {}", &commit.id[..10.min(commit.id.len())], commit.subject);
    }
    if *more > 0 {
        let _ = write!(text, "\n  and {more} earlier ones");
    }
    text
}
