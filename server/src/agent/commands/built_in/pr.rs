//! `/pr`: asks GitHub or Gitea for a pull request of the agent's branch, after the user has seen what will be sent.

use super::{BuiltIn, CommandContext, Outcome, unless_stopped};
use crate::agent::git_work::GitWork;
use crate::agent::session::State;
use crate::forge::{self, PullRequest};
use crate::git::{Commit, GitError, Remote};
use crate::limits::PULL_REQUEST_TITLE_MAX_CHARS;
use crate::neutral::neutral_line;
use futures::future::BoxFuture;

pub(super) struct Pr;

impl BuiltIn for Pr {
    fn info(&self) -> (&'static str, &'static str, Option<&'static str>) {
        ("pr", "Open a pull request for the agent's branch, after you have seen it", Some("[title]"))
    }

    fn run<'a>(
        &'a self,
        context: CommandContext<'a>,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<Outcome, String>> {
        Box::pin(async move {
            let CommandContext { session, state, cancel } = &context;
            let work = session.git_work(cancel).await?;
            let origins = session.http_origins();
            let asking = || "the remote is being asked what it has".to_owned();
            let found = unless_stopped(cancel, session.patiently(asking, remote(&work, &origins))).await?;
            let remote = found.map_err(|error| error.to_string())?;
            let place = forge::find(&session.agent.settings.forges, &remote.home)?;
            let about = unless_stopped(cancel, session.patiently(asking, about(&work, &remote))).await?;
            let (base, commits, more) = about.map_err(|error| error.to_string())?;
            let request = PullRequest {
                place,
                base,
                head: work.branch.name().to_owned(),
                title: title(arguments, state, &commits),
                body: body(&commits, more),
            };
            let question = format!("Open a pull request for {}?", request.head);
            if !context.agrees(question, request.shown(), "Open pull request").await? {
                session.say("No pull request was made.");
                return Ok(Outcome::Done);
            }
            let sending = || "the pull request is being sent".to_owned();
            let opened = unless_stopped(cancel, session.patiently(sending, request.open())).await??;
            session.say(format!("Pull request {}: {}", opened.number, opened.url));
            Ok(Outcome::Done)
        })
    }
}

/// The remote that the branch was pushed to, as it is now.
async fn remote(work: &GitWork<'_>, http_origins: &[String]) -> Result<Remote, GitError> {
    let usual = work.room.remote(None, http_origins).into_iter();
    let others = work.room.remote_names().into_iter();
    let others = others.filter_map(|name| work.room.remote(Some(name), http_origins).ok());
    for remote in usual.chain(others) {
        if work.room.is_pushed(&work.branch, &remote).await? {
            return Ok(remote);
        }
    }
    Err(GitError::new(format!("{} is not pushed as it is now", work.branch.name()), "`/push` it first"))
}

/// What it is for, and what it is made of.
async fn about(work: &GitWork<'_>, remote: &Remote) -> Result<(String, Vec<Commit>, usize), GitError> {
    let base = work.room.base_branch(remote).await?;
    let (commits, more) = work.room.commits_since(&work.branch, &base, remote).await?;
    Ok((base, commits, more))
}

/// The user's words, or those of the only commit, or the conversation's title. It is sent as it is shown.
fn title(words: &str, state: &State, commits: &[Commit]) -> String {
    let of_conversation = state.header.as_ref().map(|header| header.title.as_str());
    let title = match (words.trim(), commits, of_conversation) {
        ("", [only], _) => &only.subject,
        ("", _, Some(title)) if !title.is_empty() => title,
        ("", [latest, ..], _) => &latest.subject,
        ("", ..) => "Changes made with Airlock",
        (words, ..) => words,
    };
    neutral_line(title).chars().take(PULL_REQUEST_TITLE_MAX_CHARS).collect()
}

fn body(commits: &[Commit], more: usize) -> String {
    let mut lines: Vec<String> = commits.iter().map(|commit| format!("- {}", commit.subject)).collect();
    if more > 0 {
        lines.push(format!("- and {more} earlier commits"));
    }
    lines.join("\n")
}
