//! What a turn of a session works on, and has for itself while it does.

use super::commands::CustomCommands;
use super::history::{Entry, Header, History, Loaded, Saved};
use super::plugin_work::Shelved;
use super::usage::{Ledger, prices_of};
use crate::config::Settings;
use crate::conversation::Message;
use crate::view::Shown;
use std::sync::Arc;

/// What a turn works on.
pub(super) struct State {
    /// The conversation as the API gets it.
    pub(super) conversation: Vec<Message>,
    /// `None`: it could not be kept, and the user was told.
    pub(super) history: Option<History>,
    /// What stays the same for the whole session; made with the first prompt.
    pub(super) header: Option<Header>,
    pub(super) model: String,
    pub(super) ledger: Ledger,
    pub(super) ask_about_repeats: bool,
    pub(super) settings: Settings,
    pub(super) custom: CustomCommands,
    /// The user was told that the bound on cost cannot hold.
    pub(super) told_cost_unknown: bool,
    /// The disk did not take the last lines of the history, and the user was told.
    pub(super) is_behind: bool,
    /// The day that the model was last told.
    pub(super) told_date: Option<jiff::civil::Date>,
    /// The plugins, and with them the tools.
    pub(super) shelved: Shelved,
    /// What came along with the last prompt.
    pub(super) shown: Arc<Shown>,
}

impl State {
    pub(super) fn new(
        settings: Settings,
        custom: CustomCommands,
        history: Option<History>,
        shelved: Shelved,
    ) -> Self {
        Self {
            conversation: Vec::new(),
            history,
            header: None,
            model: settings.model.clone(),
            ledger: Ledger::default(),
            ask_about_repeats: true,
            settings,
            custom,
            told_cost_unknown: false,
            is_behind: false,
            told_date: None,
            shelved,
            shown: Arc::default(),
        }
    }

    /// Goes on with what a history holds.
    pub(super) fn resume(&mut self, loaded: Loaded) {
        self.ledger = Ledger::default();
        for usage in &loaded.usage {
            self.ledger.record(&usage.model, &usage.tokens(), prices_of(&usage.model, &self.settings.prices));
        }
        if let Some(tokens) = loaded.compacted_to {
            // The last usage is that of the summary's request, with all that it replaced.
            self.ledger.set_context_used(tokens);
        }
        if let Some(model) = loaded.last_model() {
            model.clone_into(&mut self.model);
        }
        self.header = loaded.header;
        self.conversation = loaded.conversation;
        self.told_date = None;
        self.told_cost_unknown = false;
    }

    /// Why the session may spend no more, when that is so.
    pub(super) fn over_budget(&self) -> Option<String> {
        self.ledger.over_budget(self.settings.max_session_tokens, self.settings.max_session_cost_usd)
    }

    /// Writes a line of history; `None` when nothing is kept.
    pub(super) async fn write(&self, entry: Entry) -> Option<Saved> {
        match &self.history {
            Some(history) => Some(history.append(entry).await),
            None => None,
        }
    }
}
