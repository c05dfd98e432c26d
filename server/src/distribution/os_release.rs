//! `/etc/os-release`: lines of `NAME=value`, quoted as a shell does.

/// What of it matters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OsRelease {
    /// The distribution.
    pub(super) id: String,
    /// Those that it is made from, nearest first.
    pub(super) like: Vec<String>,
    /// Its name for people.
    pub(super) name: String,
    /// The system is one image that packages are layered upon.
    pub(super) is_image_based: bool,
}

impl OsRelease {
    pub(super) fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let line = text.lines().rev().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
            line.map(unquoted).filter(|value| !value.is_empty())
        };
        let id = value("ID").unwrap_or_else(|| "linux".to_owned());
        Self {
            like: value("ID_LIKE").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            name: value("PRETTY_NAME").or_else(|| value("NAME")).unwrap_or_else(|| id.clone()),
            is_image_based: value("OSTREE_VERSION").is_some(),
            id,
        }
    }
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].iter().find_map(|mark| value.strip_prefix(*mark)?.strip_suffix(*mark));
    let mut letters = inner.unwrap_or(value).chars();
    let mut out = String::new();
    while let Some(letter) = letters.next() {
        out.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn quotes_comments_and_missing_lines_are_understood() {
        let text = "# a comment\nID='arch'\nID_LIKE=\"one  two\"\nPRETTY_NAME=\"The \\\"best\\\"\"\nOSTREE_VERSION=\n";
        let expected = OsRelease {
            id: "arch".to_owned(),
            like: vec!["one".to_owned(), "two".to_owned()],
            name: "The \"best\"".to_owned(),
            is_image_based: false,
        };
        assert_eq!(OsRelease::parse(text), expected);
        assert_eq!(OsRelease::parse("NONSENSE").name, "linux");
        assert_eq!(OsRelease::parse("ID=\"\nVERSION_ID=1").id, "\"");
    }
}
