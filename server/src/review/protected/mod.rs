//! Paths that run something later, or that steer what runs: never accepted together with others.
//!
//! | what | where |
//! |---|---|
//! | the names of what runs, and who runs it | `names`, `names.toml` |
//! | files that everybody changes, and that can also say what runs | `manifests` |
//! | what the user's own files lead to: where to look; what is found | `search`; `reached` |
//! | … by links; by manifests; by words in hooks and settings | `links`; `cargo`, `scripts`; `words` |
//! | … by a repository's settings, hooks and tracked links | `repository`, `git_settings` |
//!
//! This is help and no wall: a name that isn't known, and a way that isn't followed, is accepted unmarked.
//!
//! Architecture invariant: nothing is run to find out what runs, and everything is read beneath a handle of the workspace,
//! through no link and with a limit.

mod cargo;
mod git_settings;
mod links;
mod manifests;
mod names;
mod reached;
mod repository;
mod scripts;
mod search;
mod words;

pub(super) use links::leads_astray;
pub(super) use manifests::runs_more;
pub(super) use reached::Reached;

use crate::paths::WorkspacePath;
use crate::patterns::{is_short_for, plain};
use names::names;
use std::path::Path;

/// How carefully a path is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    /// As any other.
    None,
    /// Only by itself.
    OneByOne,
    /// Never: it is git's own.
    Never,
}

/// How carefully this path is treated, by its name alone.
pub(super) fn protection(path: &WorkspacePath) -> Protection {
    let path = key(path.as_path());
    if path.split('/').any(is_git) {
        return Protection::Never;
    }
    let names = names();
    let in_folder = || path.rsplit_once('/').is_some_and(|(folder, _)| names.patterns.have(folder));
    // A short name of DOS's may be that of another file.
    let is_example = || names.examples.have(&path) && !path.contains('~');
    let is_protected = names.patterns.have(&path) && (!is_example() || in_folder());
    if is_protected { Protection::OneByOne } else { Protection::None }
}

/// Whether a name, as it is compared, is that of git's own folder.
fn is_git(name: &str) -> bool {
    name == ".git" || is_short_for(name, ".git")
}

/// A path as it is compared: what a file system takes for the same is the same.
pub(super) fn key(path: &Path) -> String {
    let names: Vec<String> = path.to_string_lossy().split(['/', '\\']).map(plain).collect();
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Protection {
        protection(&WorkspacePath::parse(path).unwrap())
    }

    #[test]
    fn what_runs_later_is_protected_in_any_spelling() {
        for path in [
            ".vscode/tasks.json",
            "deep/.VSCODE/settings.json",
            "x.code-workspace",
            ".idea/a.xml",
            ".envrc",
            ".env.local",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "build.rs",
            "crates/a/BUILD.RS",
            ".cargo/config.toml",
            ".airlock/commands/x.md",
            ".vs\u{200c}code/tasks.json",
            ".v\u{17f}code/tasks.json",
            ".vs\u{ad}code/tasks.json",
            "．ｖｓｃｏｄｅ/tasks.json",
            "VSCODE~1/tasks.json",
            "ENVRC~1",
            ".vscode\\tasks.json",
            "eslint.config.mjs",
            "tests/conftest.py",
            "hidden/HEAD",
            "hooks/Pre-Commit",
            ".prettierrc",
            "sub/lefthook-local.toml",
            "CMakeLists.txt",
        ] {
            assert_eq!(of(path), Protection::OneByOne, "{path}");
        }
        for path in [
            "src/main.rs",
            "github/workflows.md",
            "rebuild.rs",
            "vscode/x",
            ".gitignore",
            ".env.example",
            "src/config.js",
            "notes~1.txt",
            "head.rs",
            "src/hooks/use_update.ts",
            "docs/pre-commit.md",
            "docs/lefthook.md",
        ] {
            assert_eq!(of(path), Protection::None, "{path}");
        }
    }

    #[test]
    fn what_is_gits_own_is_never_accepted() {
        for path in [
            ".git/hooks/pre-commit",
            ".git/config",
            "sub/.GIT/config",
            ".g\u{200d}it/HEAD",
            ".git. /x",
            "GIT~1/config",
            "git~2/config",
            "GI7EBA~1/config",
            ".ｇit/config",
            ".g\u{fe00}it/config",
            ".git\\config",
        ] {
            assert_eq!(of(path), Protection::Never, "{path}");
        }
    }
}
