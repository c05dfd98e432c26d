//! Three-way merges of texts: the user's and the agent's, made from the same base.

use super::change::Part;
use super::hunks::{LineHunk, hunks, lines};
use crate::limits::MERGE_MAX_BYTES;
use std::collections::VecDeque;

/// Lines that both sides changed. All of them are settled at once: half of it would leave half of the marks in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictLines {
    /// What goes are the user's lines; what comes are both sides' between marks.
    pub marked: LineHunk,
    /// The agent's lines.
    pub theirs: Vec<u8>,
    /// What both were made from, where that is known.
    pub base: Option<Vec<u8>>,
}

impl ConflictLines {
    fn new(ours: LineHunk, base: Option<Vec<u8>>) -> Self {
        let theirs = ours.new;
        let new = [
            b"<<<<<<< ours\n".to_vec(),
            ended(&ours.old),
            b"=======\n".to_vec(),
            ended(&theirs),
            b">>>>>>> theirs\n".to_vec(),
        ]
        .concat();
        Self { marked: LineHunk { new_lines: lines(&new).len(), new, ..ours }, theirs, base }
    }

    /// The user's lines, then the agent's.
    pub fn both(&self) -> Vec<u8> {
        [ended(&self.marked.old), self.theirs.clone()].concat()
    }
}

/// The same lines, of which the last one ends.
fn ended(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    if text.last().is_some_and(|byte| *byte != b'\n') {
        text.push(b'\n');
    }
    text
}

/// What a merge changes in the user's text. `None` when the texts are too large for it.
pub(super) fn merge(base: &[u8], user: &[u8], agent: &[u8]) -> Option<Vec<Part>> {
    if [base, user, agent].iter().any(|text| text.len() > MERGE_MAX_BYTES) {
        return None;
    }
    let mut sides = [Side::new(base, user), Side::new(base, agent)];
    let base = lines(base);
    let mut parts = Vec::new();
    while let Some(start) = sides.iter().filter_map(Side::next_start).min() {
        // Changes that overlap or touch are one: their lines have no order of their own.
        let mut end = start;
        let mut changed = [false; 2];
        while let Some(side) = sides.iter().position(|side| side.next_start().is_some_and(|next| next <= end))
        {
            end = end.max(sides[side].take());
            changed[side] = true;
        }
        let [users, agents] = sides.each_mut().map(|side| side.lines_up_to(start, end));
        let ours = |new: &[u8]| LineHunk::between(users.0, &users.1, 0, new);
        if changed[1] && users.1 != agents.1 {
            let ours = ours(&agents.1);
            parts.push(match changed[0] {
                false => Part::Lines(ours),
                true => Part::Conflict(ConflictLines::new(ours, Some(base[start..end].concat()))),
            });
        }
    }
    Some(numbered(parts))
}

/// The same where nobody knows what both were made from: wherever they differ, they are in conflict.
pub(super) fn side_by_side(user: &[u8], agent: &[u8]) -> Vec<Part> {
    let conflict = |hunk| Part::Conflict(ConflictLines::new(hunk, None));
    numbered(hunks(user, agent).into_iter().map(conflict).collect())
}

/// Where each part is in the text that has all of them.
fn numbered(mut parts: Vec<Part>) -> Vec<Part> {
    let (mut come, mut gone) = (0, 0);
    for part in &mut parts {
        if let Part::Lines(hunk) | Part::Conflict(ConflictLines { marked: hunk, .. }) = part {
            hunk.new_start = hunk.old_start + come - gone;
            come += hunk.new_lines;
            gone += hunk.old_lines;
        }
    }
    parts
}

/// One of the two texts, with what it changed of the base.
struct Side<'a> {
    lines: Vec<&'a [u8]>,
    hunks: VecDeque<LineHunk>,
    /// Lines of the base, and lines of this text in their place, in all hunks that were taken.
    gone: usize,
    come: usize,
    /// The same before the hunks of the region that is looked at.
    before: (usize, usize),
}

impl<'a> Side<'a> {
    fn new(base: &[u8], text: &'a [u8]) -> Self {
        Self { lines: lines(text), hunks: hunks(base, text).into(), gone: 0, come: 0, before: (0, 0) }
    }

    /// The line of the base at which it changes something next.
    fn next_start(&self) -> Option<usize> {
        self.hunks.front().map(|hunk| hunk.old_start)
    }

    /// Goes on to the next change, and gives the line of the base after it.
    fn take(&mut self) -> usize {
        let Some(hunk) = self.hunks.pop_front() else { return 0 };
        self.gone += hunk.old_lines;
        self.come += hunk.new_lines;
        hunk.old_start + hunk.old_lines
    }

    /// What it has in the place of these lines of the base, and from which of its own lines on.
    fn lines_up_to(&mut self, start: usize, end: usize) -> (usize, Vec<u8>) {
        let (gone, come) = std::mem::replace(&mut self.before, (self.gone, self.come));
        let (start, end) = (start + come - gone, end + self.come - self.gone);
        (start, self.lines[start..end].concat())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::review::hunks::apply;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    fn text(parts: &[Part], user: &[u8]) -> String {
        String::from_utf8(apply(user, parts.iter().filter_map(Part::lines))).unwrap()
    }

    fn merged(base: &str, user: &str, agent: &str) -> String {
        text(&merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()).unwrap(), user.as_bytes())
    }

    #[test]
    fn changes_at_different_places_are_both_kept() {
        assert_eq!(merged("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"), "A\nb\nc\nd\nE\n");
        assert_eq!(merged("a\nb\n", "new\na\nb\n", "a\nb\nlast\n"), "new\na\nb\nlast\n");
        assert_eq!(merged("a\nb\nc\n", "c\n", "a\nb\nc\nd\n"), "c\nd\n");
    }

