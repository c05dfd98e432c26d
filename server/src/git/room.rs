//! A room of our own for git: a folder that git takes for the repository, with settings that we wrote.
//!
//! Git always obeys a repository's own settings, and dozens of them start programs: hooks, monitors, filters, drivers,
//! helpers, proxies, whatever an include brings in. A list of those to switch off is never complete. So git never
//! works in the user's repository: it works here, where objects and branches are the repository's, by links, and
//! settings, hooks, attributes and index are not. The user's own settings count, as they would in the repository.
//!
//! Architecture invariant: of a repository's settings, only those that this file names have any effect; and what is
//! shared with it is in its own folder, not behind a link.

use super::GitError;
use super::links::refuse_links;
use super::program::{Call, Program};
use super::repository::Repository;
use super::settings::GitSettings;
use crate::environment::Environment;
use crate::paths::WorkspaceRoot;
use crate::storage;
use std::io;
use std::path::{Path, PathBuf};

/// What a room shares with its repository.
const SHARED: [&str; 6] = ["objects", "refs", "packed-refs", "reftable", "logs", "shallow"];

/// What holds in every room, over the user's own settings.
const FIXED: [(&str, &str); 20] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", ":"),
    ("core.logAllRefUpdates", "true"),
    ("core.alternateRefsCommand", ":"),
    ("commit.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("push.negotiate", "false"),
    ("push.recurseSubmodules", "no"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("receive.autogc", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    // What the user agrees to is this very address.
    ("http.followRedirects", "false"),
    ("transfer.credentialsInUrl", "die"),
    ("protocol.allow", "never"),
];

/// A repository, opened such that nothing in it can run.
pub struct Room {
    program: Program,
    pub(super) repository: Repository,
    folder: PathBuf,
    /// The user's own settings.
    pub(super) users: GitSettings,
    /// The repository's, as data.
    pub(super) own: GitSettings,
    fixed: Vec<(String, String)>,
}

impl Room {
    /// A room for the repository of a workspace, kept in a session's folder until it is dropped.
    pub async fn open(
        environment: &Environment,
        workspace: &WorkspaceRoot,
        session_folder: &Path,
    ) -> Result<Self, GitError> {
        let program = Program::find(environment)?;
        let repository = Repository::of(workspace)?;
        let users = GitSettings::of_user(&program, environment, &repository.git_dir).await?;
        Self::make(program, repository, users, session_folder.join("git"), environment).await
    }

    /// A second room, for another repository on this machine.
    pub(super) async fn beside(&self, path: &Path, environment: &Environment) -> Result<Self, GitError> {
        let repository = Repository::at_path(path)?;
        let folder = self.folder.with_file_name("git-remote");
        Self::make(self.program.clone(), repository, self.users.clone(), folder, environment).await
    }

    async fn make(
        program: Program,
        repository: Repository,
        users: GitSettings,
        folder: PathBuf,
        environment: &Environment,
    ) -> Result<Self, GitError> {
        check_owner(&repository, &users)?;
        let common_dir = repository.common_dir.clone();
        let looked = tokio::task::spawn_blocking(move || refuse_links(&common_dir, &SHARED)).await;
        looked.unwrap_or_else(|error| {
            Err(GitError::new(format!("the repository was not looked at ({error})"), "try again"))
        })?;
        let failed =
            |error: io::Error| GitError::disk(format!("{} cannot be made", folder.display()), &error);
        // One that is there was left by a process that was killed.
        storage::remove_tree(&folder).and_then(|()| storage::make_private_folder(&folder)).map_err(failed)?;
        let own = GitSettings::of_repository(&program, &repository.common_dir, &folder).await?;
        storage::write_private(&folder.join("HEAD"), b"ref: refs/heads/.invalid\n").map_err(failed)?;
        storage::write_private(&folder.join("config"), settings(&own)?.as_bytes()).map_err(failed)?;
        for name in SHARED {
            let shared = repository.common_dir.join(name);
            if shared.exists() {
                storage::link(&shared, &folder.join(name)).map_err(failed)?;
            }
        }
        let mut fixed: Vec<(String, String)> =
            FIXED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let own_ssh = environment.variable("GIT_SSH_COMMAND").or_else(|| users.get("core.sshcommand"));
        if let Some(ssh) = own_ssh {
            fixed.push(("core.sshCommand".to_owned(), ssh.to_owned()));
        } else if environment.variable("GIT_SSH").is_none() {
            // It must not ask on the terminal that shows the conversation.
            fixed.push(("core.sshCommand".to_owned(), "ssh -oBatchMode=yes".to_owned()));
        }
        Ok(Self { program, repository, folder, users, own, fixed })
    }

    /// A call of git in here.
    pub(super) fn call(&self, doing: &'static str) -> Call {
        let mut call = self.program.call(doing, &self.folder, &self.folder);
        // Addresses are rewritten before the user is asked, and not once more behind the user's back.
        let users = self.users.iter().filter(|(key, _)| !key.starts_with("url."));
        let fixed = self.fixed.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut count = 0;
        for (key, value) in users.chain(fixed) {
            call = call
                .env(format!("GIT_CONFIG_KEY_{count}"), key)
                .env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        call.env("GIT_CONFIG_COUNT", count.to_string())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Until somebody names another, nothing is reached.
            .env("GIT_ALLOW_PROTOCOL", "none")
    }

    /// The folder that git takes for the repository.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The commit that a branch or `HEAD` of the user stands at.
    pub(super) async fn commit_at(&self, reference: &str) -> Result<Option<String>, GitError> {
        let wanted = format!("{reference}^{{commit}}");
        let call =
            self.call("look up a branch").args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        call.arg(wanted).line_if_any().await
    }

    /// The branch that the user is on, as `refs/heads/…`; `None` when on none.
    pub(super) async fn users_branch(&self) -> Result<Option<String>, GitError> {
        if self.uses_reftable() {
            return self.call("look up HEAD").args(["symbolic-ref", "--quiet", "HEAD"]).line_if_any().await;
        }
        Ok(self.repository.head()?.strip_prefix("ref: ").map(str::to_owned))
    }

    /// The commit that the user's files are at; `None` before the first one.
    pub(super) async fn users_commit(&self) -> Result<Option<String>, GitError> {
        match self.users_branch().await? {
            Some(branch) => self.commit_at(&branch).await,
            None => self.commit_at(&self.repository.head()?).await,
        }
    }

    fn uses_reftable(&self) -> bool {
        self.own.get("extensions.refstorage") == Some("reftable")
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // It holds links and an index; what stays is removed before the next one is made.
        let _ = storage::remove_tree(&self.folder);
    }
}

/// The settings of a room: what says how the repository is stored, checked word by word.
fn settings(own: &GitSettings) -> Result<String, GitError> {
    // For the other side of a local push, which gets these settings only.
    let mut text =
        String::from("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[receive]\n\tautogc = false\n");
    text += "[core]\n\tbare = true\n\thooksPath = /dev/null\n";
    let known = |value: &str, known: &[&str]| known.contains(&value).then(|| value.to_owned());
    let mut extensions = String::new();
    for (key, value) in own.iter() {
        let Some(name) = key.strip_prefix("extensions.") else { continue };
        let kept = match name {
            "objectformat" => known(value, &["sha1", "sha256"]),
            "refstorage" => known(value, &["files", "reftable"]),
            "noop" | "partialclone" | "preciousobjects" | "worktreeconfig" | "relativeworktrees" => continue,
            _ => None,
        };
        let Some(kept) = kept else {
            let what = format!("this repository is stored in a way that Airlock does not know ({key})");
            return Err(GitError::new(what, "commit and push it yourself"));
        };
        extensions += &format!("\t{name} = {kept}\n");
    }
    let version = if extensions.is_empty() { 0 } else { 1 };
    text += &format!("\trepositoryformatversion = {version}\n");
    let shared =
        own.get("core.sharedrepository").filter(|value| value.chars().all(|c| c.is_ascii_alphanumeric()));
    if let Some(shared) = shared {
        text += &format!("\tsharedRepository = {shared}\n");
    }
    Ok(if extensions.is_empty() { text } else { format!("{text}[extensions]\n{extensions}") })
}

/// Git, too, refuses to work in a repository of somebody else, unless the user said so.
fn check_owner(repository: &Repository, users: &GitSettings) -> Result<(), GitError> {
    let root = repository.root.as_path();
    let owner = repository
        .owner()
        .map_err(|error| GitError::disk(format!("{} cannot be read", root.display()), &error))?;
    let named = |value: &str| value == "*" || Path::new(value) == root;
    let is_safe = users.iter().any(|(key, value)| key == "safe.directory" && named(value));
    if owner == rustix::process::geteuid().as_raw() || is_safe {
        return Ok(());
    }
    Err(GitError::new(
        format!("the repository {} belongs to another user", root.display()),
        format!("if you trust it: git config --global --add safe.directory {}", root.display()),
    ))
}
