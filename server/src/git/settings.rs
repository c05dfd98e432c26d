//! Settings of git as data: a repository's own, of which only a few are believed, and the user's.

use super::GitError;
use super::program::{Program, said};
use crate::environment::Environment;
use crate::limits::GIT_SETTINGS_MAX_BYTES;
use crate::neutral::neutral_line;
use crate::storage;
use std::path::{Path, PathBuf};

/// Keys and values, later ones winning. It has no `Debug`: the user's may hold secrets.
#[derive(Clone, Default)]
pub(super) struct GitSettings(Vec<(String, String)>);

impl GitSettings {
    /// What a repository's own file says. Includes are not followed, and nothing in it takes effect.
    pub(super) async fn of_repository(
        program: &Program,
        common_dir: &Path,
        nowhere: &Path,
    ) -> Result<Self, GitError> {
        let file = common_dir.join("config");
        // Git would wait for a pipe in its place.
        let text = storage::read_bytes_of_file(&file, GIT_SETTINGS_MAX_BYTES)
            .map_err(|error| GitError::disk(format!("{} cannot be read", file.display()), &error))?;
        let call = program.call("read the repository's settings", nowhere, nowhere);
        let call = call.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = call
            .args(["config", "--file", "-", "--no-includes", "--list", "-z"])
            .input(text.unwrap_or_default());
        Ok(Self::parse(&output.run().await?))
    }

    /// What the user's own files say for this repository: those of the system and of the user, with what they include
    /// for it, but without the repository's own.
    pub(super) async fn of_user(
        program: &Program,
        environment: &Environment,
        git_dir: &Path,
    ) -> Result<Self, GitError> {
        let mut all = Vec::new();
        let mut sources = vec![vec!["--system".into()]];
        sources.extend(
            global_files(environment).into_iter().map(|file| vec!["--file".into(), file.into_os_string()]),
        );
        for source in sources {
            let call = program.call("read your settings", Path::new("/"), git_dir).arg("config").args(source);
            let (success, output, words) = call.args(["--includes", "--list", "-z"]).outcome().await?;
            if success {
                all.extend(Self::parse(&output).0);
            } else if !String::from_utf8_lossy(&words).contains("unable to read config file") {
                return Err(GitError::new("git cannot read your settings", said(&words)));
            }
        }
        // What they include is in the list already.
        all.retain(|(key, _)| !key.starts_with("include.") && !key.starts_with("includeif."));
        if all.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() > GIT_SETTINGS_MAX_BYTES {
            let what = format!("your settings of git are larger than {GIT_SETTINGS_MAX_BYTES} bytes");
            return Err(GitError::new(what, "do this step yourself"));
        }
        Ok(Self(all))
    }

    /// The last value of a key, which is in lower case apart from its middle part.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(other, _)| other == key).map(|(_, value)| value.as_str())
    }

    /// Every key and value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Every `section.MIDDLE.name`, as middle and value.
    pub(super) fn each<'a>(
        &'a self,
        section: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.iter().filter_map(move |(key, value)| {
            let middle =
                key.strip_prefix(section)?.strip_prefix('.')?.strip_suffix(name)?.strip_suffix('.')?;
            Some((middle, value))
        })
    }

    /// Whether a setting is on.
    pub(super) fn is_on(&self, key: &str) -> Option<bool> {
        let value = self.get(key)?.to_ascii_lowercase();
        Some(matches!(value.as_str(), "true" | "yes" | "on" | "1"))
    }

    /// A value for people's names and addresses: one line, nothing hidden.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(|value| neutral_line(value.trim())).filter(|value| !value.is_empty())
    }

    fn parse(listed: &[u8]) -> Self {
        let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let pair = |entry: &[u8]| {
            let entry = String::from_utf8_lossy(entry);
            // A key without a value is on.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            (key.to_owned(), value.to_owned())
        };
        Self(entries.map(pair).collect())
    }
}

/// The user's own files that are there, in the order in which git reads them.
fn global_files(environment: &Environment) -> Vec<PathBuf> {
    if let Some(file) = environment.variable("GIT_CONFIG_GLOBAL") {
        return vec![PathBuf::from(file)];
    }
    let home = environment.variable("HOME").map(PathBuf::from);
    let base = environment.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [base.map(|base| base.join("git/config")), home.map(|home| home.join(".gitconfig"))];
    files.into_iter().flatten().filter(|file| file.is_file()).collect()
}
