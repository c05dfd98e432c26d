//! The files there are, as a tree. Ignore files are honoured.

use crate::words::{Answer, List};
use ignore::WalkBuilder;
use std::io;
use std::path::Path;

pub(super) fn list(root: &Path, list: &List) -> io::Result<Answer> {
    root.metadata()?;
    let mut text = String::new();
    let mut entries = 0;
    let mut cut = false;
    for entry in walk(root).max_depth(Some(list.depth)).sort_by_file_name(Ord::cmp).build() {
        // What cannot be read is left out, as in a shell's own list.
        let Ok(entry) = entry else { continue };
        if entry.depth() == 0 {
            continue;
        }
        if entries == list.entries_max {
            cut = true;
            break;
        }
        entries += 1;
        let kind = entry.file_type();
        let mark = match kind {
            Some(kind) if kind.is_dir() => "/",
            Some(kind) if kind.is_symlink() => "@",
            _ => "",
        };
        let indent = "  ".repeat(entry.depth() - 1);
        text.push_str(&format!("{indent}{}{mark}\n", entry.file_name().to_string_lossy()));
    }
    Ok(Answer::Lines { text, cut })
}

/// A walk as people expect it: hidden files are shown, ignored ones and `.git` are not, links are not followed.
pub(super) fn walk(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git");
    builder
}
