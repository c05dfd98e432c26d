//! What both sides have after the user's verdicts on the hunks of a change. What is left is pending as it was.

use super::change::{Change, Hunk, Part};
use super::hunks::{LineHunk, apply};
use super::merge::ConflictLines;
use super::permissions::not_executable;
use crate::view::{Agreed, Content, Entry, FileEntry};

/// What becomes of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The user has it. Of a conflict, the user has both sides between marks.
    Accept,
    /// Of a conflict, the user has the agent's lines.
    AcceptTheirs,
    /// Of a conflict, the user has both sides' lines.
    AcceptBoth,
    /// The agent has what the user has.
    Reject,
    /// It is pending as before.
    Leave,
}

/// What both sides have after a verdict, and what they agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// The user's side.
    pub user: Entry,
    /// The agent's side.
    pub agent: Entry,
    /// What both were made from.
    pub agreed: Agreed,
}

impl Change {
    /// What comes of these verdicts.
    pub fn after(&self, verdict: impl Fn(&Hunk) -> Verdict) -> After {
        use Verdict::{AcceptBoth, AcceptTheirs, Leave, Reject};
        let accepted = |part: &Part, verdict: Verdict| match (part, verdict) {
            (_, Reject | Leave) => None,
            (Part::Conflict(lines), AcceptTheirs) => Some(lines.theirs.clone()),
            (Part::Conflict(lines), AcceptBoth) => Some(lines.both()),
            _ => Some(part.new_lines()),
        };
        let user = self.with(|hunk| accepted(&hunk.part, verdict(hunk)));
        let agent = self.with(|hunk| match (&hunk.part, verdict(hunk)) {
            (Part::Conflict(lines), Leave) => Some(lines.theirs.clone()),
            (part, Leave) => Some(part.new_lines()),
            (part, verdict) => accepted(part, verdict),
        });
        let is_left = |hunk: &&Hunk| matches!(hunk.part, Part::Conflict(_)) && verdict(hunk) == Leave;
        let knows_base = |hunk: &Hunk| matches!(&hunk.part, Part::Conflict(lines) if lines.base.is_some());
        let agreed = match self.hunks.iter().filter(is_left).all(knows_base) {
            false => Agreed::Unknown,
            true => Agreed::On(self.with(|hunk| match (&hunk.part, verdict(hunk)) {
                (Part::Conflict(lines), Leave) => lines.base.clone(),
                (part, verdict) => accepted(part, verdict),
            })),
        };
        After { user, agent, agreed }
    }

