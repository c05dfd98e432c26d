//! Expanding a command's text, in one pass.
//!
//! | in the template | becomes |
//! |---|---|
//! | `$ARGUMENTS` | everything that followed the command's name; only as a word of its own |
//! | `$1` … `$99` | one argument, empty when there is none; `$0` and `$100` are plain text |
//! | `@path`, `@"a path"`, `@$1` | stays, and the file's content is added at the end |
//! | `\$`, `\@` | `$`, `@` |
//!
//! Everything else is plain text, also `$$`, `$HOME` and `${1}`. Without a placeholder, the arguments are added
//! in a paragraph of their own.
//!
//! Architecture invariant: what an argument or a file brought in is never looked at again.

use super::arguments;
use super::mention::{Mention, mention_at};
use crate::limits::{MENTIONED_FILE_MAX_BYTES, PROMPT_CONTEXT_MAX_ITEMS, PROMPT_MAX_BYTES};
use crate::paths::WorkspacePath;
use std::collections::BTreeSet;

/// Brings a mentioned file's content, from the editor or the disk, or says why not.
pub type ReadMentioned<'r> = dyn FnMut(&WorkspacePath) -> Result<String, String> + 'r;

/// A text with everything filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The text.
    pub text: String,
    /// The files that it mentions, each once.
    pub files: Vec<MentionedFile>,
    /// Mentions that stay plain text, and why.
    pub problems: Vec<String>,
}

/// A file that a text mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedFile {
    /// Where it is.
    pub path: WorkspacePath,
    /// What is in it.
    pub content: String,
}

/// Expands a command's template.
pub fn expand(template: &str, arguments: &str, read: &mut ReadMentioned<'_>) -> Result<Expansion, String> {
    let mut expander = Expander::new(Some(arguments), read);
    expander.run(template)?;
    let arguments = arguments.trim();
    if !expander.used_arguments && !arguments.is_empty() {
        let text = &mut expander.expansion.text;
        text.truncate(text.trim_end().len());
        text.push_str("\n\nARGUMENTS: ");
        expander.push(arguments)?;
    }
    Ok(expander.expansion)
}

/// Brings in the files that a user's own prompt mentions. Nothing else in it is special.
pub fn attach_mentions(prompt: &str, read: &mut ReadMentioned<'_>) -> Result<Expansion, String> {
    let mut expander = Expander::new(None, read);
    expander.run(prompt)?;
    Ok(expander.expansion)
}

impl Expansion {
    /// The whole as one text: the files follow, each in a fence that nothing in it can close.
    pub fn prompt(&self) -> String {
        let mut prompt = self.text.clone();
        for MentionedFile { path, content } in &self.files {
            let fence = "`".repeat(3.max(1 + longest_run(content)));
            let end = if content.ends_with('\n') { "" } else { "\n" };
            prompt.push_str(&format!("\n\n{path}:\n{fence}\n{content}{end}{fence}"));
        }
        prompt
    }
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

struct Expander<'a, 'r> {
    /// `None`: there are no placeholders in this text.
    arguments: Option<(&'a str, Vec<String>)>,
    used_arguments: bool,
    read: &'a mut ReadMentioned<'r>,
    seen: BTreeSet<String>,
    expansion: Expansion,
}

impl<'a, 'r> Expander<'a, 'r> {
    fn new(arguments: Option<&'a str>, read: &'a mut ReadMentioned<'r>) -> Self {
        Self {
            arguments: arguments.map(|text| (text.trim(), arguments::split(text))),
            used_arguments: false,
            read,
            seen: BTreeSet::new(),
            expansion: Expansion::default(),
        }
    }

    fn run(&mut self, template: &str) -> Result<(), String> {
        let mut rest = template;
        let mut before = None;
        while !rest.is_empty() {
            let length = if let Some(mention) = mention_at(before, rest) {
                self.mention(&mention)?;
                mention.written.len()
            } else {
                let (piece, length) = self.piece(rest);
                self.push(&piece)?;
                length
            };
            before = rest[..length].chars().next_back();
            rest = &rest[length..];
        }
        Ok(())
    }

