//! What of a file's permissions is taken over. In the sandbox they cost nothing; on the user's machine others read them.

use crate::view::{Entry, FileEntry};

const OTHERS_WRITE: u32 = 0o022;
const EXECUTE: u32 = 0o111;

/// Whatever the agent's files allow, others write only to those files of the user's to which they could before.
pub(super) fn closed_to_others(user: &Entry, proposed: Entry) -> Entry {
    let allowed = match user {
        Entry::File(file) => file.mode & OTHERS_WRITE,
        _ => 0,
    };
    match proposed {
        Entry::File(file) => Entry::File(FileEntry { mode: file.mode & (!OTHERS_WRITE | allowed), ..file }),
        other => other,
    }
}

/// The same permissions, but to run it.
pub(super) fn not_executable(mode: u32) -> u32 {
    mode & !EXECUTE
}

#[cfg(test)]
mod tests {
    use crate::paths::WorkspacePath;
    use crate::review::change::{Change, Hunk, Part};
    use crate::review::verdict::Verdict;
    use crate::view::{Agreed, Entry};
    use pretty_assertions::assert_eq;

    fn change(user: Entry, agent: Entry) -> Option<Change> {
        let path = WorkspacePath::parse("tool").expect("a path");
        Change::between(&path, &Agreed::On(user.clone()), user, agent)
    }

    #[test]
    fn a_new_file_is_closed_to_others_and_that_it_can_be_run_is_a_part_of_its_own() {
        let change = change(Entry::Missing, Entry::file(b"#!/bin/sh\n", 0o777)).expect("a change");
        assert_eq!(change.proposed, Entry::file(b"#!/bin/sh\n", 0o755));
        assert_ne!(change.proposed, change.agent, "or the agent's own permissions would be a change again");
        let texts: Vec<String> = change.hunks.iter().map(|hunk| hunk.text()).collect();
        assert_eq!(texts, ["+#!/bin/sh\n", "permissions 644 → 755\n"]);
        let is_mode = |part: &Part| matches!(part, Part::Mode { .. });
        let accepted = |mode: bool| {
            let verdict =
                |hunk: &Hunk| if is_mode(&hunk.part) == mode { Verdict::Accept } else { Verdict::Leave };
            change.after(verdict).user
        };
        assert_eq!(accepted(false), Entry::file(b"#!/bin/sh\n", 0o644));
        assert_eq!(accepted(true), Entry::Missing);
    }

    #[test]
    fn an_empty_new_file_that_can_be_run_has_both_parts() {
        let change = change(Entry::Missing, Entry::file(b"", 0o755)).expect("a change");
        assert_eq!(change.hunks.len(), 2);
        let verdict = |hunk: &Hunk| match hunk.part {
            Part::Whole(_) => Verdict::Accept,
            _ => Verdict::Leave,
        };
        assert_eq!(change.after(verdict).user, Entry::file(b"", 0o644));
    }

    #[test]
    fn a_file_is_opened_to_others_only_where_it_was() {
        assert!(change(Entry::file(b"a", 0o644), Entry::file(b"a", 0o666)).is_none());
        let shared = change(Entry::file(b"a", 0o664), Entry::file(b"b", 0o666)).expect("a change");
        assert_eq!(shared.proposed, Entry::file(b"b", 0o664));
    }
}
