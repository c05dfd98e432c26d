//! The model's answer as a script wants it: the text alone, neutral, with a line's end at its end.

use crate::neutral::Neutral;

/// An answer on its way out.
#[derive(Debug, Default)]
pub(super) struct Answer {
    filter: Neutral,
    begun: bool,
    line_open: bool,
    /// Tools ran since the last piece, so the next one is a paragraph of its own.
    paused: bool,
}

impl Answer {
    /// The next piece.
    pub(super) fn push(&mut self, untrusted_text: &str) -> String {
        let text = self.filter.push(untrusted_text);
        if text.is_empty() {
            return text;
        }
        let gap = match (std::mem::take(&mut self.paused), self.begun) {
            (true, true) => format!("{}\n", self.end_line()),
            _ => String::new(),
        };
        self.begun = true;
        self.line_open = !text.ends_with('\n');
        gap + &text
    }

    /// The model calls a tool; it may have more to say later.
    pub(super) fn pause(&mut self) -> String {
        self.paused = true;
        let rest = self.filter.finish();
        self.line_open |= !rest.is_empty();
        rest.to_owned()
    }

    /// There is no more.
    pub(super) fn finish(&mut self) -> String {
        let rest = self.pause();
        rest + self.end_line()
    }

    /// What ends the line, if there is one.
    pub(super) fn end_line(&mut self) -> &'static str {
        if std::mem::take(&mut self.line_open) { "\n" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn an_answer_ends_with_one_line_end() {
        for (pieces, expected) in
            [(&["Hel", "lo"][..], "Hello\n"), (&["Hello\n"], "Hello\n"), (&[], ""), (&["x\r"], "x␍\n")]
        {
            let mut answer = Answer::default();
            let mut out: String = pieces.iter().map(|piece| answer.push(piece)).collect();
            out.push_str(&answer.finish());
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn what_is_said_between_tool_calls_are_paragraphs() {
        let mut answer = Answer::default();
        let out = [
            answer.pause(),
            answer.push("I look."),
            answer.pause(),
            answer.pause(),
            answer.push("Found\n"),
            answer.pause(),
            answer.push("Done."),
            answer.finish(),
        ];
        assert_eq!(out.concat(), "I look.\n\nFound\n\nDone.\n");
    }
}
