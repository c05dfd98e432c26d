//! A change: where the agent's view of a path differs from the user's file because of something that the agent did.
//!
//! Everything here is decided from three states alone: what both sides agreed on, what the user has, what the agent
//! has. Nothing is read or written.

use super::hunks::{LineHunk, apply, hunks};
use super::merge::{Merged, merge, side_by_side};
use super::permissions::{closed_to_others, not_executable};
use super::protected::{Protection, leads_astray, protection, runs_more};
use crate::limits::MERGE_MAX_BYTES;
use crate::paths::WorkspacePath;
use crate::view::{Agreed, Content, Entry, FileEntry};
use sha2::{Digest, Sha256};

/// One path that the agent changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: WorkspacePath,
    /// What accepting it does to the user's file.
    pub kind: ChangeKind,
    /// It is no text, or too large to be compared.
    pub binary: bool,
    /// It runs something later, or leads out of the workspace or to what does: accepted only by itself.
    pub protected: bool,
    /// The user changed the same, and why that does not merge.
    pub conflict: Option<Conflict>,
    /// Differs whenever the change does: another content, mode or kind of it, or that it is in conflict now.
    pub digest: String,
    /// Its parts. There is at least one.
    pub hunks: Vec<Hunk>,
    /// What the user has.
    pub user: Entry,
    /// What the agent has.
    pub agent: Entry,
    /// What the user has after accepting all of it. It differs from the agent's where the user's own changes are merged
    /// in.
    pub proposed: Entry,
}

/// What accepting a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Makes something.
    Created,
    /// Changes what is there.
    Modified,
    /// Takes it away.
    Deleted,
}

/// Why a change does not merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Both changed the same lines. Accepting it puts both sides into the file, between marks.
    Marked,
    /// It cannot be shown in one file, so it cannot be accepted.
    Apart,
}

/// A part of a change that can be accepted or rejected by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Names it as long as the change is what it is.
    pub id: String,
    /// What it is.
    pub part: Part,
}

/// What a hunk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Some lines.
    Lines(LineHunk),
    /// Permission bits.
    Mode {
        /// Before.
        from: u32,
        /// After.
        to: u32,
    },
    /// All of it, which has no lines. In words.
    Whole(String),
}

