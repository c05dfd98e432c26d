//! Puts something before each line of a streamed text, so that it cannot pass for a line of ours.
//!
//! Where the terminal's width is known, lines that are too long for it are folded here: the terminal would go on at its
//! left edge, without the prefix.

use unicode_width::UnicodeWidthChar;

/// The beginning of each line.
#[derive(Clone, Debug)]
pub(super) struct LinePrefix {
    prefix: &'static str,
    columns: Option<usize>,
    /// Where the next character goes; `None` before the first one of a line.
    column: Option<usize>,
}

/// Folding makes no sense in less room.
const COLUMNS_MIN: usize = 20;
const TAB_COLUMNS: usize = 8;

impl LinePrefix {
    /// A prefix for lines of at most so many columns.
    pub(super) fn new(prefix: &'static str, columns: Option<usize>) -> Self {
        Self { prefix, columns: columns.filter(|columns| *columns >= COLUMNS_MIN), column: None }
    }

    /// The next piece of neutral text. A line gets its prefix with its first character, so none stands alone.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for letter in text.chars() {
            if letter == '\n' {
                if self.column.take().is_none() {
                    out.push_str(self.prefix.trim_end());
                }
                out.push('\n');
                continue;
            }
            let width = |column: usize| match letter {
                '\t' => TAB_COLUMNS - column % TAB_COLUMNS,
                _ => letter.width().unwrap_or(0),
            };
            let column = match self.column {
                Some(column) if self.columns.is_none_or(|columns| column + width(column) <= columns) => {
                    column
                }
                open => {
                    if open.is_some() {
                        out.push('\n');
                    }
                    out.push_str(self.prefix);
                    self.prefix.chars().filter_map(UnicodeWidthChar::width).sum()
                }
            };
            out.push(letter);
            self.column = Some(column + width(column));
        }
        out
    }
}

/// A whole text with something before each of its lines, and a line's end at its end.
pub(super) fn with_prefix(prefix: &'static str, columns: Option<usize>, text: &str) -> String {
    let mut out = LinePrefix::new(prefix, columns).push(text.trim_end_matches('\n'));
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn every_line_gets_it_once_wherever_the_pieces_end() {
        let mut prefix = LinePrefix::new("| ", None);
        let pieces = ["one\ntw", "o\n", "\n", "four"].map(|piece| prefix.push(piece));
        assert_eq!(pieces.concat(), "| one\n| two\n|\n| four");
        assert_eq!(with_prefix("> ", None, "a\nb\n"), "> a\n> b\n");
    }

    #[test]
    fn a_long_line_is_folded_before_the_terminal_does_it() {
        let columns = Some(20);
        let folded = with_prefix("| ", columns, &"x".repeat(40));
        assert_eq!(folded, format!("| {0}\n| {0}\n| xxxx\n", "x".repeat(18)));
        assert_eq!(with_prefix("| ", columns, &"x".repeat(18)), format!("| {}\n", "x".repeat(18)));
        // Wide characters take two columns, a tab goes to the next stop.
        assert_eq!(with_prefix("| ", columns, &"日".repeat(10)), format!("| {}\n| 日\n", "日".repeat(9)));
        assert_eq!(with_prefix("| ", columns, "\t\t12345"), "| \t\t1234\n| 5\n");
    }
}
