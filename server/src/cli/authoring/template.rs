//! What a new plugin is made of. All of it is in this binary, the SDK too: a plugin builds on a machine that has nothing
//! else of Airlock, and keeps building when Airlock moves on.

use super::arguments::Language;

/// A file of a new plugin.
pub(super) struct File {
    /// Where it goes.
    pub(super) path: &'static str,
    /// Its text, with `{{name}}` and `{{tool}}` in it.
    text: &'static str,
}

macro_rules! files {
    ($($path:literal = $source:literal),* $(,)?) => {
        &[$(File { path: $path, text: include_str!(concat!("../../../../plugins/", $source)) }),*]
    };
}

const RUST: &[File] = files! {
    ".gitignore" = "template/rust/gitignore.in",
    "Cargo.toml" = "template/rust/Cargo.toml.in",
    "Cargo.lock" = "template/rust/Cargo.lock.in",
    "plugin.toml" = "template/plugin.toml.in",
    "src/lib.rs" = "template/rust/src/lib.rs.in",
    "tests/cases.json" = "template/tests/cases.json.in",
    "vendor/airlock-plugin/Cargo.toml" = "sdk/Cargo.toml",
    "vendor/airlock-plugin/macros/Cargo.toml" = "sdk/macros/Cargo.toml",
    "vendor/airlock-plugin/macros/src/attribute.rs" = "sdk/macros/src/attribute.rs",
    "vendor/airlock-plugin/macros/src/command.rs" = "sdk/macros/src/command.rs",
    "vendor/airlock-plugin/macros/src/data.rs" = "sdk/macros/src/data.rs",
    "vendor/airlock-plugin/macros/src/docs.rs" = "sdk/macros/src/docs.rs",
    "vendor/airlock-plugin/macros/src/lib.rs" = "sdk/macros/src/lib.rs",
    "vendor/airlock-plugin/macros/src/tool.rs" = "sdk/macros/src/tool.rs",
    "vendor/airlock-plugin/src/bindings.rs" = "sdk/src/bindings.rs",
    "vendor/airlock-plugin/src/editor.rs" = "sdk/src/editor.rs",
    "vendor/airlock-plugin/src/error.rs" = "sdk/src/error.rs",
    "vendor/airlock-plugin/src/exec.rs" = "sdk/src/exec.rs",
    "vendor/airlock-plugin/src/exports.rs" = "sdk/src/exports.rs",
    "vendor/airlock-plugin/src/http.rs" = "sdk/src/http.rs",
    "vendor/airlock-plugin/src/kv.rs" = "sdk/src/kv.rs",
    "vendor/airlock-plugin/src/lib.rs" = "sdk/src/lib.rs",
    "vendor/airlock-plugin/src/log.rs" = "sdk/src/log.rs",
    "vendor/airlock-plugin/src/plugin.rs" = "sdk/src/plugin.rs",
    "vendor/airlock-plugin/src/run.rs" = "sdk/src/run.rs",
    "vendor/airlock-plugin/src/schema.rs" = "sdk/src/schema.rs",
    "vendor/airlock-plugin/src/testing/connected.rs" = "sdk/src/testing/connected.rs",
    "vendor/airlock-plugin/src/testing/mod.rs" = "sdk/src/testing/mod.rs",
    "vendor/airlock-plugin/src/workspace.rs" = "sdk/src/workspace.rs",
    "vendor/airlock-plugin/wit/exports.wit" = "sdk/wit/exports.wit",
    "vendor/airlock-plugin/wit/host.wit" = "sdk/wit/host.wit",
    "vendor/airlock-plugin/wit/plugin.wit" = "sdk/wit/plugin.wit",
    "vendor/airlock-plugin/wit/types.wit" = "sdk/wit/types.wit",
};

const PYTHON: &[File] = files! {
    ".gitignore" = "template/python/gitignore.in",
    "airlock_plugin.py" = "template/python/airlock_plugin.py",
    "app.py" = "template/python/app.py.in",
    "plugin.toml" = "template/plugin.toml.in",
    "tests/cases.json" = "template/tests/cases.json.in",
    "wit/deps/airlock/exports.wit" = "sdk/wit/exports.wit",
    "wit/deps/airlock/host.wit" = "sdk/wit/host.wit",
    "wit/deps/airlock/plugin.wit" = "sdk/wit/plugin.wit",
    "wit/deps/airlock/types.wit" = "sdk/wit/types.wit",
    "wit/world.wit" = "template/python/wit/world.wit",
};

/// The files of a plugin in this language.
pub(super) fn files(language: Language) -> &'static [File] {
    match language {
        Language::Rust => RUST,
        Language::Python => PYTHON,
    }
}

impl File {
    /// Its text for a plugin of this name.
    pub(super) fn text(&self, name: &str, tool: &str) -> String {
        self.text.replace("{{name}}", name).replace("{{tool}}", tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// What is under a folder of the repository's `plugins`, links followed.
    fn below(folder: &Path, into: &mut BTreeSet<String>, base: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, into, base);
            } else {
                into.insert(path.strip_prefix(base).unwrap().to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_file_of_the_sdk_goes_into_a_new_plugin() {
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/sdk");
        let mut there = BTreeSet::new();
        for part in ["src", "macros/src", "wit"] {
            below(&sdk.join(part), &mut there, &sdk);
        }
        let given = RUST.iter().filter_map(|file| file.path.strip_prefix("vendor/airlock-plugin/"));
        let given: BTreeSet<String> =
            given.filter(|path| !path.ends_with("Cargo.toml")).map(str::to_owned).collect();
        assert_eq!(given, there);
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for file in RUST.iter().chain(PYTHON) {
            assert!(!file.text("a-name", "a_name").contains("{{"), "{}", file.path);
        }
    }
}
