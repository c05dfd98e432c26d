//! The licences of all that is compiled in: crates of the server and the guest, and modules of the VS Code extension.

use crate::{cargo, repository};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How the names of files with licences begin, in upper case.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// What is compiled in and not a package of a registry.
const RUST: &str = "The standard library of Rust, https://www.rust-lang.org (MIT OR Apache-2.0)";

/// A package that is part of what we give away.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    licence: String,
    from: String,
}

/// All of it as one text. Packages with the same words are named together, above them.
pub(super) fn text() -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<Package>> = BTreeMap::new();
    let mut without = BTreeSet::new();
    for (package, folder) in crates()? {
        let found = licences_in(&folder)?;
        if found.is_empty() {
            without.insert(package);
            continue;
        }
        let words = found.join("\n\n");
        texts.entry(words).or_default().insert(package);
    }
    let mut out = format!("Airlock holds the work of others, under these licences.\n\n{RUST}\n");
    if !without.is_empty() {
        out.push_str("\nThese packages hold no text of their licence. Its words are among those below.\n\n");
    }
    for package in &without {
        out.push_str(&format!("{}\n", line(package)));
    }
    let mut parts: Vec<_> = texts.into_iter().collect();
    parts.sort_by(|a, b| a.1.cmp(&b.1));
    for (words, packages) in parts {
        out.push_str(&format!("\n{}\n", "=".repeat(100)));
        for package in &packages {
            out.push_str(&format!("{}\n", line(package)));
        }
        out.push_str(&format!("{}\n\n{}\n", "-".repeat(100), words.trim()));
    }
    out.push_str(&format!("\n{}\n\n{}", "=".repeat(100), of_the_extension()?));
    Ok(out)
}

fn line(package: &Package) -> String {
    let Package { name, version, licence, from } = package;
    format!("{name} {version} ({licence}) {from}").trim_end().to_owned()
}

/// The crates that the server and the guest are made of, each with its folder. Not what only builds or tests them.
fn crates() -> Result<BTreeMap<Package, PathBuf>> {
    let platform = format!("--filter-platform={}-unknown-linux-gnu", std::env::consts::ARCH);
    let metadata = cargo().args(["metadata", "--format-version=1", "--locked", &platform]).output()?;
    ensure!(metadata.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        let list = list.as_array().cloned().unwrap_or_default();
        list.into_iter().map(|entry| (entry["id"].as_str().unwrap_or_default().to_owned(), entry)).collect()
    };
    let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
    let is_ours = |id: &&String| {
        ["airlock", "airlock-guest"].contains(&packages[*id]["name"].as_str().unwrap_or_default())
    };
    let mut waiting: Vec<String> = packages.keys().filter(is_ours).cloned().collect();
    ensure!(waiting.len() == 2, "server and guest are not where they were");
    let mut seen = BTreeSet::new();
    let mut found = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let package = packages.get(&id).with_context(|| format!("{id} is not among the packages"))?;
        if !package["source"].is_null() {
            let folder = Path::new(package["manifest_path"].as_str().unwrap_or_default())
                .parent()
                .unwrap_or(Path::new(""));
            found.insert(described(package)?, folder.to_owned());
        }
        let needs = nodes.get(&id).and_then(|node| node["deps"].as_array().cloned()).unwrap_or_default();
        waiting.extend(
            needs
                .iter()
                .filter(|need| is_compiled_in(need))
                .filter_map(|need| Some(need["pkg"].as_str()?.to_owned())),
        );
    }
    Ok(found)
}

/// Not for tests, and not for build scripts.
fn is_compiled_in(need: &Value) -> bool {
    need["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
}

/// Those of the VS Code extension, as its build gathered them.
fn of_the_extension() -> Result<String> {
    let file = repository().join("editors/vscode/dist/notices.txt");
    std::fs::read_to_string(&file).with_context(|| format!("{}: package the extension first", file.display()))
}

fn described(package: &Value) -> Result<Package> {
    let field = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    let (name, version) = (field("name"), field("version"));
    let licence = match package["license"].as_str().or(package["license_file"].as_str()) {
        Some(licence) => licence.to_owned(),
        None => bail!("{name} {version} names no licence: find out whether we may give it away"),
    };
    Ok(Package { name, version, licence, from: field("repository") })
}

/// The texts of the licences in a package's folder, in the order of their files' names.
fn licences_in(folder: &Path) -> Result<Vec<String>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .flatten()
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().to_uppercase();
            NAMES.iter().any(|begin| name.starts_with(begin)) && entry.path().is_file()
        })
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files.iter().map(|file| Ok(String::from_utf8_lossy(&std::fs::read(file)?).trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_compiled_in_has_a_licence_and_nearly_all_of_it_its_words() {
        let crates = crates().expect("every crate has a licence");
        assert!(crates.len() > 150, "{}", crates.len());
        assert!(crates.keys().any(|package| package.name == "wasmtime"), "what the server needs");
        assert!(!crates.keys().any(|package| package.name == "proptest"), "what only tests need");
        assert!(!crates.keys().any(|package| package.name == "jni"), "what only other systems need");
        let with = crates.values().filter(|folder| licences_in(folder).is_ok_and(|found| !found.is_empty()));
        assert!(with.count() * 10 > crates.len() * 9);
    }
}
