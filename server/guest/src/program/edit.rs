//! Exact replacements in a file: all or none.

use super::text_file::{self, Content};
use crate::words::{Answer, Edit, Replacement};
use std::io;
use std::path::Path;

pub(super) fn edit(path: &Path, edit: &Edit) -> io::Result<Answer> {
    let Content::Text(text) = text_file::read(path)? else {
        return Err(io::Error::other("it is not a text"));
    };
    let edited = replace_all(&text, &edit.edits).map_err(io::Error::other)?;
    text_file::replace(path, edited.as_bytes())?;
    Ok(Answer::Done { note: format!("{} replacements made", edit.edits.len()) })
}

fn replace_all(text: &str, edits: &[Replacement]) -> Result<String, String> {
    let mut text = text.to_owned();
    for (number, Replacement { old, new }) in edits.iter().enumerate() {
        let number = number + 1;
        match text.matches(old.as_str()).count() {
            1 => text = text.replacen(old.as_str(), new, 1),
            0 => return Err(format!("edit {number}: the old text is not there{}", nearest(&text, old))),
            times => {
                let lines: Vec<String> = text
                    .match_indices(old.as_str())
                    .take(5)
                    .map(|(at, _)| line_of(&text, at).to_string())
                    .collect();
                return Err(format!(
                    "edit {number}: the old text is there {times} times (lines {}): give more of what is around it",
                    lines.join(", ")
                ));
            }
        }
    }
    Ok(text)
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The lines that look most like what was looked for, to be corrected by.
fn nearest(text: &str, old: &str) -> String {
    const COMPARED_MAX_LINES: usize = 20_000;
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let lines: Vec<&str> = text.lines().take(COMPARED_MAX_LINES).collect();
    if wanted.is_empty() || lines.is_empty() {
        return String::new();
    }
    let score = |start: usize| -> usize {
        wanted.iter().zip(&lines[start..]).map(|(wanted, line)| likeness(wanted, line.trim())).sum()
    };
    let Some((start, best)) = (0..lines.len())
        .map(|start| (start, score(start)))
        .max_by_key(|(start, score)| (*score, usize::MAX - start))
    else {
        return String::new();
    };
    if best == 0 {
        return String::new();
    }
    let end = lines.len().min(start + wanted.len());
    format!("; the nearest text, from line {}, is:\n{}", start + 1, lines[start..end].join("\n"))
}

/// How much two lines have in common: their beginning and their end.
fn likeness(one: &str, other: &str) -> usize {
    if one == other {
        return 2 * one.len();
    }
    let beginning = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let rest = one.len().min(other.len()) - beginning;
    let end = one.bytes().rev().zip(other.bytes().rev()).take(rest).take_while(|(a, b)| a == b).count();
    beginning + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(pairs: &[(&str, &str)]) -> Vec<Replacement> {
        pairs.iter().map(|(old, new)| Replacement { old: (*old).into(), new: (*new).into() }).collect()
    }

    #[test]
    fn edits_are_made_in_order_each_on_the_result_of_the_last() {
        assert_eq!(replace_all("a b", &edits(&[("a", "b c"), ("b c", "x")])), Ok("x b".into()));
    }

    #[test]
    fn text_that_is_there_twice_is_refused_with_its_lines() {
        let error = replace_all("x = 1\ny = 2\nx = 1\n", &edits(&[("x = 1", "z")])).unwrap_err();
        assert!(error.contains("2 times (lines 1, 3)"), "{error}");
    }

    #[test]
    fn text_that_is_not_there_shows_the_nearest() {
        let text = "fn main() {\n    let count = 10;\n    println!(\"{count}\");\n}\n";
        let error = replace_all(text, &edits(&[("let count = 11;", "z")])).unwrap_err();
        assert!(error.contains("from line 2, is:\n    let count = 10;"), "{error}");
    }

    #[test]
    fn one_bad_edit_leaves_everything_as_it_was() {
        assert!(replace_all("a", &edits(&[("a", "b"), ("nope", "c")])).is_err());
    }
}