    /// The user's state with these lines in the place of each hunk's. `None`: the hunk is left out.
    fn with(&self, lines_of: impl Fn(&Hunk) -> Option<Vec<u8>>) -> Entry {
        let chosen: Vec<(&Hunk, Vec<u8>)> =
            self.hunks.iter().filter_map(|hunk| Some((hunk, lines_of(hunk)?))).collect();
        let is_as_proposed = |(hunk, lines): &(&Hunk, Vec<u8>)| *lines == hunk.part.new_lines();
        if chosen.len() == self.hunks.len() && chosen.iter().all(is_as_proposed) {
            return self.proposed.clone();
        }
        let Entry::File(proposed) = &self.proposed else {
            // Only files have more than one part.
            return self.user.clone();
        };
        let user = match &self.user {
            Entry::File(user) => user.clone(),
            // A new file without its lines is none.
            _ if chosen.iter().all(|(hunk, _)| matches!(hunk.part, Part::Mode { .. })) => {
                return self.user.clone();
            }
            _ => FileEntry { content: Content::Whole([].into()), mode: not_executable(proposed.mode) },
        };
        let mut mode = user.mode;
        let mut lines = Vec::new();
        for (hunk, new) in chosen {
            match &hunk.part {
                Part::Lines(hunk) | Part::Conflict(ConflictLines { marked: hunk, .. }) => {
                    lines.push(LineHunk { new, ..hunk.clone() });
                }
                Part::Mode { to, .. } => mode = *to,
                Part::Whole(_) => return Entry::File(FileEntry { mode, ..proposed.clone() }),
            }
        }
        match &user.content {
            Content::Whole(text) => Entry::file(&apply(text, &lines), mode),
            large @ Content::Large { .. } => Entry::File(FileEntry { content: large.clone(), mode }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::WorkspacePath;
    use crate::review::merge::tests::side_of;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    const VERDICTS: [Verdict; 5] =
        [Verdict::Accept, Verdict::AcceptTheirs, Verdict::AcceptBoth, Verdict::Reject, Verdict::Leave];

    fn between(agreed: &Agreed, user: Entry, agent: Entry) -> Option<Change> {
        Change::between(&WorkspacePath::parse("a").unwrap(), agreed, user, agent)
    }

    fn text(entry: &Entry) -> &str {
        match entry {
            Entry::File(FileEntry { content: Content::Whole(bytes), .. }) => {
                std::str::from_utf8(bytes).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_of_two_conflicts_is_settled_in_each_way_and_the_other_stays_one() {
        let [base, user, agent] = ["a\nb\nc\nd\ne\n", "a\nmine\nc\nd\nM\n", "a\nits\nc\nd\nI\n"]
            .map(|text| Entry::file(text.as_bytes(), 0o644));
        for agreed in [Agreed::On(base), Agreed::Unknown] {
            let change = between(&agreed, user.clone(), agent.clone()).unwrap();
            let first = change.hunks[0].id.clone();
            for (verdict, lines) in [
                (Verdict::Accept, "<<<<<<< ours\nmine\n=======\nits\n>>>>>>> theirs\n"),
                (Verdict::AcceptTheirs, "its\n"),
                (Verdict::AcceptBoth, "mine\nits\n"),
                (Verdict::Reject, "mine\n"),
            ] {
                let after = change.after(|hunk| if hunk.id == first { verdict } else { Verdict::Leave });
                assert_eq!(text(&after.user), format!("a\n{lines}c\nd\nM\n"), "{verdict:?}");
                assert_eq!(text(&after.agent), format!("a\n{lines}c\nd\nI\n"), "{verdict:?}");
                let left = between(&after.agreed, after.user, after.agent).unwrap();
                let [Hunk { part: Part::Conflict(left), .. }] = &left.hunks[..] else { panic!("{left:?}") };
                assert_eq!((&left.marked.old[..], &left.theirs[..]), (&b"M\n"[..], &b"I\n"[..]));
            }
        }
    }

    proptest! {
        /// Each line is there once, so that there is one way to see what a side changed.
        #[test]
        fn what_is_left_is_what_was_left(
            edits in proptest::collection::vec((0..3_u8, 0..4_u8), 12),
            verdicts in proptest::collection::vec(proptest::sample::select(VERDICTS.to_vec()), 12),
            is_known: bool,
        ) {
            let side = |side: u8| Entry::file(side_of(side, &edits).as_bytes(), 0o644);
            let agreed = if is_known { Agreed::On(side(9)) } else { Agreed::Unknown };
            if let Some(change) = between(&agreed, side(0), side(1)) {
                let number = |hunk: &Hunk| change.hunks.iter().position(|other| other.id == hunk.id).unwrap();
                let verdict = |hunk: &Hunk| verdicts[number(hunk)];
                let parts = |hunks: &[Hunk]| -> Vec<(bool, Vec<u8>, Vec<u8>)> {
                    let part = |hunk: &Hunk| {
                        let lines = hunk.part.lines().unwrap();
                        (matches!(hunk.part, Part::Conflict(_)), lines.old.clone(), lines.new.clone())
                    };
                    hunks.iter().map(part).collect()
                };
                let left: Vec<Hunk> =
                    change.hunks.iter().filter(|hunk| verdict(hunk) == Verdict::Leave).cloned().collect();
                let After { user, agent, agreed } = change.after(verdict);
                let now = between(&agreed, user, agent).map(|change| change.hunks).unwrap_or_default();
                prop_assert_eq!(parts(&now), parts(&left));
            }
        }
    }
}
