//! The terminal while a turn runs: what is typed is not shown, but kept for the next prompt; Ctrl-C still interrupts.
//!
//! The line editor takes the terminal into its own mode and back to what it found. So the mode here may stay on
//! while it reads the answer to a question.

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyModifiers};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use std::io;
use std::time::Duration;

/// The terminal listens and shows nothing. It is as before when this is dropped.
pub(super) struct Listening {
    before: Termios,
}

impl Listening {
    pub(super) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        // Key by key and with Enter as it is, so that the line editor finds what it would have read itself.
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        quiet.input_modes -= InputModes::ICRNL;
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
        let listening = Self { before };
        listening.mark_pastes();
        Ok(listening)
    }

    /// Marks pastes, so that one that is made now does not become several prompts. The line editor ends it.
    pub(super) fn mark_pastes(&self) {
        // A terminal that cannot do it goes without.
        let _ = crossterm::execute!(io::stdout(), EnableBracketedPaste);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = crossterm::execute!(io::stdout(), DisableBracketedPaste);
        // There is nobody left to tell; the shell resets its terminal itself.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Takes what was typed before a question was shown, so that it does not answer it.
pub(super) fn take_typed() -> io::Result<String> {
    let mut typed = String::new();
    while event::poll(Duration::ZERO)? {
        match event::read()? {
            Event::Paste(text) => typed.push_str(&text.replace("\r\n", "\n").replace('\r', "\n")),
            Event::Key(key) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                match key.code {
                    KeyCode::Char(letter) => typed.push(letter),
                    KeyCode::Enter => typed.push('\n'),
                    KeyCode::Backspace => drop(typed.pop()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    Ok(typed)
}

/// The terminal's width, where it tells.
pub(super) fn columns() -> Option<usize> {
    // Not `size`, which starts a program when the terminal does not answer.
    crossterm::terminal::window_size().ok().map(|size| usize::from(size.columns))
}

/// Gives the terminal back although the line editor still reads from it: the program ends.
pub(super) fn give_back() {
    let _ = crossterm::execute!(io::stdout(), DisableBracketedPaste);
    let _ = crossterm::terminal::disable_raw_mode();
}
