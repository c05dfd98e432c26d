//! Commands that are markdown files: of a trusted workspace, and the user's own.
//!
//! A folder is a namespace: `git/commit.md` is `/git:commit`. Where two have one name, the built-in command wins,
//! then the workspace's `.airlock/commands`, its `.claude/commands`, and the user's own.

use super::discover::Search;
use super::front_matter;
use super::template::{self, Expansion, ReadMentioned};
use crate::agent::update::CommandInfo;
use crate::environment::Environment;
use crate::limits;
use crate::problem::Problem;
use crate::trust::TrustedWorkspace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A command from a file.
#[derive(Clone, Debug)]
pub struct CustomCommand {
    /// Its name, without the slash.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// What is in the file, or why that cannot be used.
    pub(super) content: Result<Content, Problem>,
}

#[derive(Clone, Debug)]
pub(super) struct Content {
    description: String,
    hint: Option<String>,
    model: Option<String>,
    template: String,
}

/// All custom commands there are.
#[derive(Clone, Debug, Default)]
pub struct CustomCommands(BTreeMap<String, CustomCommand>);

impl CustomCommands {
    /// Looks for commands. Broken ones are among them; each is a problem, too.
    pub fn discover(
        workspace: Option<&TrustedWorkspace>,
        environment: &Environment,
        built_in: &[&str],
    ) -> (Self, Vec<Problem>) {
        let mut search = Search::new(built_in);
        if let Some(workspace) = workspace {
            search.in_workspace(workspace, ".airlock/commands");
            search.in_workspace(workspace, ".claude/commands");
        }
        search.in_folder(&environment.config_dir.join("commands"));
        (Self(search.commands), search.problems)
    }

    /// The command of this name.
    pub fn get(&self, name: &str) -> Option<&CustomCommand> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &CustomCommand> {
        self.0.values()
    }
}

impl CustomCommand {
    /// What completion and help show.
    pub fn info(&self) -> CommandInfo {
        let (description, hint) = match &self.content {
            Ok(content) => (content.description.clone(), content.hint.clone()),
            Err(problem) => (format!("broken: {problem}"), None),
        };
        CommandInfo { name: self.name.clone(), description, hint }
    }

    /// The model that it wants.
    pub fn model(&self) -> Option<&str> {
        self.content.as_ref().ok()?.model.as_deref()
    }

    /// The prompt that it stands for; a broken command says what is wrong with it.
    pub fn expand(&self, arguments: &str, read: &mut ReadMentioned<'_>) -> Result<Expansion, String> {
        let in_command = |reason| format!("cannot run /{}: {reason}", self.name);
        let content = self.content.as_ref().map_err(|problem| in_command(problem.to_string()))?;
        template::expand(&content.template, arguments, read).map_err(in_command)
    }
}

/// Takes a command's file apart.
pub(super) fn content_of(path: &Path, text: &str) -> Result<Content, Problem> {
    let (matter, body) = front_matter::parse(text)
        .map_err(|error| Problem::at_line(path, error.line, error.what, error.advice))?;
    let Some(first_line) = body.lines().map(str::trim).find(|line| !line.is_empty()) else {
        let advice = "write below the front matter what the command asks for";
        return Err(Problem::in_file(path, "there is no text in it", advice));
    };
    let description = matter.description.as_deref().unwrap_or(first_line.trim_start_matches(['#', ' ']));
    Ok(Content {
        description: one_line(description),
        hint: matter.argument_hint.as_deref().map(one_line),
        model: matter.model,
        template: body.trim_start_matches(['\r', '\n']).to_owned(),
    })
}

/// Fit for a list of commands.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line: Vec<_> = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
    if line.len() <= limits::COMMAND_DESCRIPTION_MAX_CHARS {
        return line.into_iter().collect();
    }
    let kept = line.into_iter().take(limits::COMMAND_DESCRIPTION_MAX_CHARS - 1);
    kept.chain(['…']).collect()
}

#[cfg(test)]
#[path = "custom_tests.rs"]
mod tests;
