//! Finding the files of custom commands. The caller searches in the order of precedence: the first of a name wins.

use super::custom::{CustomCommand, content_of};
use super::parse::is_name;
use crate::limits;
use crate::problem::Problem;
use crate::storage;
use crate::trust::TrustedWorkspace;
use std::collections::BTreeMap;
use std::path::Path;

/// A search under way.
pub(super) struct Search<'b> {
    built_in: &'b [&'b str],
    pub(super) commands: BTreeMap<String, CustomCommand>,
    pub(super) problems: Vec<Problem>,
}

impl<'b> Search<'b> {
    /// No command found may have the name of one of these.
    pub(super) fn new(built_in: &'b [&'b str]) -> Self {
        Self { built_in, commands: BTreeMap::new(), problems: Vec::new() }
    }

    /// Takes the commands of a trusted workspace's folder.
    ///
    /// No walk: what is not among the trusted files is not there.
    pub(super) fn in_workspace(&mut self, workspace: &TrustedWorkspace, folder: &str) {
        let mut count = 0;
        for path in workspace.paths_below(folder) {
            let host_path = workspace.root().as_host().join(path);
            if workspace.is_link(path) {
                let what = "is a link, and links in a workspace are not followed";
                self.report(&host_path, what, "put a file or folder in its place");
                continue;
            }
            let Ok(below) = Path::new(path).strip_prefix(folder) else {
                continue;
            };
            if !is_markdown(below) {
                continue;
            }
            count += 1;
            if count > limits::COMMAND_FILES_MAX {
                let what = format!("there are more than {} commands", limits::COMMAND_FILES_MAX);
                let folder = workspace.root().as_host().join(folder);
                return self.report(&folder, &what, "remove some; those that come last are left out");
            }
            let text = || match workspace.read_text(path, limits::COMMAND_FILE_MAX_BYTES)? {
                Some(text) => Ok(text),
                None => Err(gone(&host_path)),
            };
            self.add(below, &host_path, text);
        }
    }

    /// The user's own folder. Its links are followed: people keep their configuration elsewhere.
    pub(super) fn in_folder(&mut self, folder: &Path) {
        let files = match storage::files_below(
            folder,
            limits::COMMAND_FOLDERS_MAX_DEPTH,
            limits::COMMAND_FILES_MAX,
        ) {
            Ok(files) => files,
            Err(error) => {
                let what = format!("cannot be searched for commands: {error}");
                return self.report(folder, &what, "correct that; until then none of them is there");
            }
        };
        for below in files.iter().filter(|path| is_markdown(path)) {
            let path = folder.join(below);
            let text = || match storage::read_text(&path, limits::COMMAND_FILE_MAX_BYTES) {
                Ok(Some(text)) => Ok(text),
                Ok(None) => Err(gone(&path)),
                Err(error) => {
                    let what = format!("cannot be read: {error}");
                    Err(Problem::in_file(&path, what, "correct that"))
                }
            };
            self.add(below, &path, text);
        }
    }

    fn add(&mut self, below: &Path, path: &Path, text: impl FnOnce() -> Result<String, Problem>) {
        let name = match name_of(below) {
            Ok(name) => name,
            Err((what, advice)) => return self.report(path, &what, advice),
        };
        // `/Help` beside `/help` would only mislead.
        if self.built_in.iter().any(|built_in| built_in.eq_ignore_ascii_case(&name)) {
            let what = format!("/{name} is hidden by the built-in command");
            return self.report(path, &what, "rename the file");
        }
        if let Some(other) = self.commands.get(&name) {
            let what = format!("/{name} is hidden by {}", other.path.display());
            return self.report(path, &what, "rename one of the two");
        }
        let content = text().and_then(|text| content_of(path, &text));
        if let Err(problem) = &content {
            self.problems.push(problem.clone());
        }
        let command = CustomCommand { name: name.clone(), path: path.to_owned(), content };
        self.commands.insert(name, command);
    }

    fn report(&mut self, path: &Path, what: &str, advice: &str) {
        self.problems.push(Problem::in_file(path, what, advice));
    }
}

/// Markdown that is not hidden, as an editor's temporary files are.
fn is_markdown(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.ends_with(b".md") && !name.starts_with(b".")
}

fn gone(path: &Path) -> Problem {
    Problem::in_file(path, "went away while it was read", "put it back, or ignore this")
}

/// The name of a command by its file's place below the folder of commands.
fn name_of(below: &Path) -> Result<String, (String, &'static str)> {
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    if parts.len() > limits::COMMAND_FOLDERS_MAX_DEPTH + 1 {
        let what = format!("is deeper than {} folders", limits::COMMAND_FOLDERS_MAX_DEPTH);
        return Err((what, "move it up"));
    }
    let name = parts.join(":");
    let name = name.strip_suffix(".md").unwrap_or(&name);
    // A colon of the file's own would pass for a folder's.
    if !is_name(name) || parts.iter().any(|part| part.contains(':')) {
        return Err((
            "does not make a command's name".to_owned(),
            "rename it: letters, digits, - and _ only, a letter first",
        ));
    }
    Ok(name.to_owned())
}
