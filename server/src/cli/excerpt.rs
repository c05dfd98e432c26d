//! The output of a tool as a person wants to see it: its beginning as it comes, its last lines when it has ended.

use crate::limits::{CHAT_OUTPUT_HEAD_LINES, CHAT_OUTPUT_LINE_MAX_CHARS, CHAT_OUTPUT_TAIL_LINES};
use crate::neutral::Neutral;
use std::collections::VecDeque;

/// One tool call's output on its way to the screen.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    filter: Neutral,
    /// The line that has not ended yet, cut.
    line: String,
    line_chars: usize,
    shown: usize,
    tail: VecDeque<String>,
    left_out: usize,
}

impl Excerpt {
    /// The next piece of output; gives the lines to show now.
    pub(super) fn push(&mut self, untrusted_output: &str) -> Vec<String> {
        let text = self.filter.push(untrusted_output);
        let mut now = Vec::new();
        for letter in text.chars() {
            if letter == '\n' {
                self.end_line(&mut now);
                continue;
            }
            self.line_chars += 1;
            if self.line_chars <= CHAT_OUTPUT_LINE_MAX_CHARS {
                self.line.push(letter);
            } else if self.line_chars == CHAT_OUTPUT_LINE_MAX_CHARS + 1 {
                self.line.push('…');
            }
        }
        now
    }

    /// The output has ended; gives the lines that are still to be shown.
    pub(super) fn finish(mut self) -> Vec<String> {
        let mut now = Vec::new();
        self.line.push_str(self.filter.finish());
        if !self.line.is_empty() {
            self.end_line(&mut now);
        }
        if self.left_out > 0 {
            now.push(format!("… {} lines are not shown …", self.left_out));
        }
        now.extend(self.tail);
        now
    }

    fn end_line(&mut self, now: &mut Vec<String>) {
        let line = std::mem::take(&mut self.line);
        self.line_chars = 0;
        if self.shown < CHAT_OUTPUT_HEAD_LINES {
            self.shown += 1;
            now.push(line);
            return;
        }
        if self.tail.len() == CHAT_OUTPUT_TAIL_LINES {
            self.tail.pop_front();
            self.left_out += 1;
        }
        self.tail.push_back(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn all(pieces: &[&str]) -> Vec<String> {
        let mut excerpt = Excerpt::default();
        let mut lines: Vec<String> = pieces.iter().flat_map(|piece| excerpt.push(piece)).collect();
        lines.extend(excerpt.finish());
        lines
    }

    #[test]
    fn short_output_is_shown_whole_and_neutral() {
        assert_eq!(all(&["a\nb", "c\r", "\n\u{1b}[2J"]), ["a", "bc", "␛[2J"]);
        assert_eq!(all(&[""]), Vec::<String>::new());
    }

    #[test]
    fn of_long_output_the_beginning_and_the_end_are_shown() {
        let text: String = (1..=1000).map(|number| format!("{number}\n")).collect();
        let lines = all(&[&text]);
        assert_eq!(lines.len(), CHAT_OUTPUT_HEAD_LINES + 1 + CHAT_OUTPUT_TAIL_LINES);
        assert_eq!(lines[CHAT_OUTPUT_HEAD_LINES - 1], CHAT_OUTPUT_HEAD_LINES.to_string());
        let left_out = 1000 - CHAT_OUTPUT_HEAD_LINES - CHAT_OUTPUT_TAIL_LINES;
        assert_eq!(lines[CHAT_OUTPUT_HEAD_LINES], format!("… {left_out} lines are not shown …"));
        assert_eq!(lines.last().unwrap(), "1000");
    }

    #[test]
    fn an_endless_line_takes_bounded_room() {
        let mut excerpt = Excerpt::default();
        for _ in 0..1000 {
            excerpt.push(&"x".repeat(1000));
        }
        assert!(excerpt.line.len() <= CHAT_OUTPUT_LINE_MAX_CHARS + '…'.len_utf8());
        assert!(excerpt.finish()[0].ends_with("x…"));
    }
}
