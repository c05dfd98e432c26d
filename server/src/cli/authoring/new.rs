//! `airlock plugin new`: a plugin that builds, with a tool and its tests.

use super::arguments::{Language, NewArguments};
use super::template;
use crate::cli::exit::Exit;
use crate::environment::Environment;
use crate::plugins::{MANIFEST, Manifest};
use crate::storage;
use anyhow::{Context, bail};
use std::io::{self, Write};
use std::path::Path;

/// A word of a language cannot be a function's name. Of both languages: a plugin may be written anew in the other.
const KEYWORDS: [&str; 60] = [
    "abstract", "and", "as", "assert", "async", "await", "become", "box", "break", "class", "const",
    "continue", "crate", "def", "del", "do", "dyn", "elif", "else", "enum", "except", "extern", "false",
    "final", "finally", "fn", "for", "from", "gen", "global", "if", "impl", "import", "in", "is", "lambda",
    "let", "loop", "macro", "match", "mod", "move", "mut", "not", "or", "override", "pass", "priv", "pub",
    "raise", "ref", "return", "self", "static", "struct", "super", "test", "trait", "tool", "true",
];

/// Makes the folder, and says what to do next.
pub(in crate::cli) fn new(environment: &Environment, arguments: &NewArguments) -> anyhow::Result<Exit> {
    write!(io::stdout(), "{}", make(environment, arguments)?)?;
    Ok(Exit::Well)
}

fn make(environment: &Environment, arguments: &NewArguments) -> anyhow::Result<String> {
    let NewArguments { name, language } = arguments;
    let tool = tool_name(name);
    let files = template::files(*language);
    for manifest in files.iter().filter(|file| file.path == MANIFEST) {
        Manifest::parse(&manifest.text(name, &tool)).map_err(anyhow::Error::msg)?;
    }
    let folder = environment.working_dir.join(name);
    if folder.symlink_metadata().is_ok() {
        bail!("{} is there already: choose another name, or remove it first", folder.display());
    }
    let write = |folder: &Path| -> std::io::Result<()> {
        for file in files {
            let path = folder.join(file.path);
            if let Some(parent) = path.parent() {
                storage::make_open_folder(parent)?;
            }
            storage::write_open(&path, file.text(name, &tool).as_bytes(), 0o644)?;
        }
        Ok(())
    };
    storage::make_folder_whole(&folder, write)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(next_steps(name, &tool, *language))
}

/// The name of the plugin's first tool.
fn tool_name(name: &str) -> String {
    let tool = name.replace('-', "_");
    if KEYWORDS.contains(&tool.as_str()) { format!("{tool}_words") } else { tool }
}

fn next_steps(name: &str, tool: &str, language: Language) -> String {
    let (source, needs) = match language {
        Language::Rust => ("src/lib.rs", "cargo and `rustup target add wasm32-wasip2`".to_owned()),
        Language::Python => ("app.py", format!("`pip install {}`", super::python::COMPONENTIZE_PY)),
    };
    format!(
        "{name} is made. Its tool is in {name}/{source}; building it needs {needs}.\n\n  \
         cd {name}\n  \
         airlock plugin build\n  \
         airlock plugin test\n  \
         airlock plugin run {tool} '{{\"text\": \"one two three\"}}'\n  \
         airlock plugin install --global\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn made(home: &TempDir, name: &str, language: Language) -> anyhow::Result<String> {
        let environment = Environment::for_test(home.path(), &[]);
        make(&environment, &NewArguments { name: name.to_owned(), language })
    }

    #[test]
    fn a_folder_that_is_there_is_left_alone() {
        let home = TempDir::new().unwrap();
        made(&home, "word-count", Language::Rust).unwrap();
        let source = home.path().join("word-count/src/lib.rs");
        std::fs::write(&source, "mine").unwrap();
        let error = made(&home, "word-count", Language::Python).unwrap_err().to_string();
        assert!(error.contains("is there already"), "{error}");
        assert_eq!(std::fs::read_to_string(source).unwrap(), "mine");
    }

    #[test]
    fn a_name_that_is_no_name_makes_nothing() {
        let home = TempDir::new().unwrap();
        for name in ["", "Word", "../out", "a b", "a/b", "9", "a\"b"] {
            assert!(made(&home, name, Language::Rust).is_err(), "{name:?}");
        }
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_keyword_makes_a_tool_that_compiles() {
        let home = TempDir::new().unwrap();
        made(&home, "match", Language::Rust).unwrap();
        let source = std::fs::read_to_string(home.path().join("match/src/lib.rs")).unwrap();
        assert!(source.contains("fn match_words("), "{source}");
    }
}
