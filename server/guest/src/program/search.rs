//! Search with ripgrep's engine.

use super::list::walk;
use crate::words::{Answer, READ_MAX_BYTES, Search};
use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use regex::bytes::{Regex, RegexBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// A line that is longer is cut.
pub(super) const LINE_MAX_BYTES: usize = 1000;
/// A regular expression may take so much memory.
const PATTERN_MAX_BYTES: usize = 8 << 20;

pub(super) fn search(workspace: &Path, root: &Path, search: &Search) -> io::Result<Answer> {
    root.metadata()?;
    let pattern = expression(&search.pattern)?;
    let walker = walk_matching(workspace, root, search.glob.as_deref())?;
    let mut searcher = SearcherBuilder::new()
        .before_context(search.context_lines)
        .after_context(search.context_lines)
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut found = Found {
        text: String::new(),
        matches: 0,
        matches_max: search.matches_max,
        cut: false,
        file: String::new(),
    };
    for path in files(walker) {
        let path = path.as_path();
        found.file = path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().into_owned();
        // A file that cannot be read is left out, as ripgrep does.
        let _ = searcher.search_path(Pattern(&pattern), path, &mut found);
        if found.cut {
            break;
        }
    }
    Ok(Answer::Lines { text: found.text, cut: found.cut })
}

pub(super) fn expression(pattern: &str) -> io::Result<Regex> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .size_limit(PATTERN_MAX_BYTES)
        .build()
        .map_err(|error| io::Error::other(format!("the pattern is no regular expression: {error}")))
}

/// A walk over what matches a glob, or over everything.
pub(super) fn walk_matching(workspace: &Path, root: &Path, glob: Option<&str>) -> io::Result<WalkBuilder> {
    let mut walker = walk(root);
    if let Some(glob) = glob {
        let wrong = |error| io::Error::other(format!("the glob {glob:?} is wrong: {error}"));
        let mut globs = OverrideBuilder::new(workspace);
        globs.add(glob).map_err(wrong)?;
        walker.overrides(globs.build().map_err(wrong)?);
    }
    Ok(walker)
}

/// The files on a walk, in order. What cannot be read is left out, as ripgrep does.
pub(super) fn files(mut walker: WalkBuilder) -> impl Iterator<Item = PathBuf> {
    let entries = walker.sort_by_file_path(Ord::cmp).build().flatten();
    entries
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
}

/// The regular expression as the searcher wants it.
pub(super) struct Pattern<'p>(pub(super) &'p Regex);

impl Matcher for Pattern<'_> {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        Ok(self.0.find_at(haystack, at).map(|found| Match::new(found.start(), found.end())))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

/// Collects lines as `path:number:text`, and those around a match as `path-number-text`.
struct Found {
    text: String,
    matches: usize,
    matches_max: usize,
    cut: bool,
    file: String,
}

impl Found {
    fn add(&mut self, separator: char, number: Option<u64>, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let end = line.floor_char_boundary(LINE_MAX_BYTES.min(line.len()));
        let more = if end < line.len() { " […]" } else { "" };
        let number = number.unwrap_or_default();
        self.text.push_str(&format!("{}{separator}{number}{separator}{}{more}\n", self.file, &line[..end]));
        self.cut |= self.text.len() > READ_MAX_BYTES;
        !self.cut
    }
}

impl Sink for &mut Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches == self.matches_max {
            self.cut = true;
            return Ok(false);
        }
        self.matches += 1;
        let first = found.line_number();
        let mut go_on = true;
        for (offset, line) in found.lines().enumerate() {
            go_on = self.add(':', first.map(|first| first + offset as u64), line);
        }
        Ok(go_on)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.add('-', context.line_number(), context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.text.push_str("--\n");
        Ok(true)
    }
}
