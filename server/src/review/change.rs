//! A change: where the agent's view of a path differs from the user's file because of something that the agent did.
//!
//! Everything here is decided from three states alone: what both sides agreed on, what the user has, what the agent
//! has. Nothing is read or written.

use super::hunks::{LineHunk, apply, hunks};
use super::merge::{ConflictLines, merge, side_by_side};
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
    /// Lines that both sides changed.
    Conflict(ConflictLines),
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
        let Merged { proposed, conflict, lines } = match agreed {
            Agreed::NotKept => Merged::as_is(&agent),
            Agreed::On(base) if *base == user || (is_no_file(base) && is_no_file(&user)) => {
                Merged::as_is(&agent)
            }
            Agreed::On(base) => Merged::of(base, &user, &agent),
            Agreed::Unknown => Merged::without_base(&user, &agent),
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
        let hunks = parts(kind, &user, &proposed, texts, lines);
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
            hunks: hunks.into_iter().map(|part| Hunk { id: id(path, kind, &seed, &part), part }).collect(),
            user,
            agent,
            proposed,
        })
    }

    /// All its hunks as text.
    pub fn text(&self) -> String {
        let hunk = |hunk: &Hunk| match hunk.part.lines() {
            Some(lines) => format!("@@ line {} @@\n{}", lines.old_start + 1, hunk.text()),
            None => hunk.text(),
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
}

impl Hunk {
    /// It as text: lines that go begin with `-`, lines that come with `+`.
    pub fn text(&self) -> String {
        match &self.part {
            Part::Whole(words) => format!("{words}\n"),
            Part::Mode { from, to } => format!("permissions {from:o} → {to:o}\n"),
            Part::Lines(hunk) | Part::Conflict(ConflictLines { marked: hunk, .. }) => {
                signed('-', &hunk.old) + &signed('+', &hunk.new)
            }
        }
    }

    /// Of a conflict, the ids that mean the agent's lines and both sides' lines.
    pub fn conflict_ids(&self) -> Option<[String; 2]> {
        let of = |word: &str| short(&Sha256::digest(format!("{}\0{word}", self.id)));
        matches!(self.part, Part::Conflict(_)).then(|| [of("theirs"), of("both")])
    }
}

impl Part {
    /// The lines that go and come, if it has any.
    pub fn lines(&self) -> Option<&LineHunk> {
        match self {
            Self::Lines(lines) | Self::Conflict(ConflictLines { marked: lines, .. }) => Some(lines),
            Self::Mode { .. } | Self::Whole(_) => None,
        }
    }

    pub(super) fn new_lines(&self) -> Vec<u8> {
        self.lines().map(|lines| lines.new.clone()).unwrap_or_default()
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
        Agreed::On(base) if base != user => match Merged::of(base, user, agent) {
            Merged { proposed, conflict: None, .. } => proposed,
            Merged { conflict: Some(_), .. } => agent.clone(),
        },
        _ => agent.clone(),
    }
}

/// What comes of both sides' changes.
struct Merged {
    proposed: Entry,
    conflict: Option<Conflict>,
    /// What of the user's lines changes, where that is known.
    lines: Option<Vec<Part>>,
}

impl Merged {
    fn as_is(proposed: &Entry) -> Self {
        Self { proposed: proposed.clone(), conflict: None, lines: None }
    }

    fn apart(agent: &Entry) -> Self {
        Self { proposed: agent.clone(), conflict: Some(Conflict::Apart), lines: None }
    }

    /// The user changed it as well.
    fn of(base: &Entry, user: &Entry, agent: &Entry) -> Self {
        let (Entry::File(base), Entry::File(users), Entry::File(agents)) = (base, user, agent) else {
            return Self::without_base(user, agent);
        };
        let mode = if agents.mode == base.mode { users.mode } else { agents.mode };
        let of_one = |content: &Content| Entry::File(FileEntry { content: content.clone(), mode });
        if base.content == users.content {
            return Self::as_is(&of_one(&agents.content));
        }
        if base.content == agents.content {
            return Self::as_is(&of_one(&users.content));
        }
        let texts = text(base).zip(text(users)).zip(text(agents));
        match texts.and_then(|((base, users), agents)| Some((users, merge(base, users, agents)?))) {
            Some((users, parts)) => Self::by(users, mode, parts),
            None => Self::apart(agent),
        }
    }

    /// Nobody knows what it was before.
    fn without_base(user: &Entry, agent: &Entry) -> Self {
        let (Entry::File(users), Entry::File(agents)) = (user, agent) else { return Self::apart(agent) };
        match text(users).zip(text(agents)) {
            Some((text, agents)) => Self::by(text, users.mode, side_by_side(text, agents)),
            None => Self::apart(agent),
        }
    }

    fn by(user: &[u8], mode: u32, parts: Vec<Part>) -> Self {
        let conflict = parts.iter().any(|part| matches!(part, Part::Conflict(_))).then_some(Conflict::Marked);
        let proposed = Entry::file(&apply(user, parts.iter().filter_map(Part::lines)), mode);
        Self { proposed, conflict, lines: Some(parts) }
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

fn parts(
    kind: ChangeKind,
    user: &Entry,
    proposed: &Entry,
    texts: Option<(&[u8], &[u8])>,
    merged: Option<Vec<Part>>,
) -> Vec<Part> {
    let mut parts: Vec<Part> = match (texts, merged) {
        (_, Some(merged)) => merged,
        (Some((old, new)), None) => hunks(old, new).into_iter().map(Part::Lines).collect(),
        _ if same_content(user, proposed) => Vec::new(),
        _ => vec![Part::Whole(in_words(user, proposed))],
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

/// The same for the same lines at the same place, whatever becomes of other parts; what has no lines is the same as long as
/// the agent's file is.
fn id(path: &WorkspacePath, kind: ChangeKind, seed: &str, part: &Part) -> String {
    let name = match part {
        Part::Lines(hunk) | Part::Conflict(ConflictLines { marked: hunk, .. }) => {
            let digest = Sha256::digest([&hunk.old[..], b"\0", &hunk.new[..]].concat());
            format!("{path}\0{kind:?}\0{} {} {digest:?}", hunk.new_start, hunk.new_lines)
        }
        Part::Mode { to, .. } => format!("{seed}\0mode {to}"),
        Part::Whole(_) => format!("{seed}\0whole"),
    };
    short(&Sha256::digest(name))
}

fn short(digest: &[u8]) -> String {
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
