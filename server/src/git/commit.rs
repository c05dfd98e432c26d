//! Commits accepted paths on a branch of the agent's own. The user's branch, index and files are not touched.

use super::blobs::{Blob, State, Stored, store};
use super::conversion::Attributes;
use super::{GitError, Room};
use crate::limits::GIT_PATHS_PER_CALL_MAX;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// A commit that is ready to be made.
pub struct Prepared {
    branch: Branch,
    /// Where the branch stands; `None`: it is yet to be made.
    tip: Option<String>,
    parent: Option<String>,
    tree: String,
    /// What it changes.
    pub changed: Vec<Changed>,
    /// Paths that are as they were.
    pub unchanged: Vec<WorkspacePath>,
    /// Paths that cannot be committed, and why.
    pub left_out: Vec<(WorkspacePath, String)>,
}

/// A path that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The path.
    pub path: WorkspacePath,
    /// `created`, `modified` or `deleted`.
    pub how: &'static str,
}

/// The agent's own branch of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch(String);

/// What is at a path in a tree: mode and id.
type InTree = HashMap<String, (String, String)>;

impl Branch {
    /// The branch of a session.
    pub fn of_session(session_id: &str) -> Result<Self, GitError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if session_id.is_empty() || session_id.starts_with('-') || !session_id.chars().all(plain) {
            return Err(GitError::new(
                format!("no branch can be named after the session {session_id:?}"),
                "commit it yourself",
            ));
        }
        Ok(Self(format!("airlock/{session_id}")))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }

    pub(super) fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl Room {
    /// Stores what these paths hold now and says what a commit of them would change. No branch moves yet.
    pub async fn prepare(
        &self,
        workspace: &WorkspaceRoot,
        branch: Branch,
        paths: &[WorkspacePath],
    ) -> Result<Prepared, GitError> {
        let reference = branch.reference();
        if self.repository.has_checked_out(&reference) {
            return Err(GitError::new(
                format!("you are on the branch {}, which is the agent's", branch.name()),
                "switch to another one, such as with `git switch -`",
            ));
        }
        let tip = self.commit_at(&reference).await?;
        let parent = match &tip {
            Some(tip) => Some(tip.clone()),
            None => self.users_commit().await?,
        };
        let stored = store(self, workspace, paths).await?;
        let before = self.before(parent.as_deref(), paths).await?;
        let mut prepared = Prepared {
            branch,
            tip,
            parent,
            tree: String::new(),
            changed: Vec::new(),
            unchanged: Vec::new(),
            left_out: Vec::new(),
        };
        self.fill_index(stored, &before, &mut prepared).await?;
        // Without the promise of a partial clone, what it has not fetched looks missing.
        prepared.tree = self.call("write the tree").args(["write-tree", "--missing-ok"]).line().await?;
        Ok(prepared)
    }

    /// Makes the commit and moves the branch to it, if it still stands where it stood. Gives the commit's id.
    pub async fn record(&self, prepared: &Prepared, message: &str) -> Result<String, GitError> {
        let (name, email) = self.identity()?;
        let mut call = self.call("commit").args(["commit-tree", "--no-gpg-sign"]);
        if let Some(parent) = &prepared.parent {
            call = call.args(["-p", parent]);
        }
        for who in ["AUTHOR", "COMMITTER"] {
            call = call.env(format!("GIT_{who}_NAME"), &name).env(format!("GIT_{who}_EMAIL"), &email);
        }
        let commit = call.args(["-F", "-", &prepared.tree]).input(message).line().await?;
        let expected = prepared.tip.clone().unwrap_or_else(|| "0".repeat(commit.len()));
        let call = self.call("move the agent's branch").args(["update-ref", "--create-reflog", "-m"]);
        let call = call.env("GIT_COMMITTER_NAME", &name).env("GIT_COMMITTER_EMAIL", &email);
        call.args(["airlock: commit", &prepared.branch.reference(), &commit, &expected]).run().await?;
        Ok(commit)
    }

    /// Who commits: the user.
    fn identity(&self) -> Result<(String, String), GitError> {
        let setting = |key: &str| self.own.text(key).or_else(|| self.users.text(key));
        match (setting("user.name"), setting("user.email")) {
            (Some(name), Some(email)) => Ok((name, email)),
            _ => Err(GitError::new(
                "git does not know who you are",
                "`git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`",
            )),
        }
    }

    /// What the parent has at these paths, and above them where that is a repository of its own.
    async fn before(&self, parent: Option<&str>, paths: &[WorkspacePath]) -> Result<InTree, GitError> {
        let Some(parent) = parent else {
            return Ok(InTree::new());
        };
        let mut names = BTreeSet::new();
        for path in paths {
            let name = self.name_of(path);
            names.extend(above(&name).map(str::to_owned));
            names.insert(name);
        }
        let names: Vec<String> = names.into_iter().collect();
        let mut found = InTree::new();
        for names in names.chunks(GIT_PATHS_PER_CALL_MAX) {
            let call = self.call("read the tree").args(["ls-tree", "-z", "--full-tree", parent, "--"]);
            let output = call.args(names).run().await?;
            for entry in output.split(|byte| *byte == 0) {
                let entry = String::from_utf8_lossy(entry);
                let Some((facts, name)) = entry.split_once('\t') else { continue };
                if let [mode, _, id] = facts.split(' ').collect::<Vec<_>>()[..] {
                    found.insert(name.to_owned(), (mode.to_owned(), id.to_owned()));
                }
            }
        }
        Ok(found)
    }

    /// Makes the room's own index: the parent's tree with these changes.
    async fn fill_index(
        &self,
        stored: Vec<Stored>,
        before: &InTree,
        prepared: &mut Prepared,
    ) -> Result<(), GitError> {
        let read = self.call("read the tree").arg("read-tree");
        match &prepared.parent {
            Some(parent) => read.arg(parent).run().await?,
            None => read.arg("--empty").run().await?,
        };
        let modes_count = self.own.is_on("core.filemode").unwrap_or(true);
        let mut wanted = Vec::new();
        for Stored { path, state } in stored {
            let name = self.name_of(&path);
            let was = before.get(&name);
            let is_module = |name: &str| before.get(name).is_some_and(|(mode, _)| mode == "160000");
            if is_module(&name) || above(&name).any(is_module) {
                prepared.left_out.push((path, "it is in a submodule: commit it there".to_owned()));
                continue;
            }
            match state {
                State::Unfit(why) => prepared.left_out.push((path, why)),
                State::Deleted => wanted.push((path, name, None)),
                State::Blob(mut blob) => {
                    if !modes_count && blob.mode != "120000" {
                        blob.mode =
                            if was.is_some_and(|(mode, _)| mode == "100755") { "100755" } else { "100644" };
                    }
                    wanted.push((path, name, Some(blob)));
                }
            }
        }
        self.update_index(wanted.iter().map(|(_, name, blob)| (name, blob.as_ref().map(entry)))).await?;
        let names: Vec<String> = wanted.iter().map(|(_, name, _)| name.clone()).collect();
        let attributes = Attributes::of(self, &names).await?;
        let mut put_back = Vec::new();
        for (path, name, blob) in wanted {
            let was = before.get(&name).map(|(mode, id)| (mode.as_str(), id.as_str()));
            let why_not = blob.as_ref().and_then(|blob| attributes.why_not(self, &name, blob.lines));
            let is = blob.as_ref().map(entry);
            if is == was {
                prepared.unchanged.push(path);
            } else if let Some(why) = why_not {
                prepared.left_out.push((path, why));
                put_back.push((name, was));
            } else {
                let how = match (was, is) {
                    (None, _) => "created",
                    (_, None) => "deleted",
                    _ => "modified",
                };
                prepared.changed.push(Changed { path, how });
            }
        }
        self.update_index(put_back.iter().map(|(name, was)| (name, *was))).await
    }

    /// Puts mode and id at names; `None` takes the name away.
    async fn update_index<'a>(
        &self,
        entries: impl Iterator<Item = (&'a String, Option<(&'a str, &'a str)>)>,
    ) -> Result<(), GitError> {
        let mut input = Vec::new();
        let nothing =
            "0".repeat(if self.own.get("extensions.objectformat") == Some("sha256") { 64 } else { 40 });
        for (name, entry) in entries {
            let (mode, id) = entry.unwrap_or(("0", &nothing));
            input.extend(format!("{mode} {id}\t{name}\0").into_bytes());
        }
        if input.is_empty() {
            return Ok(());
        }
        let call = self.call("put together what to commit");
        call.args(["update-index", "-z", "--index-info"]).input(input).run().await.map(drop)
    }

    /// A path of the workspace as the repository knows it.
    fn name_of(&self, path: &WorkspacePath) -> String {
        format!("{}{}", self.repository.prefix, path.as_str())
    }
}

fn entry(blob: &Blob) -> (&str, &str) {
    (blob.mode, &blob.id)
}

/// The folders above a name.
fn above(name: &str) -> impl Iterator<Item = &str> {
    Path::new(name).ancestors().skip(1).filter_map(Path::to_str).filter(|name| !name.is_empty())
}
