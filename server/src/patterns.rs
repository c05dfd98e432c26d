//! Names of files and folders as globs, compared as a file system compares them that is careless about letters.

use crate::neutral::is_plain;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use icu_normalizer::ComposingNormalizerBorrowed;

/// Globs such as `.envrc`, `config/*.exs`, `.vscode/` or `/deploy.sh`.
///
/// Each counts at any depth; with a `/` before it, only in the workspace's own folder. With a `/` behind it, it names a
/// folder with everything in it.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    texts: Vec<String>,
    files: GlobSet,
    folders: GlobSet,
    /// Those without wildcards, for the short names of DOS.
    literals: Vec<(Vec<String>, bool)>,
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Patterns {
    /// Those among these texts that are globs, and each other one with what is wrong with it.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> (Self, Vec<(&'t str, String)>) {
        let (mut patterns, mut wrong) = (Self::default(), Vec::new());
        let (mut files, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for text in texts {
            let (body, is_folder) = text.strip_suffix('/').map_or((text, false), |body| (body, true));
            let (body, start) = body.strip_prefix('/').map_or((body, "**/"), |body| (body, ""));
            let names: Vec<String> = body.split('/').map(plain).collect();
            if names.iter().any(|name| matches!(name.as_str(), "" | "." | "..")) {
                wrong.push((text, "it isn't the name of a file or folder".to_owned()));
                continue;
            }
            match GlobBuilder::new(&format!("{start}{}", names.join("/"))).literal_separator(true).build() {
                Ok(glob) => drop(if is_folder { folders.add(glob) } else { files.add(glob) }),
                Err(error) => {
                    wrong.push((text, error.kind().to_string()));
                    continue;
                }
            }
            patterns.texts.push(text.to_owned());
            if !start.is_empty() && !body.contains(['*', '?', '[', '{']) {
                patterns.literals.push((names, is_folder));
            }
        }
        // Each of them was built above. All together are refused only for their size.
        match (files.build(), folders.build()) {
            (Ok(files), Ok(folders)) => (patterns.files, patterns.folders) = (files, folders),
            (Err(error), _) | (_, Err(error)) => wrong.push(("", error.to_string())),
        }
        (patterns, wrong)
    }

    /// Whether they name this file, or a folder in which it is. The path is made of [`plain`] names.
    pub fn have(&self, path: &str) -> bool {
        self.files.is_match(path)
            || above(path).any(|folder| self.folders.is_match(folder))
            || (path.contains('~') && self.have_short(path))
    }

    /// The same, where the pattern for a file also counts for everything in a folder of that name.
    pub fn have_or_hold(&self, path: &str) -> bool {
        above(path).any(|path| self.have(path))
    }

    fn have_short(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        let is = |name: &str, wanted: &str| name == wanted || is_short_for(name, wanted);
        self.literals.iter().any(|(wanted, is_folder)| {
            let mut windows = names.windows(wanted.len());
            let fits = |names: &[&str]| names.iter().zip(wanted).all(|(name, wanted)| is(name, wanted));
            if *is_folder { windows.any(fits) } else { windows.next_back().is_some_and(fits) }
        })
    }
}

/// A path and the folders above it, the longest first, as text.
pub fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(folder, _)| folder))
}

/// A name as a file system that is careless about letters sees it. Other letters of the same name, and letters that can't
/// be seen, change nothing: some file systems take them for the same.
pub fn plain(name: &str) -> String {
    let name = if name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        name.to_ascii_lowercase()
    } else {
        let same = ComposingNormalizerBorrowed::new_nfkc();
        let lower: String =
            same.normalize(name).chars().filter(|c| is_plain(*c)).flat_map(char::to_lowercase).collect();
        same.normalize(&lower).chars().filter(|c| is_plain(*c)).collect()
    };
    // What is behind a colon names a part of the same file there.
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether this is what DOS would call a file of that name, as `VSCODE~1`: six letters and a number, or two letters, four
/// digits of a sum and a number.
pub fn is_short_for(name: &str, long: &str) -> bool {
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

    fn patterns(texts: &[&str]) -> Patterns {
        let (patterns, wrong) = Patterns::parse(texts.iter().copied());
        assert_eq!(wrong, []);
        patterns
    }

    #[test]
    fn a_pattern_counts_at_any_depth_and_in_any_spelling() {
        let patterns = patterns(&["deploy/*.SH", ".tool/", "/top.cfg", "exact", "a?c", "*.{x,y}"]);
        for path in [
            "deploy/a.sh",
            "deep/deploy/a.sh",
            ".tool/a/b",
            "deep/.tool/a",
            ".tool",
            "top.cfg",
            "a/exact",
            "abc",
            "q/f.y",
            "tool~1/a",
            "a/exact~1",
        ] {
            assert!(patterns.have(path), "{path}");
        }
        for path in
            ["deploy/a/b.sh", "a.sh", "tool/a", "deep/top.cfg", "exact/a", "exacter", "a/c", "x", "tool~x/a"]
        {
            assert!(!patterns.have(path), "{path}");
        }
        assert!(patterns.have_or_hold("exact/a/b") && !patterns.have_or_hold("exacter/a"));
    }

    #[test]
    fn what_is_no_pattern_is_told_and_takes_no_other_along() {
        let (patterns, wrong) = Patterns::parse(["ok", "", "/", "a//b", "../x", "[z", "{a", "./x", "also"]);
        let wrong: Vec<&str> = wrong.iter().map(|(text, _)| *text).collect();
        assert_eq!(wrong, ["", "/", "a//b", "../x", "[z", "{a", "./x"]);
        assert!(patterns.have("ok") && patterns.have("also"));
    }

    #[test]
    fn a_name_without_odd_letters_is_as_plain_as_any() {
        for (name, expected) in [
            (".VSCode", ".vscode"),
            (".v\u{17f}code", ".vscode"),
            ("．ｖｓｃｏｄｅ", ".vscode"),
            (".env. ", ".env"),
            ("a:b", "a"),
            ("a\u{1}b", "ab"),
            ("\u{212a}", "k"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
