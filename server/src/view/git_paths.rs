//! Which paths are the state of a repository: what git changes together, and reads together to tell where somebody is.
//!
//! Git's objects are not among them, because they never change. Nor are settings, hooks, logs, tags and what was fetched:
//! each of those files has a meaning of its own, and there may be thousands. Only what is stashed is in a log.

use crate::limits::{GIT_STATE_FILES_MAX, VIEW_FOLDERS_MAX_DEPTH};
use crate::paths::WorkspacePath;
use crate::storage::beneath::{Folder, Kind, Node};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Folders of git's with references, or with what it is doing.
const FOLDERS: [&str; 5] = [REFS, REFTABLE, "rebase-merge", "rebase-apply", "sequencer"];
const REFS: &str = "refs";
const REFTABLE: &str = "reftable";
/// Folders in which everything is state.
pub(super) const WHOLLY_STATE: [&str; 2] = ["refs/heads", REFTABLE];
/// References that nothing else depends on.
const FREE_REFS: [&str; 2] = ["remotes", "tags"];
/// What else is in git's own folder, by which it is known.
const OTHERS: [&str; 8] =
    ["modules", "worktrees", "objects", "hooks", "info", "logs", "config", "description"];
/// Heads that tell only what was.
const OLD_HEADS: [&str; 2] = ["ORIG_HEAD", "FETCH_HEAD"];

/// The repository of whose state a path is a part: git's own folder.
pub(super) fn repository_of(path: &WorkspacePath) -> Option<WorkspacePath> {
    let names: Vec<&str> = path.as_str().split('/').collect();
    let mut own = names.iter().position(|name| *name == ".git")? + 1;
    while names.get(own) == Some(&"modules") {
        // The name of a submodule may be a path.
        let is_gits = |name: &&str| OTHERS.contains(name) || is_state(&[name]);
        own += 2 + names.get(own + 2..)?.iter().position(is_gits)?;
    }
    let state = match &names[own..] {
        ["worktrees", _, state @ ..] | state => state,
    };
    is_state(state).then(|| WorkspacePath::parse(&names[..own].join("/")).ok()).flatten()
}

fn is_state(names: &[&str]) -> bool {
    match names {
        // What git is about to write.
        [.., last] if last.ends_with(".lock") => false,
        [REFS, kind, ..] if FREE_REFS.contains(kind) => false,
        [folder, ..] if FOLDERS.contains(folder) => true,
        ["logs", "refs", "stash"] => true,
        [file] => {
            let heads = file.ends_with("_HEAD") && !OLD_HEADS.contains(file);
            let begins = ["MERGE_", "BISECT_", "sharedindex."].iter().any(|begin| file.starts_with(begin));
            heads
                || begins
                || ["HEAD", "index", "packed-refs", "shallow", "SQUASH_MSG", "AUTO_MERGE"].contains(file)
        }
        _ => false,
    }
}

/// The head of the repository whose references are in a folder. Every repository has such a folder.
pub(super) fn head_beside(folder: &Path) -> Option<WorkspacePath> {
    let refs = WorkspacePath::found(folder).filter(|path| path.as_path().ends_with(REFS))?;
    let own = repository_of(&refs).filter(|own| refs.as_path().parent() == Some(own.as_path()))?;
    WorkspacePath::found(&own.as_path().join("HEAD"))
}

/// Whether a path is that of an index.
pub(super) fn is_index(path: &WorkspacePath) -> bool {
    path.as_path().ends_with("index")
}

/// The state that one side has of a repository: each file, link and whiteout. Too many are an error.
pub(super) fn state_in(
    own: &Folder,
    repository: &WorkspacePath,
) -> io::Result<BTreeMap<WorkspacePath, Kind>> {
    let mut found = BTreeMap::new();
    list(own, repository.as_path(), repository, &mut found)?;
    Ok(found)
}

fn list(
    folder: &Folder,
    below: &Path,
    repository: &WorkspacePath,
    found: &mut BTreeMap<WorkspacePath, Kind>,
) -> io::Result<()> {
    let too_many = || io::Error::from(io::ErrorKind::FileTooLarge);
    if below.components().count() > VIEW_FOLDERS_MAX_DEPTH {
        return Err(too_many());
    }
    for name in folder.names(GIT_STATE_FILES_MAX)? {
        // Its name may be no UTF-8, and it may go away while it is looked at.
        let Some(path) = WorkspacePath::found(&below.join(&name)) else { continue };
        let Some(facts) = folder.facts(&name)? else { continue };
        let is_state = repository_of(&path).as_ref() == Some(repository);
        if facts.kind == Kind::Folder {
            if (is_state || leads_to_state(&path, repository))
                && let Node::Folder(inner) = folder.node(&name)?
            {
                list(&inner, path.as_path(), repository, found)?;
            }
        } else if is_state {
            if found.len() == GIT_STATE_FILES_MAX {
                return Err(too_many());
            }
            found.insert(path, facts.kind);
        }
    }
    Ok(())
}

/// Whether a folder is on the way to some of a repository's state.
pub(super) fn leads_to_state(path: &WorkspacePath, repository: &WorkspacePath) -> bool {
    let Ok(below) = path.as_path().strip_prefix(repository.as_path()) else { return false };
    let names: Vec<_> = below.iter().filter_map(|name| name.to_str()).collect();
    matches!(names[..], [] | ["worktrees"] | ["worktrees", _] | ["logs"] | ["logs", "refs"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(path: &str) -> Option<String> {
        repository_of(&WorkspacePath::parse(path).unwrap()).map(|path| path.to_string())
    }

    #[test]
    fn each_part_of_a_repositorys_state_is_known_to_be_its() {
        for (path, own) in [
            (".git/HEAD", ".git"),
            (".git/index", ".git"),
            (".git/refs/heads/objects/x", ".git"),
            (".git/refs/heads/modules/HEAD", ".git"),
            (".git/logs/refs/stash", ".git"),
            (".git/rebase-merge/done", ".git"),
            (".git/MERGE_HEAD", ".git"),
            (".git/refs", ".git"),
            (".git/worktrees/w/index", ".git"),
            (".git/worktrees/index/HEAD", ".git"),
            ("sub/.git/packed-refs", "sub/.git"),
            (".git/modules/libs/one/refs", ".git/modules/libs/one"),
            (".git/modules/refs/HEAD", ".git/modules/refs"),
            (".git/modules/a/modules/b/worktrees/w/HEAD", ".git/modules/a/modules/b"),
        ] {
            assert_eq!(repository(path).as_deref(), Some(own), "{path}");
        }
        for path in [
            ".git",
            ".git/config",
            ".git/index.lock",
            ".git/refs/heads/main.lock",
            ".git/refs/remotes/origin/main",
            ".git/refs/tags",
            ".git/ORIG_HEAD",
            ".git/logs/HEAD",
            ".git/hooks/refs/x",
            ".git/modules/a/objects/HEAD",
            ".git/modules/a",
            ".git/worktrees/w",
            "src/HEAD",
            "git/HEAD",
        ] {
            assert_eq!(repository(path), None, "{path}");
        }
    }
}
