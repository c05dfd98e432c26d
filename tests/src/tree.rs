//! The tree itself: its files, and what its documents say. For tests of laws that hold for all of it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The top of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is one level down").to_owned()
}

/// Every file that is or would be in the repository, relative to its top, without links to others.
pub fn files() -> Vec<String> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(repository()).output().expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names of UTF-8");
    let is_file =
        |path: &String| repository().join(path).symlink_metadata().is_ok_and(|found| found.is_file());
    text.lines().map(str::to_owned).filter(is_file).collect()
}

/// Every document, with its text.
pub fn documents() -> Vec<(String, String)> {
    let documents = files().into_iter().filter(|path| path.ends_with(".md"));
    documents
        .map(|path| (path.clone(), std::fs::read_to_string(repository().join(path)).expect("text")))
        .collect()
}

/// Where the links of a document lead: `[…](here)`.
pub fn links_of(text: &str) -> Vec<String> {
    let (prose, _) = apart(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.split_whitespace().next().unwrap_or_default().to_owned()).collect()
}

/// The names by which the headings of a document are linked to, as the usual websites make them.
pub fn headings(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| -> String {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept =
            title.chars().filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(name).collect()
}

/// The code of a document: its blocks, fenced or indented, and what stands between backquotes.
pub fn code_of(text: &str) -> Vec<String> {
    apart(text).1
}

/// Prose and code of a document apart.
fn apart(text: &str) -> (String, Vec<String>) {
    let (mut prose, mut code) = (String::new(), Vec::new());
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || line.starts_with("    ") {
            code.push(line.to_owned());
        } else {
            for (index, part) in line.split('`').enumerate() {
                if index % 2 == 0 { prose.push_str(part) } else { code.push(part.to_owned()) }
            }
            prose.push('\n');
        }
    }
    (prose, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A title: *all* of it\nSee [one](a.md#top \"x\"), `[no](b.md)` and ![two](c.png).\n\n    airlock chat\n\n```sh\n[no](d.md)\n```\n";

    #[test]
    fn links_are_taken_from_prose_alone() {
        assert_eq!(links_of(TEXT), ["a.md#top", "c.png"]);
    }

    #[test]
    fn code_is_what_is_marked_as_such() {
        assert_eq!(code_of(TEXT), ["[no](b.md)", "    airlock chat", "[no](d.md)"]);
    }

    #[test]
    fn a_heading_is_named_as_websites_do() {
        assert_eq!(headings(TEXT), ["a-title-all-of-it"]);
    }
}
