//! Something that is wrong with what the user wrote, and that the program goes on without.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong, where, and what to do about it. It never holds a secret: values are not repeated in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What the user can do.
    pub advice: String,
}

/// Where a problem is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File {
        /// Which one.
        path: PathBuf,
        /// Its line, from 1, where that is known.
        line: Option<usize>,
    },
    /// In an environment variable.
    Variable(String),
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn in_file(path: &Path, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            place: Place::File { path: path.to_owned(), line: None },
            what: what.into(),
            advice: advice.into(),
        }
    }

    /// A problem in one line of a file, counted from 1.
    pub fn at_line(path: &Path, line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            place: Place::File { path: path.to_owned(), line: Some(line) },
            ..Self::in_file(path, what, advice)
        }
    }

    /// A problem with the value of an environment variable.
    pub fn in_variable(name: &str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { place: Place::Variable(name.to_owned()), what: what.into(), advice: advice.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, advice } = self;
        write!(formatter, "{place}: {what}; {advice}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: None } => write!(formatter, "{}", path.display()),
            Self::File { path, line: Some(line) } => write!(formatter, "{}:{line}", path.display()),
            Self::Variable(name) => write!(formatter, "environment variable {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_place_what_and_advice() {
        let problem = Problem::at_line(Path::new("/c/config.toml"), 3, "no such key", "remove it");
        assert_eq!(problem.to_string(), "/c/config.toml:3: no such key; remove it");
        let problem = Problem::in_variable("MODEL", "blank", "name a model");
        assert_eq!(problem.to_string(), "environment variable MODEL: blank; name a model");
    }
}