impl Change {
    /// The change at a path, if there is one.
    pub fn between(path: &WorkspacePath, agreed: &Agreed, user: Entry, agent: Entry) -> Option<Self> {
        // A folder is what is in it. In a file's place it stands for the file's end.
        let agent = match (agent, &user) {
            (Entry::Folder, Entry::File(_) | Entry::Link(_)) => Entry::Missing,
            (Entry::Missing, Entry::Folder) | (Entry::Folder | Entry::Other, _) => return None,
            (agent, _) => agent,
        };
        let agent_changed = *agreed != Agreed::On(agent.clone());
        if agent == user || !agent_changed {
            return None;
        }
        let (proposed, conflict) = match agreed {
            Agreed::NotKept => (agent.clone(), None),
            Agreed::On(base) if *base == user || (is_no_file(base) && is_no_file(&user)) => {
                (agent.clone(), None)
            }
            Agreed::On(base) => merged(base, &user, &agent),
            Agreed::Unknown => unmerged(&user, &agent),
        };
        let proposed = closed_to_others(&user, proposed);
        if proposed == user {
            return None;
        }
        let kind = match (&user, &proposed) {
            (Entry::Missing | Entry::Folder, _) => ChangeKind::Created,
            (_, Entry::Missing) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let texts = texts(&user, &proposed);
        let hunks = parts(kind, &user, &proposed, texts);
        // Once for all hunks: there may be as many as lines.
        let seed = seed(path, &agent, kind);
        Some(Self {
            path: path.clone(),
            kind,
            binary: texts.is_none() && !is_link(&user) && !is_link(&proposed),
            protected: protection(path) != Protection::None
                || leads_astray(path, &proposed)
                || runs_more(path, &user, &proposed),
            digest: short(&Sha256::digest(format!("{seed}\0{:?}\0{conflict:?}", mode(&agent)))),
            conflict,
            hunks: hunks.into_iter().map(|part| Hunk { id: id(&seed, &part), part }).collect(),
            user,
            agent,
            proposed,
        })
    }

    /// What comes of these parts of it: the user's state with them, and without the others.
    pub fn with(&self, chosen: impl Fn(&Hunk) -> bool) -> Entry {
        if self.hunks.iter().all(&chosen) {
            return self.proposed.clone();
        }
        let Entry::File(proposed) = &self.proposed else {
            // Only files have more than one part.
            return self.user.clone();
        };
        let user = match &self.user {
            Entry::File(user) => user.clone(),
            // A new file without its lines is none.
            _ if !self.hunks.iter().any(|hunk| chosen(hunk) && !matches!(hunk.part, Part::Mode { .. })) => {
                return self.user.clone();
            }
            _ => FileEntry { content: Content::Whole([].into()), mode: not_executable(proposed.mode) },
        };
        let mut mode = user.mode;
        let mut lines = Vec::new();
        for hunk in self.hunks.iter().filter(|hunk| chosen(hunk)) {
            match &hunk.part {
                Part::Lines(hunk) => lines.push(hunk),
                Part::Mode { to, .. } => mode = *to,
                Part::Whole(_) => return Entry::File(FileEntry { mode, ..proposed.clone() }),
            }
        }
        match &user.content {
            Content::Whole(text) => Entry::file(&apply(text, lines), mode),
            large @ Content::Large { .. } => Entry::File(FileEntry { content: large.clone(), mode }),
        }
    }

    /// All its hunks as text.
    pub fn text(&self) -> String {
        let hunk = |hunk: &Hunk| match &hunk.part {
            Part::Lines(lines) => format!("@@ line {} @@\n{}", lines.old_start + 1, hunk.text()),
            _ => hunk.text(),
        };
        self.hunks.iter().map(hunk).collect()
    }

    /// The text of the file when all of it is accepted.
    pub fn proposed_text(&self) -> Option<&str> {
        match &self.proposed {
            Entry::File(file) if !self.binary => text(file).and_then(|text| std::str::from_utf8(text).ok()),
            _ => None,
        }
    }

    /// Whether the agent's view must be brought to what is proposed when a part of it is accepted.
    pub fn moves_the_view(&self) -> bool {
        self.proposed != self.agent
    }
}

impl Hunk {
    /// It as text: lines that go begin with `-`, lines that come with `+`.
    pub fn text(&self) -> String {
        match &self.part {
            Part::Whole(words) => format!("{words}\n"),
            Part::Mode { from, to } => format!("permissions {from:o} → {to:o}\n"),
            Part::Lines(hunk) => signed('-', &hunk.old) + &signed('+', &hunk.new),
        }
    }
}

fn signed(sign: char, lines: &[u8]) -> String {
    let text = String::from_utf8_lossy(lines);
    let mut signed: String = text.split_inclusive('\n').map(|line| format!("{sign}{line}")).collect();
    if !signed.is_empty() && !signed.ends_with('\n') {
        signed.push_str("\n\\ no newline at the end\n");
    }
    signed
}

/// The agent's state with what the user changed since `base` in it, where that goes together.
pub(super) fn rebased(base: &Agreed, user: &Entry, agent: &Entry) -> Entry {
    match base {
        // The agent had changed nothing. Of a folder only what is in it tells.
        Agreed::On(base) if base == agent && *agent != Entry::Folder => user.clone(),
        Agreed::On(base) if base != user => match merged(base, user, agent) {
            (merged, None) => merged,
            (_, Some(_)) => agent.clone(),
        },
        _ => agent.clone(),
    }
}

/// The user changed it as well.
fn merged(base: &Entry, user: &Entry, agent: &Entry) -> (Entry, Option<Conflict>) {
    let (Entry::File(base), Entry::File(users), Entry::File(agents)) = (base, user, agent) else {
        return unmerged(user, agent);
    };
    let mode = if agents.mode == base.mode { users.mode } else { agents.mode };
    if base.content == users.content {
        return (Entry::File(FileEntry { content: agents.content.clone(), mode }), None);
    }
    if base.content == agents.content {
        return (Entry::File(FileEntry { content: users.content.clone(), mode }), None);
    }
    let texts = text(base).zip(text(users)).zip(text(agents));
    match texts.and_then(|((base, users), agents)| merge(base, users, agents)) {
        Some(Merged::Clean(merged)) => (Entry::file(&merged, mode), None),
        Some(Merged::Conflict(marked)) => (Entry::file(&marked, mode), Some(Conflict::Marked)),
        None => (agent.clone(), Some(Conflict::Apart)),
    }
}

/// Nobody knows what it was before.
fn unmerged(user: &Entry, agent: &Entry) -> (Entry, Option<Conflict>) {
    match (user, agent) {
        (Entry::File(users), Entry::File(agents)) => match (text(users), text(agents)) {
            (Some(users_text), Some(agents_text)) => {
                (Entry::file(&side_by_side(users_text, agents_text), users.mode), Some(Conflict::Marked))
            }
            _ => (agent.clone(), Some(Conflict::Apart)),
        },
        _ => (agent.clone(), Some(Conflict::Apart)),
    }
}

/// A file's text, if it is one that can be compared.
fn text(file: &FileEntry) -> Option<&[u8]> {
    match &file.content {
        Content::Whole(bytes)
            if bytes.len() <= MERGE_MAX_BYTES
                && !bytes.contains(&0)
                && std::str::from_utf8(bytes).is_ok() =>
        {
            Some(bytes)
        }
        _ => None,
    }
}

/// Both as texts; nothing is an empty one.
fn texts<'a>(user: &'a Entry, proposed: &'a Entry) -> Option<(&'a [u8], &'a [u8])> {
    let side = |entry: &'a Entry| match entry {
        Entry::Missing | Entry::Folder => Some(&[][..]),
        Entry::File(file) => text(file),
        _ => None,
    };
    side(user).zip(side(proposed))
}

