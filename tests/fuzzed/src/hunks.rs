//! Changes: two or three texts, the hunks between them, and any choice among those.

use crate::input::Input;
use airlock::paths::WorkspacePath;
use airlock::review::{Change, Conflict, Hunk, Verdict};
use airlock::view::{Agreed, Content, Entry};
use std::collections::{BTreeMap, BTreeSet};

/// All hunks make what is proposed and none leave what the user has, whichever come first; and no merge loses a line
/// that somebody wrote, or brings one that nobody has.
pub fn hunks(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kind, picks) = (input.byte(), u16::from_le_bytes([input.byte(), input.byte()]));
    let (base, user, agent) = (input.part(), input.part(), input.part());
    let mode = |bit: u8| if kind & bit == 0 { 0o644 } else { 0o755 };
    let path = WorkspacePath::parse("a").unwrap();
    let (users, agents) = (Entry::file(user, mode(1)), Entry::file(agent, mode(2)));
    let agreed = match kind >> 4 & 3 {
        0 | 1 => Agreed::On(Entry::file(base, 0o644)),
        2 => Agreed::Unknown,
        _ => Agreed::NotKept,
    };
    let Some(change) = Change::between(&path, &agreed, users, agents) else {
        // What the agent wrote is there already, or was there before.
        let (base, user) = (counted(base), counted(user));
        let lost =
            counted(agent).into_keys().find(|line| !base.contains_key(line) && !user.contains_key(line));
        return assert_eq!(lost, None, "no change, and still a line of the agent's is lost");
    };
    check_change(&change, picks);
    if change.binary {
        return;
    }
    match agreed {
        Agreed::On(_) => check_merge(base, user, agent, &change),
        Agreed::Unknown => check_merge(b"", user, agent, &change),
        Agreed::NotKept => assert_eq!(change.proposed, change.agent),
    }
}

fn check_change(change: &Change, picks: u16) {
    assert!(!change.hunks.is_empty(), "a change without a part");
    assert_eq!(accepted(change, |_| true), change.proposed, "all of it is what is proposed");
    assert_eq!(accepted(change, |_| false), change.user, "nothing of it is what the user has");
    let ids: BTreeSet<_> = change.hunks.iter().map(|hunk| &hunk.id).collect();
    assert_eq!(ids.len(), change.hunks.len(), "two hunks of one name");
    check_lines(change);

    let place = |hunk: &Hunk| change.hunks.iter().position(|other| other.id == hunk.id).unwrap();
    let picked = |hunk: &Hunk| picks >> (place(hunk) % 16) & 1 == 1;
    let part = accepted(change, picked);
    let on = Agreed::On(change.user.clone());
    match Change::between(&change.path, &Agreed::On(part.clone()), part.clone(), change.proposed.clone()) {
        Some(rest) => assert_eq!(accepted(&rest, |_| true), change.proposed, "the rest is not what was left"),
        None => assert_eq!(part, change.proposed),
    }
    if let Some(first) = Change::between(&change.path, &on, change.user.clone(), part.clone()) {
        assert_eq!(accepted(&first, |_| true), part);
    }
}

/// What the user has when these are accepted.
fn accepted(change: &Change, chosen: impl Fn(&Hunk) -> bool) -> Entry {
    change.after(|hunk| if chosen(hunk) { Verdict::Accept } else { Verdict::Leave }).user
}

/// Hunks are in order, apart from each other, and say what is there.
fn check_lines(change: &Change) {
    let old = lines(content(&change.user));
    let new = lines(content(&change.proposed));
    let (mut old_next, mut new_next) = (0, 0);
    for hunk in &change.hunks {
        let Some(hunk) = hunk.part.lines() else { continue };
        assert!(hunk.old_start >= old_next && hunk.new_start >= new_next);
        let kept = hunk.old_start - old_next;
        assert_eq!(kept, hunk.new_start - new_next, "what is between two hunks is the same");
        assert_eq!(old[old_next..hunk.old_start], new[new_next..hunk.new_start]);
        (old_next, new_next) = (hunk.old_start + hunk.old_lines, hunk.new_start + hunk.new_lines);
        assert_eq!(old[hunk.old_start..old_next].concat(), hunk.old);
        assert_eq!(new[hunk.new_start..new_next].concat(), hunk.new);
    }
}

fn check_merge(base: &[u8], user: &[u8], agent: &[u8], change: &Change) {
    let proposed = content(&change.proposed);
    if change.conflict == Some(Conflict::Apart) {
        assert_eq!(change.proposed, change.agent);
        return;
    }
    let [base, user, agent, merged] = [base, user, agent, proposed].map(counted);
    for (line, count) in user.iter().chain(&agent) {
        let is_new = !base.contains_key(line);
        assert!(!is_new || merged.get(line) >= Some(count), "{line:?} is lost");
    }
    let is_mark =
        |line: &[u8]| [b"<<<<<<<", b"=======", b">>>>>>>"].iter().any(|mark| line.starts_with(*mark));
    for line in merged.keys() {
        let known = user.contains_key(line) || agent.contains_key(line);
        assert!(known || (change.conflict.is_some() && is_mark(line)), "nobody has the line {line:?}");
    }
}

fn content(entry: &Entry) -> &[u8] {
    match entry {
        Entry::File(file) => match &file.content {
            Content::Whole(bytes) => bytes,
            Content::Large { .. } => &[],
        },
        _ => &[],
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// How often each line is there. The last may lack its end.
fn counted(text: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut counted = BTreeMap::new();
    for line in lines(text) {
        *counted.entry(line.strip_suffix(b"\n").unwrap_or(line)).or_default() += 1;
    }
    counted
}
