//! What package managers run by themselves, and the files that it names.

use super::manifests::PACKAGE;
use super::words::words;
use serde_json::Value;
use std::collections::BTreeMap;

/// What npm and its kin run on every installation, and on a commit's way.
const NPM: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "dependencies",
    "prepare",
    "preprepare",
    "postprepare",
    "prepublish",
];

/// The scripts of a manifest that run by themselves, and those that they start.
pub(super) fn run_by_themselves(name: &str, manifest: &Value) -> BTreeMap<String, String> {
    let is_event = |script: &str| match name {
        "package.json" => NPM.contains(&script),
        "composer.json" => script.starts_with("pre-") || script.starts_with("post-"),
        _ => false,
    };
    let Some(scripts) = manifest.get("scripts").and_then(Value::as_object) else {
        return BTreeMap::new();
    };
    let mut waiting: Vec<&str> =
        scripts.keys().map(String::as_str).filter(|script| is_event(script)).collect();
    let mut found = BTreeMap::new();
    while let Some(script) = waiting.pop() {
        let Some(runs) = scripts.get(script).filter(|_| !found.contains_key(script)) else { continue };
        let runs = strings(runs).join("\n");
        // Any word may be the name of another one, whatever starts it. That runs what is before and after it, too.
        let others = words(&runs).map(|word| word.trim_start_matches('@'));
        let others = others.flat_map(|word| ["", "pre", "post"].map(|when| format!("{when}{word}")));
        let others = others.filter_map(|other| scripts.get_key_value(&other));
        waiting.extend(others.map(|(other, _)| other.as_str()));
        found.insert(script.to_owned(), runs);
    }
    found
}

/// What of a manifest names files that are run, or loaded by what runs: commands, and paths.
pub(super) fn naming(name: &str, manifest: &Value) -> Vec<String> {
    match name {
        "package.json" => {
            let places = PACKAGE.iter().filter_map(|place| manifest.get(place.first()?));
            let mut all: Vec<String> = places.flat_map(strings).collect();
            all.extend(run_by_themselves(name, manifest).into_values());
            all
        }
        "composer.json" => run_by_themselves(name, manifest).into_values().collect(),
        _ => python(manifest),
    }
}

/// Checkers that editors start load these, and a build its backend.
fn python(manifest: &Value) -> Vec<String> {
    let tool = |name: &str| manifest.get("tool").and_then(|tools| tools.get(name));
    let mypy = ["plugins", "python_executable"].iter().filter_map(|key| tool("mypy")?.get(key));
    let pylint = tool("pylint").into_iter().flat_map(|pylint| deep(pylint, &["load-plugins", "init-hook"]));
    let pytest = tool("pytest").into_iter().flat_map(|pytest| deep(pytest, &["addopts"]));
    let mut all: Vec<String> = mypy.chain(pylint).chain(pytest).flat_map(strings).collect();
    // A module is named with dots.
    let modules: Vec<String> = all
        .iter()
        .flat_map(|text| words(text))
        .filter(|word| !word.contains('/'))
        .map(|word| word.replace('.', "/"))
        .collect();
    all.extend(modules);
    all
}

/// The values of these keys, at one depth or another.
fn deep<'v>(value: &'v Value, keys: &[&str]) -> Vec<&'v Value> {
    let Some(table) = value.as_object() else { return Vec::new() };
    let (found, others): (Vec<_>, Vec<_>) = table.iter().partition(|(key, _)| keys.contains(&key.as_str()));
    let deeper = others.into_iter().flat_map(|(_, value)| deep(value, keys));
    found.into_iter().map(|(_, value)| value).chain(deeper).collect()
}

/// The folders in which a build's backend is, and the module that it is.
pub(super) fn backend(manifest: &Value) -> Option<(Vec<String>, String)> {
    let system = manifest.get("build-system")?;
    let module = system.get("build-backend")?.as_str()?.split([':', '.']).next()?;
    Some((strings(system.get("backend-path")?), module.to_owned()))
}

/// All texts in a value.
pub(super) fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(table) => table.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_an_installation_runs_is_followed_through_other_scripts() {
        let manifest = json!({"scripts": {
            "prepare": "npm run -s build && husky", "build": "node tools/build.mjs", "prebuild": "x", "test": "y",
            "loop": "npm run loop"
        }});
        let found = run_by_themselves("package.json", &manifest);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["build", "prebuild", "prepare"]);
        let manifest = json!({"scripts": {"post-install-cmd": ["@a", "php x.php"], "a": "b", "test": "c"}});
        let found = run_by_themselves("composer.json", &manifest);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["a", "post-install-cmd"]);
    }

    #[test]
    fn checkers_and_backends_of_python_are_named() {
        let manifest = json!({
            "build-system": {"build-backend": "backend.sub:Class", "backend-path": ["_build"]},
            "tool": {
                "mypy": {"plugins": ["tools/my.py", "a.b"]},
                "pylint": {"main": {"load-plugins": "checks.own", "disable": ["C0111"]}},
                "pytest": {"ini_options": {"addopts": "-p helpers.plugin", "testpaths": ["tests"]}}
            }
        });
        let named = naming("pyproject.toml", &manifest);
        for name in ["tools/my.py", "a/b", "checks/own", "helpers/plugin"] {
            assert!(named.iter().any(|text| text == name), "{name} in {named:?}");
        }
        assert!(!named.iter().any(|text| text.contains("C0111") || text == "tests"), "{named:?}");
        assert_eq!(backend(&manifest), Some((vec!["_build".to_owned()], "backend".to_owned())));
    }
}