    #[test]
    fn the_same_change_on_both_sides_is_none() {
        assert_eq!(merge(b"a\nb\nc\n", b"a\nx\nc\n", b"a\nx\nc\n").unwrap(), []);
    }

    #[test]
    fn changes_that_meet_are_one_conflict_with_both_sides_between_marks() {
        let parts = merge(b"a\nb\nc\n", b"a\nuser\nc\n", b"a\nagent\nC\n").unwrap();
        let [Part::Conflict(conflict)] = &parts[..] else { panic!("{parts:?}") };
        assert_eq!(conflict.base.as_deref(), Some(&b"b\nc\n"[..]));
        assert_eq!(conflict.both(), b"user\nc\nagent\nC\n");
        let marked = "a\n<<<<<<< ours\nuser\nc\n=======\nagent\nC\n>>>>>>> theirs\n";
        assert_eq!(text(&parts, b"a\nuser\nc\n"), marked);
        let parts = side_by_side(b"a\nuser", b"a\nagent");
        assert_eq!(text(&parts, b"a\nuser"), "a\n<<<<<<< ours\nuser\n=======\nagent\n>>>>>>> theirs\n");
    }

    #[test]
    fn texts_that_have_nothing_in_common_are_not_compared_for_hours_and_long_ones_with_few_changes_are() {
        let lines = |letter: &str| -> String {
            (0..MERGE_MAX_BYTES / 9).map(|number| format!("{letter}{number:07}\n")).collect()
        };
        let (base, agent) = (lines("a"), lines("b"));
        let user = base.replacen("a0000000", "mine", 1);
        let begun = std::time::Instant::now();
        let parts = merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()).unwrap();
        assert!(matches!(parts[0], Part::Conflict(_)));
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
        let agent = base.replacen("a0400000", "its", 1);
        assert_eq!(merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()).unwrap().len(), 1);
    }

    /// What one side makes of numbered lines: each edit says whose it is (of both: 2) and what is done. Side 9 is the base.
    pub(in crate::review) fn side_of(side: u8, edits: &[(u8, u8)]) -> String {
        let line = |(number, (whose, what)): (usize, &(u8, u8))| match (*what, [side, 2].contains(whose)) {
            (0, true) if side != 9 => format!("{side} instead of {number}\n"),
            (1, true) if side != 9 => String::new(),
            (2, true) if side != 9 => format!("{number}\n{side} after {number}\n"),
            _ => format!("{number}\n"),
        };
        edits.iter().enumerate().map(line).collect()
    }

    fn any_text() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof!["a\n", "b\n", "c\n", "d"], 0..12)
            .prop_map(|lines| lines.concat().into_bytes())
    }

    /// The text with these lines in the place of each part.
    fn with(user: &[u8], parts: &[Part], pick: impl Fn(&Part) -> Vec<u8>) -> Vec<u8> {
        let hunk = |part: &Part| LineHunk { new: pick(part), ..part.lines().unwrap().clone() };
        apply(user, &parts.iter().map(hunk).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn where_one_side_changed_nothing_the_other_is_the_merge(base in any_text(), text in any_text()) {
            let by_agent = merge(&base, &base, &text).unwrap();
            prop_assert!(by_agent.iter().all(|part| matches!(part, Part::Lines(_))));
            prop_assert_eq!(apply(&base, by_agent.iter().filter_map(Part::lines)), text.clone());
            prop_assert_eq!(merge(&base, &text, &base).unwrap(), []);
        }

        #[test]
        fn both_sides_find_the_same_conflicts(base in any_text(), user in any_text(), agent in any_text()) {
            let conflicts = |ours: &[u8], theirs: &[u8]| -> Vec<(Vec<u8>, Vec<u8>)> {
                let parts = merge(&base, ours, theirs).unwrap();
                let conflict = |part| match part {
                    Part::Conflict(lines) => Some((lines.marked.old, lines.theirs)),
                    _ => None,
                };
                parts.into_iter().filter_map(conflict).collect()
            };
            let swapped: Vec<_> = conflicts(&agent, &user).into_iter().map(|(a, b)| (b, a)).collect();
            prop_assert_eq!(conflicts(&user, &agent), swapped);
        }

        /// Each line is there once, so that there is one way to see what a side changed.
        #[test]
        fn git_merges_the_same(edits in proptest::collection::vec((0..3_u8, 0..4_u8), 12)) {
            let [base, user, agent] = [9, 0, 1].map(|side| side_of(side, &edits));
            let parts = merge(base.as_bytes(), user.as_bytes(), agent.as_bytes()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in [("user", &user), ("base", &base), ("agent", &agent)] {
                std::fs::write(folder.path().join(name), text).unwrap();
            }
            for (word, pick) in [
                ("--theirs", (|conflict| conflict.theirs.clone()) as fn(&ConflictLines) -> Vec<u8>),
                ("--ours", |conflict| conflict.marked.old.clone()),
            ] {
                let mut git = std::process::Command::new("git");
                let git = git.current_dir(&folder).args(["merge-file", "-p", word, "user", "base", "agent"]);
                let merged = String::from_utf8(git.output().unwrap().stdout).unwrap();
                let ours = with(user.as_bytes(), &parts, |part| match part {
                    Part::Conflict(conflict) => pick(conflict),
                    _ => part.lines().unwrap().new.clone(),
                });
                prop_assert_eq!(String::from_utf8(ours).unwrap(), merged);
            }
        }
    }
}