fn parts(kind: ChangeKind, user: &Entry, proposed: &Entry, texts: Option<(&[u8], &[u8])>) -> Vec<Part> {
    let mut parts: Vec<Part> = match texts {
        Some((old, new)) => hunks(old, new).into_iter().map(Part::Lines).collect(),
        None if same_content(user, proposed) => Vec::new(),
        None => vec![Part::Whole(in_words(user, proposed))],
    };
    if parts.is_empty() && !(matches!(user, Entry::File(_)) && matches!(proposed, Entry::File(_))) {
        let words = if kind == ChangeKind::Deleted { "an empty file goes" } else { "an empty file" };
        parts.push(Part::Whole(words.to_owned()));
    }
    if let Entry::File(after) = proposed {
        let from = match user {
            Entry::File(before) => before.mode,
            _ => not_executable(after.mode),
        };
        if from != after.mode {
            parts.push(Part::Mode { from, to: after.mode });
        }
    }
    parts
}

fn same_content(user: &Entry, proposed: &Entry) -> bool {
    matches!((user, proposed), (Entry::File(before), Entry::File(after)) if before.content == after.content)
}

fn in_words(user: &Entry, proposed: &Entry) -> String {
    let words = |entry: &Entry| match entry {
        Entry::Missing | Entry::Folder => "nothing".to_owned(),
        Entry::File(file) => format!("a file of {} bytes", file.content.len()),
        Entry::Link(target) => format!("a link to {}", target.to_string_lossy()),
        Entry::Other => "something that is no file".to_owned(),
    };
    format!("{} → {}", words(user), words(proposed))
}

/// A folder that comes or goes is no change by itself.
fn is_no_file(entry: &Entry) -> bool {
    matches!(entry, Entry::Missing | Entry::Folder)
}

fn mode(entry: &Entry) -> Option<u32> {
    match entry {
        Entry::File(file) => Some(file.mode),
        _ => None,
    }
}

fn is_link(entry: &Entry) -> bool {
    matches!(entry, Entry::Link(_))
}

/// What all parts of a change have in common: the path, and the state of the agent's file.
fn seed(path: &WorkspacePath, agent: &Entry, kind: ChangeKind) -> String {
    let state = match agent {
        Entry::File(file) => format!("file {}", file.content.digest()),
        Entry::Link(target) => format!("link {target:?}"),
        _ => String::new(),
    };
    format!("{path}\0{kind:?}\0{state}")
}

/// The same for the same part of the same state of the agent's file. Accepting another part does not change it.
fn id(seed: &str, part: &Part) -> String {
    let place = match part {
        Part::Lines(hunk) => {
            let digest = Sha256::digest([&hunk.old[..], b"\0", &hunk.new[..]].concat());
            format!("{} {} {digest:?}", hunk.new_start, hunk.new_lines)
        }
        Part::Mode { to, .. } => format!("mode {to}"),
        Part::Whole(_) => "whole".to_owned(),
    };
    short(&Sha256::digest(format!("{seed}\0{place}")))
}

fn short(digest: &[u8]) -> String {
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
