//! Listing, accepting and rejecting what the agent changed.

use super::batch::Batch;
use super::candidates::candidates;
use super::change::{Change, ChangeKind};
use super::hunks::hunks;
use super::protected::{Reached, key};
use super::read_so_far::ReadSoFar;
use super::selection::{Picked, Selection, pick};
use super::steps::Steps;
use super::verdict::After;
use super::{DocumentEditor, Edited, user_files};
use crate::limits::VIEW_MENTIONS_MAX;
use crate::neutral::neutral_line;
use crate::paths::{WorkspacePath, WorkspaceRoot};
use crate::patterns::Patterns;
use crate::storage::beneath::Kind;
use crate::storage::confined;
use crate::view::{Agreed, Content, Entry, HeldView, Ignored, InUpper, Mention, NoEditor, Sides, Upper};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What is pending.
#[derive(Debug, Default)]
pub struct Listing {
    /// Each change, sorted by path.
    pub changes: Vec<Change>,
    /// Files that the agent made and git ignores: build output, mostly. They are not listed.
    pub ignored: usize,
    /// What cannot be reviewed, and why.
    pub remarks: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Paths at which it was done.
    pub done: Vec<WorkspacePath>,
    /// Paths, or ids, at which it was not, and why.
    pub failed: Vec<(String, String)>,
}

/// What the agent changed. `own` is what the user protects besides what Airlock knows.
pub async fn list(view: &HeldView<'_>, own: &Patterns) -> io::Result<Listing> {
    view.capture().await;
    let own = own.clone();
    view.sides(move |sides| {
        find(sides, &own).map_err(|error| {
            let root = sides.user.root().as_host().display();
            io::Error::new(
                error.kind(),
                format!("what the agent changed in {root} cannot be listed: {error}"),
            )
        })
    })
    .await
}

/// What waits for review in a session that is not open, whose folder this is. What the user protects isn't marked.
pub fn list_closed(workspace: &WorkspaceRoot, session_folder: &Path) -> io::Result<Listing> {
    let sides = Sides::open(workspace, Arc::new(NoEditor), session_folder)?;
    confined::once(&Sides::reach(workspace, session_folder), move || find(&sides, &Patterns::default()))
}

/// Brings changes into the user's files.
pub async fn accept(
    view: &HeldView<'_>,
    editor: &dyn DocumentEditor,
    selection: &Selection,
    own: &Patterns,
    steps: &Steps,
) -> io::Result<Outcome> {
    let listing = list(view, own).await?;
    let (mut picked, mut outcome) = pick(listing, selection, true);
    steps.begin(picked.len());
    // What goes makes room for what comes.
    picked.sort_by_key(|picked| picked.change.kind != ChangeKind::Deleted);
    let mut batch = Batch::default();
    for picked in picked {
        if batch.is_full() || batch.removes() != (picked.change.kind == ChangeKind::Deleted) {
            batch.put(view, &mut outcome).await;
        }
        let path = picked.change.path.clone();
        let after = picked.change.after(|hunk| picked.accepts(hunk));
        match edit_document(view, editor, &picked.change, &after.user).await {
            Ok(edited) => batch.add(picked.change, after, edited),
            Err(error) => outcome.failed.push((path.as_str().to_owned(), error.to_string())),
        }
        steps.advance();
    }
    batch.put(view, &mut outcome).await;
    let removed = batch.removed;
    let tidied =
        view.write(move |sides| user_files::remove_empty_folders(&sides.user, &sides.upper, &removed)).await;
    if let Err(error) = tidied {
        // What was accepted is what the user wants to know.
        tracing::warn!(%error, "folders that are empty now stay");
    }
    outcome.done.sort();
    Ok(outcome)
}

/// Puts the agent's view back to what the user has.
pub async fn reject(view: &HeldView<'_>, selection: &Selection, steps: &Steps) -> io::Result<Outcome> {
    // What is protected can be rejected with the rest.
    let listing = list(view, &Patterns::default()).await?;
    let (mut picked, mut outcome) = pick(listing, selection, false);
    steps.begin(picked.len());
    // What the agent made goes first, to make room for what it took away.
    picked.sort_by_key(|picked| picked.change.kind != ChangeKind::Created);
    for picked in picked {
        let path = picked.change.path.clone();
        match reject_one(view, &picked).await {
            Ok(()) => outcome.done.push(path),
            Err(error) => outcome.failed.push((path.as_str().to_owned(), error.to_string())),
        }
        steps.advance();
    }
    outcome.done.sort();
    Ok(outcome)
}