    /// What the beginning of a text becomes, and how much of the text that is.
    fn piece(&mut self, text: &str) -> (String, usize) {
        if let Some((arguments, words)) = &self.arguments {
            if text.starts_with("\\$") || text.starts_with("\\@") {
                return (text[1..2].to_owned(), 2);
            }
            if let Some((placeholder, length)) = placeholder_at(text) {
                self.used_arguments = true;
                let value = match placeholder {
                    Placeholder::All => (*arguments).to_owned(),
                    Placeholder::Number(number) => words.get(number - 1).cloned().unwrap_or_default(),
                };
                return (value, length);
            }
        }
        // As it is, up to the next character that may mean something.
        let first = text.chars().next().map_or(0, char::len_utf8);
        let end = text[first..].find(['$', '@', '\\']).map_or(text.len(), |at| first + at);
        (text[..end].to_owned(), end)
    }

    /// A mention may hold placeholders, as in `@$1`; what they become is only a path, whatever it looks like.
    fn mention(&mut self, mention: &Mention<'_>) -> Result<(), String> {
        let (written, path) = (self.fill(mention.written), self.fill(mention.path));
        self.push(&written)?;
        // `./a` is the file `a`.
        let file = WorkspacePath::parse(&path).map_or_else(|_| path.clone(), |path| path.to_string());
        if self.seen.len() == PROMPT_CONTEXT_MAX_ITEMS && !self.seen.contains(&file) {
            let problem = format!(
                "more than {PROMPT_CONTEXT_MAX_ITEMS} files are mentioned; the others stay plain text"
            );
            if self.expansion.problems.last() != Some(&problem) {
                self.expansion.problems.push(problem);
            }
        } else if self.seen.insert(file) {
            match self.fetch(&path) {
                Ok(file) => self.expansion.files.push(file),
                Err(reason) => self
                    .expansion
                    .problems
                    .push(format!("@{} stays plain text: {reason}", path.escape_debug())),
            }
        }
        Ok(())
    }

    fn fill(&mut self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while !rest.is_empty() {
            let (piece, length) = self.piece(rest);
            filled.push_str(&piece);
            rest = &rest[length..];
        }
        filled
    }

    fn fetch(&mut self, path: &str) -> Result<MentionedFile, String> {
        let path = WorkspacePath::parse(path).map_err(|error| error.to_string())?;
        if path.as_str().is_empty() {
            return Err("it names no file".to_owned());
        }
        let content = (self.read)(&path)?;
        if content.len() > MENTIONED_FILE_MAX_BYTES {
            return Err(format!("the file is larger than {MENTIONED_FILE_MAX_BYTES} bytes"));
        }
        Ok(MentionedFile { path, content })
    }

    /// Adds to the text. A small template can repeat large arguments, so it must stop somewhere.
    fn push(&mut self, piece: &str) -> Result<(), String> {
        if self.expansion.text.len() + piece.len() > PROMPT_MAX_BYTES {
            return Err(format!(
                "the text is longer than {PROMPT_MAX_BYTES} bytes; give the command less, or put it in a file"
            ));
        }
        self.expansion.text.push_str(piece);
        Ok(())
    }
}

enum Placeholder {
    All,
    Number(usize),
}

/// The placeholder that a text begins with, and its length.
fn placeholder_at(text: &str) -> Option<(Placeholder, usize)> {
    let rest = text.strip_prefix('$')?;
    if let Some(after) = rest.strip_prefix("ARGUMENTS") {
        let goes_on = after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        return (!goes_on).then_some((Placeholder::All, text.len() - after.len()));
    }
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    // `$100` is money.
    if rest.starts_with('0') || !(1..=2).contains(&digits) {
        return None;
    }
    let number = rest[..digits].parse().ok()?;
    Some((Placeholder::Number(number), 1 + digits))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
