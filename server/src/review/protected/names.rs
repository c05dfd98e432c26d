//! The names of what runs later, from `names.toml`.

use crate::patterns::{Patterns, plain};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// All of them.
pub(super) struct Names {
    /// What is protected.
    pub(super) patterns: Patterns,
    /// Files that only show what one of such a name looks like.
    pub(super) examples: Patterns,
    /// Where files are whose words name what runs: the first name of each path, and the others. The last may be `*`.
    pub(super) follow: HashMap<String, Vec<Vec<String>>>,
}

/// A table of the file. Who runs it, and where that is documented, is for people.
#[derive(Deserialize)]
struct Runs {
    names: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    follow: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    runs: Vec<Runs>,
}

const TEXT: &str = include_str!("names.toml");

/// The names that Airlock comes with.
pub(super) fn names() -> &'static Names {
    static NAMES: LazyLock<Names> = LazyLock::new(|| read(TEXT));
    &NAMES
}

#[expect(clippy::expect_used, reason = "the file is in the program, and a test reads it")]
fn read(text: &str) -> Names {
    let file: File = toml::from_str(text).expect("names.toml is a list of tables");
    let patterns =
        |of: fn(&Runs) -> &Vec<String>| Patterns::parse(file.runs.iter().flat_map(of).map(String::as_str)).0;
    let mut follow: HashMap<_, Vec<_>> = HashMap::new();
    for path in file.runs.iter().flat_map(|runs| &runs.follow) {
        let mut names = path.split('/').map(plain);
        let first = names.next().unwrap_or_default();
        follow.entry(first).or_default().push(names.collect());
    }
    Names { patterns: patterns(|runs| &runs.names), examples: patterns(|runs| &runs.except), follow }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// What was in the list when it was made.
    const KEPT: &str = include_str!("names_kept.txt");

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        names: Vec<String>,
        #[serde(default)]
        except: Vec<String>,
        #[serde(default)]
        follow: Vec<String>,
        by: String,
        source: String,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WholeFile {
        runs: Vec<Whole>,
    }

    #[test]
    fn every_entry_says_what_runs_it_and_where_that_is_documented() {
        let file: WholeFile = toml::from_str(TEXT).unwrap();
        assert!(file.runs.len() > 50);
        let mut seen = HashSet::new();
        for Whole { names, except, follow, by, source } in &file.runs {
            assert!(!names.is_empty() && !by.trim().is_empty() && !source.trim().is_empty(), "{names:?}");
            assert!(source.contains("https://") || source.contains(", "), "no place to look it up: {source}");
            for name in names {
                assert!(seen.insert(name), "{name} is there twice");
            }
            let (patterns, wrong) = Patterns::parse(names.iter().chain(except).map(String::as_str));
            assert_eq!(wrong, [], "{names:?}");
            for path in follow {
                let path = path.replace('*', "x");
                assert!(patterns.have(&path) || names_have(&path), "{path} is followed and not protected");
            }
            for name in names.iter().chain(except).chain(follow) {
                // As it is compared: in small letters, and nothing that a careless file system leaves out.
                assert!(name.split('/').all(|part| plain(part) == *part), "{name}");
            }
        }
    }

    fn names_have(path: &str) -> bool {
        names().patterns.have(path)
    }

    #[test]
    fn no_name_that_was_ever_in_the_list_is_dropped() {
        let mut count = 0;
        for name in KEPT.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace) {
            let inside = name.strip_suffix('/').map(|folder| format!("{folder}/x"));
            let path = inside.unwrap_or_else(|| name.to_owned()).replace('*', "x");
            let path: Vec<String> = path.split('/').map(plain).collect();
            assert!(names_have(&path.join("/")), "{name}");
            count += 1;
        }
        assert!(count > 300, "{count}");
    }

    #[test]
    fn what_only_shows_how_a_file_could_look_is_no_more_than_that() {
        for example in [".env.example", ".envrc.sample"] {
            assert!(names().examples.have(example) && names_have(example), "{example}");
        }
    }
}
