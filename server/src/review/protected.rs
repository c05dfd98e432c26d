//! Paths that run something later, or that steer what runs: never accepted together with others.

use crate::paths::WorkspacePath;

/// Folders in which everything is protected, wherever they are.
const FOLDERS: &[&str] = &[
    ".airlock",
    ".buildkite",
    ".cargo",
    ".circleci",
    ".claude",
    ".devcontainer",
    ".fleet",
    ".forgejo",
    ".gitea",
    ".githooks",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".vscode",
    ".woodpecker",
    ".zed",
];
/// Files that are protected, wherever they are.
const FILES: &[&str] = &[
    ".bazelrc",
    ".dir-locals.el",
    ".drone.yml",
    ".env",
    ".envrc",
    ".exrc",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".lvimrc",
    ".mcp.json",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".pre-commit-config.yaml",
    ".tool-versions",
    ".travis.yml",
    ".vimrc",
    ".yarnrc",
    ".yarnrc.yml",
    "agents.md",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "build.rs",
    "claude.md",
    "jenkinsfile",
    "mise.toml",
];
/// How the names of protected files end.
const SUFFIXES: &[&str] = &[".code-workspace", ".sublime-project"];

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

/// How carefully this path is treated. Other letters of the same name, and letters that cannot be seen, change nothing:
/// some file systems take them for the same.
pub(super) fn protection(path: &WorkspacePath) -> Protection {
    let names: Vec<String> = path.as_path().iter().map(|name| plain(&name.to_string_lossy())).collect();
    let Some(file) = names.last() else {
        return Protection::None;
    };
    if names.iter().any(|name| name == ".git" || name == "git~1") {
        return Protection::Never;
    }
    let in_folder = names.iter().any(|name| FOLDERS.contains(&name.as_str()));
    let is_file = FILES.contains(&file.as_str()) || SUFFIXES.iter().any(|suffix| file.ends_with(suffix));
    if in_folder || is_file { Protection::OneByOne } else { Protection::None }
}

/// A name as a file system that is careless about letters sees it.
fn plain(name: &str) -> String {
    let unseen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(unseen).flat_map(char::to_lowercase).collect();
    // What stands behind a colon names a part of the same file there.
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_owned()
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
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "build.rs",
            "crates/a/BUILD.RS",
            ".cargo/config.toml",
            ".airlock/commands/x.md",
            ".vs\u{200c}code/tasks.json",
        ] {
            assert_eq!(of(path), Protection::OneByOne, "{path}");
        }
        for path in ["src/main.rs", "github/workflows.md", "rebuild.rs", "vscode/x", ".gitignore"] {
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
        ] {
            assert_eq!(of(path), Protection::Never, "{path}");
        }
    }
}