fn find(sides: &Sides, own: &Patterns) -> io::Result<Listing> {
    let candidates = candidates(sides)?;
    let mut listing = Listing::default();
    let mut ignored = Ignored::of(sides.user.root());
    let (mut read, mut is_cut) = (ReadSoFar::default(), false);
    for path in candidates.paths {
        confined::check_wanted()?;
        if read.is_enough() {
            is_cut = true;
            break;
        }
        if is_new_file(sides, &path) && ignored.is_ignored(&path) {
            listing.ignored += 1;
            continue;
        }
        match change_of(sides, &path) {
            Ok(Some(change)) => {
                read.add(&change);
                if change.kind == ChangeKind::Created && ignored.is_ignored(&path) {
                    listing.ignored += 1;
                } else {
                    listing.changes.push(change);
                }
            }
            Ok(None) => {}
            // One that cannot be read hides no other.
            Err(error) => {
                let path = neutral_line(path.as_str());
                listing.remarks.push(format!("{path}: it cannot be read, so it cannot be reviewed: {error}"));
            }
        }
    }
    let reached = Reached::by(&sides.user, &listing.changes)?;
    for change in &mut listing.changes {
        change.protected |= reached.has(change) || own.have_or_hold(&key(change.path.as_path()));
    }
    let unreadable = candidates.unreadable.iter();
    listing.remarks.extend(unreadable.map(|folder| {
        let path = neutral_line(folder.path.as_str());
        format!("{path}: it cannot be looked into, so nothing in it can be reviewed: {}", folder.why)
    }));
    let unnameable = candidates.unnameable.iter();
    listing.remarks.extend(
        unnameable
            .map(|name| format!("{}: its name is no UTF-8, so it cannot be reviewed", neutral_line(name))),
    );
    let more = listing.remarks.len().saturating_sub(REMARKS_MAX);
    if more > 0 {
        listing.remarks.truncate(REMARKS_MAX);
        listing.remarks.push(format!("and {more} more that cannot be reviewed"));
    }
    if is_cut {
        listing.remarks.push(MORE.to_owned());
    }
    if candidates.cut {
        listing.remarks.push("there are more changes than can be listed".to_owned());
    }
    Ok(listing)
}

/// What cannot be reviewed, by name.
const REMARKS_MAX: usize = 100;
const MORE: &str = "there are more changes than can be listed at once, for they are large: accept or reject some of these first";

/// Whether the agent made a file there, of which nobody had anything. It isn't read.
fn is_new_file(sides: &Sides, path: &WorkspacePath) -> bool {
    matches!(sides.base.get(path), Agreed::NotKept | Agreed::On(Entry::Missing))
        && matches!(sides.user.kind(path), Ok(None))
        && matches!(sides.upper.file_bytes(path), Ok(Some(_)))
}

fn change_of(sides: &Sides, path: &WorkspacePath) -> io::Result<Option<Change>> {
    let InUpper::Is(agent) = sides.agents(path)? else {
        return Ok(None);
    };
    let user = sides.user.entry(path)?;
    Ok(Change::between(path, &sides.agreed(path)?, user, agent))
}

/// Makes the change in an open document; `false` when it is not one.
async fn edit_document(
    view: &HeldView<'_>,
    editor: &dyn DocumentEditor,
    change: &Change,
    accepted: &Entry,
) -> io::Result<bool> {
    let (Entry::File(seen), Entry::File(wanted)) = (&change.user, accepted) else {
        return Ok(false);
    };
    let (Content::Whole(before), Content::Whole(after)) = (&seen.content, &wanted.content) else {
        return Ok(false);
    };
    let (Ok(text), true) = (std::str::from_utf8(before), before != after && !change.binary) else {
        return Ok(false);
    };
    let path = change.path.clone();
    let host_path = view.sides(move |sides| sides.user.root().host_path(&path)).await;
    match editor.edit(&host_path, text, hunks(before, after)).await {
        Edited::NotOpen => Ok(false),
        Edited::Refused(why) => Err(io::Error::other(why)),
        Edited::Done if seen.mode == wanted.mode => Ok(true),
        Edited::Done => {
            // The text is in the editor; the permissions are the file's.
            let (path, mode) = (change.path.clone(), wanted.mode);
            view.write(move |sides| user_files::set_mode(&sides.user, &path, mode)).await?;
            Ok(true)
        }
    }
}

async fn reject_one(view: &HeldView<'_>, picked: &Picked) -> io::Result<()> {
    let change = &picked.change;
    let After { agent: left, agreed, .. } = change.after(|hunk| picked.rejects(hunk));
    let path = change.path.clone();
    if left != Entry::Folder && view.sides(move |sides| holds_something(&sides.upper, &path)).await? {
        return Err(io::Error::other("the agent has a folder in its place: reject what is in that first"));
    }
    view.put(&change.path, &left).await?;
    let path = change.path.clone();
    view.sides(move |sides| sides.agree(&path, &agreed)).await
}

/// Whether the agent has a folder there with something in it.
fn holds_something(upper: &Upper, path: &WorkspacePath) -> io::Result<bool> {
    if upper.entry(path)? != InUpper::Is(Entry::Folder) {
        return Ok(false);
    }
    let is_in_it = |mention: &Mention| {
        mention.path != *path
            && mention.path.as_path().starts_with(path.as_path())
            && !matches!(mention.kind, Kind::Folder | Kind::Whiteout)
    };
    let mentions = upper.mentions(VIEW_MENTIONS_MAX)?;
    Ok(mentions.may_miss_below(path) || mentions.all.iter().any(is_in_it))
}

/// Lines that come and go, for a summary.
pub fn count(change: &Change) -> (usize, usize) {
    let lines = change.hunks.iter().filter_map(|hunk| hunk.part.lines());
    lines.fold((0, 0), |(come, go), lines| (come + lines.new_lines, go + lines.old_lines))
}
