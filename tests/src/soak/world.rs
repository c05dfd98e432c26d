//! What all parts of a soak share.

use super::mind::Mind;
use super::typist::Desk;
use super::visit::Kept;
use crate::editor::{Editor, Home};
use crate::scripted_claude::ScriptedClaude;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

pub(super) struct World {
    pub(super) claude: ScriptedClaude,
    pub(super) editor: Editor,
    pub(super) mind: Mind,
    pub(super) desk: Desk,
    pub(super) counts: Counts,
    /// Sessions that are closed.
    pub(super) kept: Mutex<Vec<Kept>>,
    faults: Mutex<Vec<String>>,
}

/// How much was done.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) sessions: Count,
    pub(super) loads: Count,
    pub(super) turns: Count,
    pub(super) cancels: Count,
    pub(super) crashes: Count,
    pub(super) reloads: Count,
    pub(super) reviews: Count,
    pub(super) reviewed: Count,
    pub(super) file_changes: Count,
    pub(super) document_changes: Count,
}

/// Counts upwards.
#[derive(Default)]
pub(super) struct Count(AtomicUsize);

impl Count {
    /// One more; gives how many there are now.
    pub(super) fn up(&self) -> usize {
        self.add(1)
    }

    pub(super) fn add(&self, more: usize) -> usize {
        self.0.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl Counts {
    /// Each with its name.
    pub(super) fn rows(&self) -> Vec<(&'static str, usize)> {
        let rows = [
            ("sessions", &self.sessions),
            ("loaded again", &self.loads),
            ("turns", &self.turns),
            ("cancels", &self.cancels),
            ("crashes", &self.crashes),
            ("plugin reloads", &self.reloads),
            ("reviews", &self.reviews),
            ("files taken or rejected", &self.reviewed),
            ("changes of files", &self.file_changes),
            ("changes of documents", &self.document_changes),
        ];
        rows.into_iter().map(|(name, count)| (name, count.0.load(Ordering::Relaxed))).collect()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.rows().iter().map(|(name, count)| format!("{count} {name}")).collect();
        parts.join(", ").fmt(formatter)
    }
}

impl World {
    pub(super) fn new(claude: ScriptedClaude, editor: Editor) -> Self {
        let mind = Mind::default();
        let thinking = mind.clone();
        claude.otherwise(move |request| thinking.answer(request));
        Self {
            claude,
            editor,
            mind,
            desk: Desk::default(),
            counts: Counts::default(),
            kept: Mutex::default(),
            faults: Mutex::default(),
        }
    }

    pub(super) fn home(&self) -> &Home {
        self.editor.home()
    }

    pub(super) fn server(&self) -> u32 {
        self.editor.pid().expect("the server runs")
    }

    /// Something does not hold.
    pub(super) fn fault(&self, what: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// Whether all held so far. A soak that goes on after a fault only buries it.
    pub(super) fn is_well(&self) -> bool {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).is_empty() && self.mind.is_well()
    }

    /// Ends the server. Gives what is to be looked at, and all that did not hold.
    pub(super) async fn end(self) -> (Home, Mind, Vec<Kept>, Vec<String>) {
        let mut faults = self.faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        faults.extend(self.mind.take_faults());
        faults.extend(self.claude.take_problems());
        let home = self.editor.home().clone();
        if !faults.is_empty() {
            eprintln!("{}", self.editor.report());
        }
        // What was closed in a hurry may have said more than anybody read.
        self.editor.ignore_unread();
        self.editor.shutdown().await;
        (home, self.mind, self.kept.into_inner().unwrap_or_else(PoisonError::into_inner), faults)
    }
}

/// Where the server of a home puts temporary files, made so that they can be told from those of others.
pub(super) fn temporary_folder(home: &Home) -> PathBuf {
    let folder = home.path().join("tmp");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
