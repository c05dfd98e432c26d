//! What to do about something that is missing or does not work.

use super::packages::Need;
use std::fmt;

/// Words for people, and the same for who runs commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedy {
    /// What to do, whole.
    pub text: String,
    /// What is to be installed for it.
    pub needs: Vec<Need>,
    /// What is to be run for it besides.
    pub commands: Vec<HostCommand>,
}

impl Remedy {
    /// These commands, one after the other.
    pub fn run(lead: &str, commands: Vec<HostCommand>) -> Self {
        let shown: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
        Self { text: format!("{lead}: {}", shown.join(", then ")), needs: Vec::new(), commands }
    }

    /// The same with more words behind it.
    pub fn and_then(mut self, what: &str) -> Self {
        self.text.push_str(", then ");
        self.text.push_str(what);
        self
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// A command for the user's own machine. It is shown, and run only at the user's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    words: Vec<String>,
    as_root: bool,
}

impl HostCommand {
    /// One that only root may run.
    pub fn as_root(words: &[&str]) -> Self {
        Self { words: words.iter().map(|&word| word.to_owned()).collect(), as_root: true }
    }

    /// One that the user runs.
    pub fn as_user(words: &[&str]) -> Self {
        Self { as_root: false, ..Self::as_root(words) }
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the user must become root for it.
    pub fn wants_another_user(&self) -> bool {
        self.as_root && !rustix::process::geteuid().is_root()
    }
}

impl fmt::Display for HostCommand {
    /// As it is typed.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sudo = if self.wants_another_user() { "sudo " } else { "" };
        write!(formatter, "{sudo}{}", self.words.join(" "))
    }
}
