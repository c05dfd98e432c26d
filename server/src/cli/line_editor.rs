//! The line editor: reads prompts and answers from the terminal. Reading blocks, so it has a thread of its own.

use super::completion::SessionCompleter;
use super::keys::{COMPLETION_MENU, Keys, OpenFence};
use super::paint::Paint;
use crate::agent::Session;
use crate::environment::Environment;
use crate::limits::CHAT_PROMPTS_KEPT_MAX;
use crate::storage;
use reedline::{
    ColumnarMenu, EditCommand, FileBackedHistory, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    Reedline, ReedlineMenu, Signal,
};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the user did at a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// Sent a text.
    Text(String),
    /// Threw the line away.
    Nothing,
    /// Wants to end.
    End,
    /// Was interrupted by us.
    Interrupted,
}

/// Reads prompts, with history and completion.
pub(super) struct LineEditor(Reedline);

impl LineEditor {
    /// The editor, and why it cannot keep what is typed, if so.
    pub(super) fn new(
        session: &Arc<Session>,
        environment: &Environment,
        paint: Paint,
    ) -> (Self, Option<String>) {
        let menu = ColumnarMenu::default().with_name(COMPLETION_MENU).with_columns(1).with_marker("");
        let editor = Reedline::create()
            .with_ansi_colors(paint.has_colours())
            .use_bracketed_paste(true)
            .with_edit_mode(Box::new(Keys::new()))
            .with_validator(Box::new(OpenFence))
            .with_completer(Box::new(SessionCompleter(Arc::clone(session))))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true);
        let path = environment.state_dir.join("prompts.txt");
        match history(path.clone()) {
            Ok(history) => (Self(editor.with_history(Box::new(history))), None),
            Err(error) => {
                let why =
                    format!("{} cannot be used ({error}): your prompts are not remembered", path.display());
                (Self(editor), Some(why))
            }
        }
    }

    /// Waits for the next prompt.
    pub(super) fn read(&mut self) -> io::Result<Typed> {
        let typed = understood(self.0.read_line(&Sign { sign: "> " }).map_err(io::Error::other)?);
        // Now and not at the end, which may be a signal.
        if let Err(error) = self.0.sync_history() {
            tracing::warn!(%error, "the prompt is not remembered");
        }
        Ok(typed)
    }

    /// Puts a text where the next prompt will be typed.
    pub(super) fn put(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.run_edit_commands(&[EditCommand::InsertString(text.to_owned())]);
        }
    }
}

/// Waits for the answer to a question. Setting `stop` ends it.
pub(super) fn read_answer(stop: Arc<AtomicBool>, paint: Paint, sign: &str) -> io::Result<Typed> {
    let mut editor = Reedline::create()
        .with_ansi_colors(paint.has_colours())
        .use_bracketed_paste(true)
        .with_edit_mode(Box::new(Keys::new()))
        .with_break_signal(stop);
    Ok(understood(editor.read_line(&Sign { sign }).map_err(io::Error::other)?))
}

fn understood(signal: Signal) -> Typed {
    match signal {
        Signal::Success(text) => Typed::Text(text),
        Signal::CtrlC => Typed::Nothing,
        Signal::CtrlD => Typed::End,
        _ => Typed::Interrupted,
    }
}

/// The prompts of earlier sessions. They may hold anything, so only the user can read them.
fn history(path: PathBuf) -> io::Result<FileBackedHistory> {
    storage::make_private_folder(path.parent().unwrap_or(Path::new("/")))?;
    match storage::open_private(&path, true) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    FileBackedHistory::with_file(CHAT_PROMPTS_KEPT_MAX, path).map_err(io::Error::other)
}

/// What stands before the line that is typed.
struct Sign<'a> {
    sign: &'a str,
}

impl Prompt for Sign<'_> {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.sign)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_user_can_read_the_prompts() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/airlock/prompts.txt");
        drop(history(path.clone()).unwrap());
        drop(history(path.clone()).unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn prompts_that_are_no_text_are_an_error_and_no_panic() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("prompts.txt");
        storage::replace(&path, b"\xff\xfe\n").unwrap();
        assert!(history(path).is_err());
    }
}
