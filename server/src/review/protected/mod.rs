//! Paths that run something later, or that steer what runs: never accepted together with others.

mod links;
mod manifests;
mod names;

pub(super) use links::{Linked, leads_astray};
pub(super) use manifests::runs_more;

use crate::neutral::is_plain;
use crate::paths::WorkspacePath;
use icu_normalizer::ComposingNormalizerBorrowed;
use names::{EXAMPLES, FILES, FOLDERS, PREFIXES, SUFFIXES};

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
    let names: Vec<String> = path.as_str().split(['/', '\\']).map(plain).collect();
    let Some(file) = names.last() else {
        return Protection::None;
    };
    if names.iter().any(|name| name == ".git" || is_short_for(name, ".git")) {
        return Protection::Never;
    }
    let in_folder = names.iter().any(|name| is_one_of(name, FOLDERS));
    let is_file = is_one_of(file, FILES)
        || PREFIXES.iter().any(|prefix| file.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| file.ends_with(suffix));
    let is_example = EXAMPLES.contains(&file.as_str());
    if in_folder || (is_file && !is_example) { Protection::OneByOne } else { Protection::None }
}

fn is_one_of(name: &str, protected: &[&str]) -> bool {
    protected.contains(&name) || (name.contains('~') && protected.iter().any(|one| is_short_for(name, one)))
}

/// A name as a file system that is careless about letters sees it.
fn plain(name: &str) -> String {
    let same = ComposingNormalizerBorrowed::new_nfkc();
    let lower: String =
        same.normalize(name).chars().filter(|c| is_plain(*c)).flat_map(char::to_lowercase).collect();
    let name: String = same.normalize(&lower).chars().filter(|c| is_plain(*c)).collect();
    // What stands behind a colon names a part of the same file there.
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether this is what DOS would call a file of that name, as `VSCODE~1`: six letters and a number, or two letters, four
/// digits of a sum and a number.
fn is_short_for(name: &str, long: &str) -> bool {
    let Some((begin, number)) = name.split_once('~') else { return false };
    let number = number.split('.').next().unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let letters: String = long.trim_start_matches('.').split('.').next().unwrap_or_default().to_owned();
    let is_sum = |sum: &str| sum.len() == 4 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
    let by_sum = begin.split_at_checked(2).is_some_and(|(two, sum)| letters.starts_with(two) && is_sum(sum));
    let whole: String = letters.chars().take(6).collect();
    by_sum || begin == whole
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

    #[test]
    fn every_name_is_written_as_it_is_compared() {
        for name in [FOLDERS, FILES, PREFIXES, SUFFIXES, EXAMPLES].concat() {
            assert_eq!(plain(&format!("{name}x")), format!("{name}x"));
        }
    }
}
