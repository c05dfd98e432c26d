//! Colours, where they are wanted.

use crate::environment::Environment;
use crossterm::style::Stylize;

/// Paints our own words and marks, or leaves them plain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    colours: bool,
}

impl Paint {
    /// No colours.
    #[cfg(test)]
    pub(super) const PLAIN: Self = Self { colours: false };

    /// Colours for a terminal that knows them, unless the user wants none.
    pub(super) fn of_stream(environment: &Environment, is_terminal: bool) -> Self {
        let dumb = environment.variable("TERM").is_none_or(|term| term == "dumb");
        Self { colours: is_terminal && !dumb && environment.variable("NO_COLOR").is_none() }
    }

    pub(super) fn has_colours(self) -> bool {
        self.colours
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.styled(text, |text| text.dim().to_string())
    }

    /// Lines that come and go.
    pub(super) fn diff(self, text: &str) -> String {
        let line = |line: &str| match line.as_bytes().first() {
            Some(b'+') => self.good(line),
            Some(b'-') => self.bad(line),
            Some(b'@') => self.dim(line),
            _ => line.to_owned(),
        };
        text.lines().map(|text| line(text) + "\n").collect()
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.styled(text, |text| text.bold().to_string())
    }

    pub(super) fn good(self, text: &str) -> String {
        self.styled(text, |text| text.green().to_string())
    }

    pub(super) fn doubtful(self, text: &str) -> String {
        self.styled(text, |text| text.yellow().to_string())
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.styled(text, |text| text.red().to_string())
    }

    fn styled(self, text: &str, style: impl FnOnce(&str) -> String) -> String {
        if self.colours && !text.is_empty() { style(text) } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        for (variables, is_terminal, expected) in [
            (&[("TERM", "xterm")][..], true, true),
            (&[("TERM", "xterm")], false, false),
            (&[("TERM", "dumb")], true, false),
            (&[], true, false),
            (&[("TERM", "xterm"), ("NO_COLOR", "1")], true, false),
        ] {
            let environment = Environment::for_test(Path::new("/home"), variables);
            assert_eq!(Paint::of_stream(&environment, is_terminal).has_colours(), expected, "{variables:?}");
        }
    }
}
