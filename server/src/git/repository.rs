//! Finding the repository that a workspace belongs to, by looking, not by asking git: git would read its settings.

use super::GitError;
use crate::paths::WorkspaceRoot;
use crate::storage;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A `.git` file, `commondir` or `HEAD`.
const POINTER_MAX_BYTES: usize = 8 << 10;

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder with its files.
    pub(super) root: PathBuf,
    /// Git's own folder of these files.
    pub(super) git_dir: PathBuf,
    /// Git's own folder of all work trees: objects, branches, settings.
    pub(super) common_dir: PathBuf,
    /// What leads from the root to the workspace, such as `crates/a/`; empty when it is the root.
    pub(super) prefix: String,
}

impl Repository {
    /// The repository that a workspace is in.
    pub(super) fn of(workspace: &WorkspaceRoot) -> Result<Self, GitError> {
        let start = workspace.as_host();
        for root in start.ancestors() {
            let dot_git = root.join(".git");
            let git_dir = match dot_git.symlink_metadata() {
                Ok(found) if found.is_file() => pointed_to(&dot_git, "gitdir: ", root)?,
                Ok(_) => dot_git,
                Err(_) => continue,
            };
            return Self::at(root.to_owned(), &git_dir, prefix(root, start)?);
        }
        Err(GitError::new(
            format!("{} is in no git repository", start.display()),
            "`git init` makes one, and `git commit` its first commit",
        ))
    }

    /// A repository on this machine that somebody else's settings name: bare, or with files.
    pub(super) fn at_path(path: &Path) -> Result<Self, GitError> {
        let dot_git = path.join(".git");
        let git_dir = match dot_git.symlink_metadata() {
            Ok(found) if found.is_file() => pointed_to(&dot_git, "gitdir: ", path)?,
            Ok(_) => dot_git,
            Err(_) => path.to_owned(),
        };
        Self::at(path.to_owned(), &git_dir, String::new())
    }

    fn at(root: PathBuf, git_dir: &Path, prefix: String) -> Result<Self, GitError> {
        let unusable = |error: io::Error| {
            GitError::new(
                format!("{} is no git repository that can be used ({error})", root.display()),
                "see what `git status` says there",
            )
        };
        let git_dir = git_dir.canonicalize().map_err(unusable)?;
        let common = git_dir.join("commondir");
        let common_dir = if common.exists() { pointed_to(&common, "", &git_dir)? } else { git_dir.clone() };
        let common_dir = common_dir.canonicalize().map_err(unusable)?;
        if !common_dir.join("objects").is_dir() || !git_dir.join("HEAD").exists() {
            return Err(unusable(io::Error::new(io::ErrorKind::NotFound, "objects or HEAD is missing")));
        }
        Ok(Self { root, git_dir, common_dir, prefix })
    }

    /// Whose it is.
    pub(super) fn owner(&self) -> io::Result<u32> {
        Ok(self.common_dir.metadata()?.uid())
    }

    /// What `HEAD` of these files says: `ref: refs/heads/…`, or a commit.
    pub(super) fn head(&self) -> Result<String, GitError> {
        head_in(&self.git_dir).map_err(|error| {
            GitError::disk(format!("HEAD of {} cannot be read", self.root.display()), &error)
        })
    }

    /// Whether a branch is checked out here or in another work tree, where moving it would confuse the user.
    pub(super) fn has_checked_out(&self, branch_ref: &str) -> bool {
        let others = self.common_dir.join("worktrees");
        let names = storage::names_with_prefix(&others, "").unwrap_or_default();
        let places = names.into_iter().map(|name| others.join(name));
        let wanted = format!("ref: {branch_ref}");
        let mut places = places.chain([self.common_dir.clone(), self.git_dir.clone()]);
        places.any(|place| head_in(&place).is_ok_and(|head| head == wanted))
    }
}

fn prefix(root: &Path, workspace: &Path) -> Result<String, GitError> {
    let below = workspace.strip_prefix(root).unwrap_or(Path::new(""));
    match below.to_str() {
        Some("") => Ok(String::new()),
        Some(below) => Ok(format!("{below}/")),
        None => Err(GitError::new("the workspace's path is no UTF-8", "open the repository's root instead")),
    }
}

fn head_in(git_dir: &Path) -> io::Result<String> {
    let text = storage::read_bytes_of_file(&git_dir.join("HEAD"), POINTER_MAX_BYTES)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The path that a small file names, relative to `base`.
fn pointed_to(file: &Path, before: &str, base: &Path) -> Result<PathBuf, GitError> {
    let bytes = storage::read_bytes_of_file(file, POINTER_MAX_BYTES)
        .map_err(|error| GitError::disk(format!("{} cannot be read", file.display()), &error))?
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    match text.trim_end_matches(['\n', '\r']).strip_prefix(before).filter(|path| !path.is_empty()) {
        Some(path) => Ok(base.join(path)),
        None => Err(GitError::new(
            format!("{} does not say where the repository is", file.display()),
            "see what `git status` says there",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn bare(path: &Path) {
        std::fs::create_dir_all(path.join("objects")).unwrap();
        std::fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_workspace_may_be_the_root_a_folder_below_it_or_a_linked_work_tree() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        bare(&home.join("main/.git"));
        std::fs::create_dir_all(home.join("main/a/b")).unwrap();
        let linked = home.join("main/.git/worktrees/two");
        std::fs::create_dir_all(&linked).unwrap();
        std::fs::write(linked.join("HEAD"), "ref: refs/heads/airlock/x\n").unwrap();
        std::fs::write(linked.join("commondir"), "../..\n").unwrap();
        std::fs::create_dir(home.join("two")).unwrap();
        std::fs::write(home.join("two/.git"), format!("gitdir: {}\n", linked.display())).unwrap();

        let of = |path: &str| Repository::of(&WorkspaceRoot::open(&home.join(path)).unwrap()).unwrap();
        assert_eq!((of("main").prefix, of("main").root), (String::new(), home.join("main")));
        assert_eq!((of("main/a/b").prefix, of("main/a/b").root), ("a/b/".to_owned(), home.join("main")));
        assert_eq!((of("two").git_dir, of("two").common_dir), (linked, home.join("main/.git")));
        assert!(of("main").has_checked_out("refs/heads/airlock/x"), "in the other work tree");
        assert!(of("two").has_checked_out("refs/heads/main"));
        assert!(!of("two").has_checked_out("refs/heads/airlock/y"));
    }

    #[test]
    fn what_is_no_repository_is_an_error_that_says_what_to_do() {
        let home = tempfile::tempdir().unwrap();
        let workspace = WorkspaceRoot::open(home.path()).unwrap();
        assert!(Repository::of(&workspace).unwrap_err().to_string().contains("git init"));
        std::fs::write(home.path().join(".git"), "nonsense").unwrap();
        assert!(Repository::of(&workspace).unwrap_err().to_string().contains("git status"));
    }
}
