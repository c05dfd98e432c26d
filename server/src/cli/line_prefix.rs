//! Puts something before each line of a streamed text, so that it cannot pass for a line of ours.

/// The beginning of each line.
#[derive(Clone, Debug)]
pub(super) struct LinePrefix {
    prefix: &'static str,
    line_open: bool,
}

impl LinePrefix {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix, line_open: false }
    }

    /// The next piece. A line gets its prefix with its first character, so none is left alone at the end.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            if !self.line_open {
                out.push_str(if line == "\n" { self.prefix.trim_end() } else { self.prefix });
            }
            out.push_str(line);
            self.line_open = !line.ends_with('\n');
        }
        out
    }
}

/// A whole text with something before each of its lines, and a line's end at its end.
pub(super) fn with_prefix(prefix: &'static str, text: &str) -> String {
    let mut out = LinePrefix::new(prefix).push(text.trim_end_matches('\n'));
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn every_line_gets_it_once_wherever_the_pieces_end() {
        let mut prefix = LinePrefix::new("| ");
        let pieces = ["one\ntw", "o\n", "\n", "four"].map(|piece| prefix.push(piece));
        assert_eq!(pieces.concat(), "| one\n| two\n|\n| four");
        assert_eq!(with_prefix("> ", "a\nb\n"), "> a\n> b\n");
    }
}
