//! The last changes of a buffer, kept so that one that comes late can be put where it belongs.
//!
//! Helix 25.01 sends each change from a task of its own, and one may overtake another. The versions tell: each change is
//! applied as it comes, and when a version comes that was jumped over, the text goes back to before the jump and the
//! changes are made again in their order. Editors that jump for other reasons, as Neovim does, never fill the gap.

use std::collections::VecDeque;

use tower_lsp::ls_types::TextDocumentContentChangeEvent;

use super::position::PositionEncoding;
use super::text::Text;
use crate::limits::{LSP_CHANGES_KEPT_MAX, LSP_CHANGES_KEPT_MAX_BYTES};

/// One notification's changes.
#[derive(Debug)]
struct Step {
    /// The version that they were made to.
    from: i32,
    /// The version that they lead to.
    to: i32,
    /// The text that they were made to.
    before: Text,
    changes: Vec<TextDocumentContentChangeEvent>,
}

impl Step {
    fn bytes(&self) -> usize {
        self.changes.iter().map(|change| change.text.len()).sum()
    }
}

/// The last changes of one buffer, in the order of their versions.
#[derive(Debug, Default)]
pub(super) struct RecentChanges {
    steps: VecDeque<Step>,
    bytes: usize,
}

impl RecentChanges {
    /// Makes the changes that lead to the version `to`; gives the text and the version that the buffer has then.
    pub(super) fn apply(
        &mut self,
        (text, version): (Text, i32),
        to: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: PositionEncoding,
    ) -> (Text, i32) {
        let step = Step { from: version, to, before: text, changes };
        if let Some(jump) = self.steps.iter().position(|step| step.from < to && to < step.to) {
            return self.put_before(jump, step, encoding);
        }
        if to <= version {
            tracing::warn!(to, version, "a document's version did not rise");
            // The numbers tell nothing of the order.
            self.steps.clear();
            self.bytes = 0;
        }
        (self.make(step, encoding), to)
    }

    /// Makes a change before the one that jumped over it.
    fn put_before(&mut self, jump: usize, mut late: Step, encoding: PositionEncoding) -> (Text, i32) {
        tracing::debug!(version = late.to, "a change came late");
        let later = self.steps.split_off(jump);
        self.bytes -= later.iter().map(Step::bytes).sum::<usize>();
        let newest = late.from;
        (late.from, late.before) = (later[0].from, later[0].before.clone());
        let mut from = late.to;
        let mut text = self.make(late, encoding);
        for step in later {
            let to = step.to;
            text = self.make(Step { from, before: text, ..step }, encoding);
            from = to;
        }
        (text, newest)
    }

    fn make(&mut self, step: Step, encoding: PositionEncoding) -> Text {
        let mut text = step.before.clone();
        for change in &step.changes {
            match change.range {
                Some(range) => text.edit(range, &change.text, encoding),
                None => text = Text::new(&change.text),
            }
        }
        self.bytes += step.bytes();
        self.steps.push_back(step);
        while self.steps.len() > LSP_CHANGES_KEPT_MAX || self.bytes > LSP_CHANGES_KEPT_MAX_BYTES {
            self.bytes -= self.steps.pop_front().map_or(0, |step| step.bytes());
        }
        text
    }

    /// How many changes are kept, and the bytes in them.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.steps.len(), self.bytes)
    }
}
