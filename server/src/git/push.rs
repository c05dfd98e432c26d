//! Pushing the agent's branch: first exactly what would happen, then exactly that.

use super::{Address, Branch, GitError, Remote, Room};
use crate::environment::Environment;
use crate::limits::{GIT_PUSH_MAX_MS, GIT_SHOWN_MAX};
use crate::neutral::{is_plain, neutral_line};

/// What a push would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushPlan {
    /// Where to.
    pub remote: Remote,
    /// The branch, which has the same name there.
    pub branch: Branch,
    /// The commit that it will stand at.
    pub tip: String,
    /// Where it stands there, as far as is known here.
    pub known_there: Option<String>,
    /// What is new there as far as is known here, newest first.
    pub commits: Vec<Commit>,
    /// How many more are new there.
    pub more: usize,
}

/// A commit, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its whole id.
    pub id: String,
    /// The first line of its message, safe to show.
    pub subject: String,
}

impl Room {
    /// What a push of the branch to a remote would do. It reaches nobody.
    pub async fn plan_push(&self, branch: Branch, remote: Remote) -> Result<PushPlan, GitError> {
        let Some(tip) = self.commit_at(&branch.reference()).await? else {
            return Err(GitError::new(
                format!("there is no branch {} yet", branch.name()),
                "accept changes and `/commit` them first",
            ));
        };
        let known_there = self.commit_at(&there(&remote, &branch)).await?;
        let (commits, more) = self.new_commits(&tip, &remote).await?;
        Ok(PushPlan { remote, branch, tip, known_there, commits, more })
    }

    /// Does it.
    pub async fn push(&self, plan: &PushPlan, environment: &Environment) -> Result<(), GitError> {
        let target = plan.branch.reference();
        // The other side of a local push is git as well, and must not obey that repository's settings either.
        let other_side = match &plan.remote.push_to {
            Address::Local(path) => Some(self.beside(path, environment).await?),
            _ => None,
        };
        if other_side.as_ref().is_some_and(|other| other.repository.has_checked_out(&target)) {
            let what = format!("{} is checked out in {}", plan.branch.name(), plan.remote.push_to);
            return Err(GitError::new(what, "switch to another branch there"));
        }
        let address = match &other_side {
            Some(other) => other.folder().as_os_str().to_owned(),
            None => plan.remote.push_to.to_string().into(),
        };
        let call = self.call("push").time_max_ms(GIT_PUSH_MAX_MS);
        let call = call.args(["push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags"]);
        let call = call.args(["--recurse-submodules=no", "--no-force", "--"]).arg(address);
        let call = call.arg(format!("{}:{target}", plan.tip));
        call.env("GIT_ALLOW_PROTOCOL", plan.remote.push_to.protocol()).run().await?;
        let noted = self.call("note what was pushed").args(["update-ref", "-m", "airlock: push"]);
        if let Err(error) = noted.args([&there(&plan.remote, &plan.branch), &plan.tip]).run().await {
            tracing::warn!(%error, "the push is done, but not noted");
        }
        Ok(())
    }

    /// Whether the branch is pushed as it is now.
    pub async fn is_pushed(&self, branch: &Branch, remote: &Remote) -> Result<bool, GitError> {
        let here = self.commit_at(&branch.reference()).await?;
        Ok(here.is_some() && here == self.commit_at(&there(remote, branch)).await?)
    }

    /// The branch that work is meant for: the remote's own, or the one that the user is on.
    pub async fn base_branch(&self, remote: &Remote) -> Result<String, GitError> {
        let prefix = format!("refs/remotes/{}/", remote.name);
        let head = format!("{prefix}HEAD");
        let call = self.call("look up the remote's branch").args(["symbolic-ref", "--quiet", &head]);
        let of_remote = call.line_if_any().await?;
        let of_remote = of_remote.as_deref().and_then(|name| name.strip_prefix(&prefix));
        let users = self.users_branch().await?;
        // The agent's own branches are not what the work is meant for.
        let of_user = users.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
        let of_user = of_user.filter(|name| !name.starts_with("airlock/"));
        let base = of_remote.or(of_user).filter(|name| name.chars().all(is_plain));
        base.map(str::to_owned).ok_or_else(|| {
            GitError::new(
                "it is not clear which branch the pull request is for",
                format!("`git remote set-head {} --auto`, or switch to that branch", remote.name),
            )
        })
    }

    /// The commits of the branch that a base has not: newest first, and how many more there are.
    pub async fn commits_since(
        &self,
        branch: &Branch,
        base: &str,
        remote: &Remote,
    ) -> Result<(Vec<Commit>, usize), GitError> {
        for base in [format!("refs/remotes/{}/{base}", remote.name), format!("refs/heads/{base}")] {
            if let Some(base) = self.commit_at(&base).await? {
                return self.commits(&[&branch.reference(), "--not", &base]).await;
            }
        }
        self.commits(&[&branch.reference()]).await
    }

    async fn new_commits(&self, tip: &str, remote: &Remote) -> Result<(Vec<Commit>, usize), GitError> {
        let there = format!("--remotes={}", remote.name);
        self.commits(&[tip, "--not", &there]).await
    }

    async fn commits(&self, range: &[&str]) -> Result<(Vec<Commit>, usize), GitError> {
        let call = self.call("list commits").args(["rev-list", "--format=%s"]);
        let listed = call.arg(format!("--max-count={GIT_SHOWN_MAX}")).args(range).run().await?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let mut lines = listed.lines();
        let mut commits = Vec::new();
        while let (Some(id), Some(subject)) = (lines.next(), lines.next()) {
            let id = id.trim_start_matches("commit ").to_owned();
            commits.push(Commit { id, subject: neutral_line(subject) });
        }
        let count = self.call("count commits").args(["rev-list", "--count"]).args(range).line().await?;
        let more = count.parse::<usize>().unwrap_or_default().saturating_sub(commits.len());
        Ok((commits, more))
    }
}

/// Where it is noted how a branch stands on a remote.
fn there(remote: &Remote, branch: &Branch) -> String {
    format!("refs/remotes/{}/{}", remote.name, branch.name())
}
