//! What the user says, with what comes along: files, selections, diagnostics, the date.

use crate::conversation::{Block, Message, Role};
use crate::limits::{PROMPT_CONTEXT_ITEM_MAX_BYTES, PROMPT_CONTEXT_MAX_ITEMS, TITLE_MAX_CHARS};
use crate::neutral::neutral_line;
use crate::view::Shown;
use jiff::civil::Date;
use std::fmt::Write;

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The user's words.
    pub text: String,
    /// What comes along.
    pub context: Vec<ContextItem>,
    /// The same for programs.
    pub shown: Shown,
}

/// A file, or a part of one, that a prompt is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextItem {
    /// Its path in the workspace, or its address where it is in none.
    pub name: String,
    /// The first and last line, from 1, when it is not the whole file.
    pub lines: Option<(u32, u32)>,
    /// The text, as it stands in the editor.
    pub text: String,
    /// What other tools say about it.
    pub diagnostics: Vec<String>,
}

impl Prompt {
    /// A prompt of words alone.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The message to the model. The user's own words come last; the date, and what became of the agent's changes, only
    /// when the model was not told yet.
    pub(super) fn into_message(self, today: Option<Date>, review: Option<String>) -> Message {
        let mut content: Vec<Block> = self
            .context
            .iter()
            .take(PROMPT_CONTEXT_MAX_ITEMS)
            .map(|item| Block::text(item.render()))
            .collect();
        if let Some(today) = today {
            content.push(Block::text(format!("Today is {today}.")));
        }
        if let Some(review) = review {
            content.push(Block::text(format!("<review>\n{}\n</review>", review.trim_end())));
        }
        content.push(Block::text(self.text));
        Message { role: Role::User, content }
    }
}

/// The beginning of a prompt in one line.
pub(super) fn title(text: &str) -> String {
    let line = neutral_line(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= TITLE_MAX_CHARS {
        return line;
    }
    line.chars().take(TITLE_MAX_CHARS - 1).chain(['…']).collect()
}

impl ContextItem {
    fn render(&self) -> String {
        let mut text = format!("<context file={:?}", self.name);
        if let Some((first, last)) = self.lines {
            // Writing to a string cannot fail.
            let _ = write!(text, " lines=\"{first}-{last}\"");
        }
        let end = self.text.floor_char_boundary(PROMPT_CONTEXT_ITEM_MAX_BYTES.min(self.text.len()));
        let cut = if end < self.text.len() { "\n[… the rest is left out …]" } else { "" };
        let _ = write!(text, ">\n{}{cut}\n</context>", self.text[..end].trim_end_matches('\n'));
        for diagnostic in &self.diagnostics {
            let _ = write!(text, "\n<diagnostic>{diagnostic}</diagnostic>");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_users_words_come_last() {
        let item = ContextItem {
            name: "src/a.rs".into(),
            lines: Some((3, 4)),
            text: "let a = 1;\n".into(),
            diagnostics: vec!["error: unused".into()],
        };
        let prompt = Prompt { text: "why?".into(), context: vec![item], ..Prompt::default() };
        let message = prompt.into_message(Some(jiff::civil::date(2026, 11, 16)), None);
        let expected = [
            "<context file=\"src/a.rs\" lines=\"3-4\">\nlet a = 1;\n</context>\n<diagnostic>error: unused</diagnostic>",
            "Today is 2026-11-16.",
            "why?",
        ];
        assert_eq!(message.content, expected.map(Block::text));
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title(" two\n lines "), "two lines");
        assert_eq!(title(&"ä".repeat(200)).chars().count(), TITLE_MAX_CHARS);
    }
}
