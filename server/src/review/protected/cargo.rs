//! Cargo: what a language's server builds and runs as soon as a folder is open. These are build scripts and procedural macros, and
//! whatever they are built with.
//!
//! A procedural macro is its whole crate: each of its modules is loaded into the compiler. The same is true of the libraries
//! that it, or a build script, uses by path. So all code of such crates counts, and not only their first file.

use super::key;
use super::manifests::of_toml;
use super::scripts::strings;
use super::search::Search;
use crate::limits::PROTECTED_PACKAGES_MAX;
use crate::patterns::Patterns;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Marks what the packages in these folders run and, if it is asked for, those that are in one workspace with them.
pub(super) fn follow(search: &mut Search<'_>, folders: BTreeSet<PathBuf>, with_members: bool) {
    let mut packages = Packages::default();
    let mut waiting: Vec<(PathBuf, bool)> = Vec::new();
    for folder in folders {
        for manifest in packages.of(search, &folder).iter() {
            packages.inherit(search, &folder, manifest);
            if with_members {
                let members = packages.members(search, &folder, manifest);
                waiting.extend(members.into_iter().map(|member| (member, false)));
            }
        }
        waiting.push((folder, false));
    }
    let mut done = HashSet::new();
    while let Some((folder, runs)) = waiting.pop() {
        if packages.looked > PROTECTED_PACKAGES_MAX {
            break;
        }
        if !done.insert((folder.clone(), runs)) {
            continue;
        }
        if runs {
            search.name_rust(&folder.join("src"));
        }
        for manifest in packages.of(search, &folder).iter() {
            build_scripts(search, &folder, manifest);
            let runs = runs || is_macro(manifest);
            if runs {
                crate_of(search, &folder, manifest);
            }
            let tables =
                if runs { &["build-dependencies", "dependencies"][..] } else { &["build-dependencies"] };
            let used = packages.uses(search, &folder, manifest, tables);
            waiting.extend(used.into_iter().map(|used| (used, true)));
        }
    }
    if packages.looked > PROTECTED_PACKAGES_MAX {
        // What would have been found last isn't known.
        search.name_rust(Path::new(""));
    }
}

#[derive(Default)]
struct Packages {
    manifests: HashMap<PathBuf, Rc<Vec<Value>>>,
    /// The folders of packages that a workspace names for its members.
    inherited: HashMap<String, PathBuf>,
    /// Manifests and folders that were looked at.
    looked: usize,
}

impl Packages {
    /// The manifest in a folder, as the user and as the agent have it.
    fn of(&mut self, search: &mut Search<'_>, folder: &Path) -> Rc<Vec<Value>> {
        if let Some(known) = self.manifests.get(folder) {
            return Rc::clone(known);
        }
        self.looked += 1;
        if self.looked > PROTECTED_PACKAGES_MAX {
            return Rc::default();
        }
        let texts = search.texts(&folder.join("Cargo.toml")).unwrap_or_else(|| {
            search.name_folder(folder);
            Vec::new()
        });
        let manifests = Rc::new(texts.iter().filter_map(|text| of_toml(text)).collect());
        self.manifests.insert(folder.to_owned(), Rc::clone(&manifests));
        manifests
    }

    fn inherit(&mut self, search: &Search<'_>, folder: &Path, manifest: &Value) {
        let table = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
        for (name, used) in table.and_then(Value::as_object).into_iter().flatten() {
            if let Some(path) = path(search, folder, used) {
                self.inherited.insert(name.clone(), path);
            }
        }
    }

    /// The folders of packages that these tables name by path.
    fn uses(&self, search: &Search<'_>, folder: &Path, manifest: &Value, tables: &[&str]) -> Vec<PathBuf> {
        let targets =
            manifest.get("target").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
        let places = std::iter::once(manifest).chain(targets);
        let tables = places.flat_map(|place| tables.iter().filter_map(|table| place.get(table)?.as_object()));
        let used = tables.flatten().filter_map(|(name, used)| match used.get("workspace") {
            Some(_) => self.inherited.get(name).cloned(),
            None => path(search, folder, used),
        });
        used.collect()
    }

    /// The folders of a workspace's members.
    fn members(&mut self, search: &Search<'_>, folder: &Path, manifest: &Value) -> Vec<PathBuf> {
        let members = manifest.get("workspace").and_then(|workspace| workspace.get("members"));
        let mut found = Vec::new();
        for member in members.into_iter().flat_map(strings) {
            let mut folders = vec![folder.to_owned()];
            for name in member.split('/').filter(|name| !matches!(*name, "" | ".")) {
                folders = folders.iter().flat_map(|folder| self.step(search, folder, name)).collect();
            }
            found.extend(folders);
        }
        found
    }

    /// The folder of this name, or those that a wildcard finds.
    fn step(&mut self, search: &Search<'_>, folder: &Path, name: &str) -> Vec<PathBuf> {
        if !name.contains(['*', '?', '[']) {
            return search.meant(folder, name).into_iter().collect();
        }
        self.looked += 1;
        if self.looked > PROTECTED_PACKAGES_MAX {
            return Vec::new();
        }
        let (pattern, _) = Patterns::parse([name]);
        let names = search.names(folder).unwrap_or_default().into_iter().map(|(name, _)| name);
        let fits = names.filter(|name| pattern.have(&key(Path::new(name))));
        fits.map(|name| folder.join(name)).collect()
    }
}

fn path(search: &Search<'_>, folder: &Path, used: &Value) -> Option<PathBuf> {
    search.meant(folder, used.get("path")?.as_str()?)
}

/// `build.rs` is protected by its name.
fn build_scripts(search: &mut Search<'_>, folder: &Path, manifest: &Value) {
    let packages = ["package", "project"].iter().filter_map(|table| manifest.get(table)?.get("build"));
    for script in packages.flat_map(strings).collect::<Vec<_>>() {
        let Some(script) = search.meant(folder, &script) else { continue };
        search.name(&script);
        // Its modules are beside it, where that folder is nothing else.
        if let Some(beside) =
            script.parent().filter(|beside| *beside != folder && *beside != folder.join("src"))
        {
            search.name_rust(beside);
        }
    }
}

fn is_macro(manifest: &Value) -> bool {
    let Some(library) = manifest.get("lib") else { return false };
    let says = |key: &str| library.get(key).is_some_and(|value| *value == Value::Bool(true));
    let kinds = ["crate-type", "crate_type"].iter().filter_map(|key| library.get(key));
    says("proc-macro") || says("proc_macro") || kinds.flat_map(strings).any(|kind| kind == "proc-macro")
}

/// Marks all code of a crate that runs while others are built.
fn crate_of(search: &mut Search<'_>, folder: &Path, manifest: &Value) {
    search.name_rust(&folder.join("src"));
    let library = manifest.get("lib").and_then(|library| library.get("path")).and_then(Value::as_str);
    if let Some(library) = library.and_then(|library| search.meant(folder, library)) {
        search.name(&library);
        if let Some(beside) = library.parent() {
            search.name_rust(beside);
        }
    }
}
