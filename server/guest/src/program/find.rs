//! Files and lines for programs, not for people: bytes, paths and matches as they are.

use super::search::{LINE_MAX_BYTES, Pattern, expression, files, walk_matching};
use super::text_file::{self, Content};
use crate::words::{Answer, FOUND_MAX_BYTES, FoundLine};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use std::io;
use std::path::Path;

/// An answer, and what to send before it.
type Found = (Answer, Vec<u8>);

pub(super) fn fetch(path: &Path) -> io::Result<Found> {
    let content = match text_file::read(path)? {
        Content::Text(text) => text.into_bytes(),
        Content::Binary(bytes) => bytes,
    };
    Ok((Answer::Found { cut: false }, content))
}

pub(super) fn glob(workspace: &Path, pattern: &str, paths_max: usize) -> io::Result<Found> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for path in files(walk_matching(workspace, workspace, Some(pattern))?) {
        let name = relative(workspace, &path);
        bytes += name.len();
        if found.len() == paths_max || bytes > FOUND_MAX_BYTES {
            return Ok((Answer::Found { cut: true }, Vec::new()));
        }
        found.push(name);
    }
    Ok((Answer::Found { cut: false }, serde_json::to_vec(&found)?))
}

pub(super) fn grep(
    workspace: &Path,
    pattern: &str,
    glob: Option<&str>,
    matches_max: usize,
) -> io::Result<Found> {
    let pattern = expression(pattern)?;
    let mut searcher =
        SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build();
    let mut lines = Lines { found: Vec::new(), bytes: 0, matches_max, cut: false, path: String::new() };
    for path in files(walk_matching(workspace, workspace, glob)?) {
        lines.path = relative(workspace, &path);
        // A file that cannot be read is left out, as ripgrep does.
        let _ = searcher.search_path(Pattern(&pattern), &path, &mut lines);
        if lines.cut {
            return Ok((Answer::Found { cut: true }, Vec::new()));
        }
    }
    Ok((Answer::Found { cut: false }, serde_json::to_vec(&lines.found)?))
}

fn relative(workspace: &Path, path: &Path) -> String {
    path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().into_owned()
}

struct Lines {
    found: Vec<FoundLine>,
    bytes: usize,
    matches_max: usize,
    cut: bool,
    path: String,
}

impl Sink for &mut Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let first = found.line_number().unwrap_or_default();
        for (offset, line) in found.lines().enumerate() {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end_matches(['\n', '\r']);
            let text = &line[..line.floor_char_boundary(LINE_MAX_BYTES.min(line.len()))];
            self.bytes += self.path.len() + text.len();
            if self.found.len() == self.matches_max || self.bytes > FOUND_MAX_BYTES {
                self.cut = true;
                return Ok(false);
            }
            let number = u32::try_from(first + offset as u64).unwrap_or(u32::MAX);
            self.found.push(FoundLine { path: self.path.clone(), line: number, text: text.to_owned() });
        }
        Ok(true)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange the world themselves")]
mod tests {
    use super::*;

    #[test]
    fn what_is_just_as_much_as_it_may_be_is_all_and_one_more_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.txt", "c.txt"] {
            std::fs::write(folder.path().join(name), "x\n").unwrap();
        }
        let is_cut = |(answer, found): Found| match answer {
            Answer::Found { cut } => {
                assert_eq!(cut, found.is_empty());
                cut
            }
            other => panic!("{other:?}"),
        };
        assert!(!is_cut(glob(folder.path(), "*.txt", 3).unwrap()));
        assert!(is_cut(glob(folder.path(), "*.txt", 2).unwrap()));
        assert!(!is_cut(grep(folder.path(), "x", None, 3).unwrap()));
        assert!(is_cut(grep(folder.path(), "x", None, 2).unwrap()));
    }
}
