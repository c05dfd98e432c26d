//! Words that name files: in commands, hooks and settings.
//!
//! None of these languages is understood. Every word that could be a path is taken for one: a path too many costs the user
//! one more look, and a path too few is what runs unseen.

use std::path::{Component, Path, PathBuf};

/// The words of a command, or of any text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| !letter.is_alphanumeric() && !"_./@+~-".contains(letter);
    text.split(ends).filter(|word| word.contains(char::is_alphanumeric) && !word.starts_with(['-', '~']))
}

/// Those that look like paths of files. One with a `/` behind it is a folder, or what a wildcard was cut off from.
pub(super) fn paths(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.contains(['/', '.']) && !word.ends_with('/'))
}

/// The path in the workspace that a word means in this folder of it; `None` when that is no path in it. A variable before a
/// path is cut off with its `$`, so what is left begins with a `/` and counts from that folder, too.
pub(super) fn meant(workspace: &Path, folder: &Path, word: &str) -> Option<PathBuf> {
    let word = Path::new(word);
    let (mut place, word) = match word.strip_prefix(workspace) {
        Ok(inside) => (PathBuf::new(), inside),
        Err(_) => (folder.to_owned(), word),
    };
    for component in word.components() {
        match component {
            Component::Normal(name) => place.push(name),
            Component::ParentDir if !place.pop() => return None,
            _ => {}
        }
    }
    Some(place).filter(|place| !place.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_could_be_a_path_is_one() {
        let found = |text| paths(text).collect::<Vec<_>>();
        assert_eq!(
            found("source ./a.sh; . \"$(dirname \"$0\")/../b/c\"; cat ${workspaceFolder}/d.txt > /dev/null"),
            ["./a.sh", "/../b/c", "/d.txt", "/dev/null"]
        );
        assert_eq!(
            found("{\"args\": [\"--config=e/f.toml\", \"src/**/*.ts\", \"-x\"]}"),
            ["e/f.toml", ".ts"]
        );
        assert_eq!(found("make test ~/.bashrc ../ . --"), [""; 0]);
        assert_eq!(words("node build && yarn x").collect::<Vec<_>>(), ["node", "build", "yarn", "x"]);
    }

    #[test]
    fn what_a_word_means_is_in_the_workspace() {
        let meant = |folder: &str, word: &str| {
            meant(Path::new("/home/me/w"), Path::new(folder), word).map(|path| path.display().to_string())
        };
        for (folder, word, expected) in [
            ("", "a/./b", Some("a/b")),
            ("x", "../a", Some("a")),
            ("x", "/../a", Some("a")),
            ("x/y", "/home/me/w/a", Some("a")),
            ("", "../a", None),
            ("x", "..", None),
            ("x", "/usr/bin/env", Some("x/usr/bin/env")),
        ] {
            assert_eq!(meant(folder, word).as_deref(), expected, "{folder} {word}");
        }
    }
}
