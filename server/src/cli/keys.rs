//! Keys in the line editor: Emacs keys, a new line within a prompt, and pastes that a terminal cannot be fooled with.

use crate::neutral::is_plain;
use reedline::{
    EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, PromptEditMode, ReedlineEvent, ReedlineRawEvent,
    ValidationResult, Validator, default_emacs_keybindings,
};

/// The name of the menu of completions.
pub(super) const COMPLETION_MENU: &str = "completion";

/// Emacs keys with two additions: a backslash before Enter begins a new line instead of sending, and what is pasted
/// holds no control characters, for the line editor would hand them to the terminal.
pub(super) struct Keys {
    emacs: Emacs,
    backslash_last: bool,
}

impl Keys {
    pub(super) fn new() -> Self {
        let mut keys = default_emacs_keybindings();
        let new_line = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line());
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, new_line());
        // What terminals send for Shift+Enter when they are told to.
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), new_line());
        let complete = ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(COMPLETION_MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
        keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
        // It would start a program on the host.
        keys.remove_binding(KeyModifiers::CONTROL, KeyCode::Char('o'));
        Self { emacs: Emacs::new(keys), backslash_last: false }
    }

    fn adapt(&mut self, event: ReedlineEvent) -> ReedlineEvent {
        let after_backslash = std::mem::take(&mut self.backslash_last);
        match event {
            ReedlineEvent::Enter if after_backslash => {
                ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline])
            }
            ReedlineEvent::Edit(mut commands) => {
                self.backslash_last = matches!(commands[..], [EditCommand::InsertChar('\\')]);
                for command in &mut commands {
                    if let EditCommand::InsertString(text) = command {
                        text.retain(is_plain_enough);
                    }
                }
                ReedlineEvent::Edit(commands)
            }
            other => other,
        }
    }
}

/// A paste keeps what people write, and loses what would hide in it or make the terminal do something.
fn is_plain_enough(letter: char) -> bool {
    is_plain(letter) || matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = self.emacs.parse_event(event);
        self.adapt(event)
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.emacs.edit_mode()
    }
}

/// Enter does not send while a code fence is open.
pub(super) struct OpenFence;

impl Validator for OpenFence {
    fn validate(&self, text: &str) -> ValidationResult {
        let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
        if fences.is_multiple_of(2) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn typed(letter: char) -> ReedlineEvent {
        ReedlineEvent::Edit(vec![EditCommand::InsertChar(letter)])
    }

    #[test]
    fn only_a_typed_backslash_right_before_enter_continues_the_prompt() {
        let mut keys = Keys::new();
        keys.adapt(typed('\\'));
        let continued = ReedlineEvent::Edit(vec![EditCommand::Backspace, EditCommand::InsertNewline]);
        assert_eq!(keys.adapt(ReedlineEvent::Enter), continued);
        assert_eq!(keys.adapt(ReedlineEvent::Enter), ReedlineEvent::Enter);
        keys.adapt(typed('\\'));
        keys.adapt(typed('n'));
        assert_eq!(keys.adapt(ReedlineEvent::Enter), ReedlineEvent::Enter);
        keys.adapt(ReedlineEvent::Edit(vec![EditCommand::InsertString("a\\".into())]));
        assert_eq!(keys.adapt(ReedlineEvent::Enter), ReedlineEvent::Enter);
    }

    #[test]
    fn a_paste_loses_what_a_terminal_would_obey_and_what_nobody_would_see() {
        let paste = |text: &str| ReedlineEvent::Edit(vec![EditCommand::InsertString(text.into())]);
        let pasted = Keys::new().adapt(paste("a\u{1b}]52;c;eA==\u{7}\n\tb\u{e0041}\u{202e}👩\u{200d}💻"));
        assert_eq!(pasted, paste("a]52;c;eA==\n\tb👩\u{200d}💻"));
    }

    #[test]
    fn an_open_fence_is_not_sent() {
        for (text, complete) in [
            ("hi", true),
            ("```rust\nlet x;", false),
            ("see:\n  ```\ncode\n  ```", true),
            ("what does ``` mean", true),
        ] {
            let result = OpenFence.validate(text);
            assert_eq!(matches!(result, ValidationResult::Complete), complete, "{text}");
        }
    }
}
