//! Whether a component fits this version of the interface: read from its names, before anything is compiled.

use wasmparser::{Parser, Payload};

/// The interface's version that this server has.
pub const INTERFACE: &str = "0.1.0";

const PACKAGE: &str = "airlock:plugin";
const IMPORTS: [&str; 8] = ["types", "log", "run", "workspace", "editor", "exec", "http", "kv"];
const EXPORTS: [&str; 2] = ["tools", "commands"];
const WASI: [&str; 6] =
    ["wasi:cli", "wasi:clocks", "wasi:filesystem", "wasi:io", "wasi:random", "wasi:sockets"];

/// What a component imports and exports, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// What it needs.
    pub imports: Vec<String>,
    /// What it offers.
    pub exports: Vec<String>,
}

impl Names {
    /// Reads them from a component.
    pub fn read(component: &[u8]) -> Result<Self, String> {
        super::section::check_kind(component)?;
        let mut names = Self::default();
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(component) {
            let damaged = |error: wasmparser::BinaryReaderError| format!("it is damaged: {error}");
            match payload.map_err(damaged)? {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        names.imports.push(import.map_err(damaged)?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        names.exports.push(export.map_err(damaged)?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(names)
    }

    /// Whether it needs this interface of ours.
    pub fn needs(&self, interface: &str) -> bool {
        self.imports.iter().any(|name| *name == format!("{PACKAGE}/{interface}@{INTERFACE}"))
    }

    /// Whether this server can run it. The reason names what is missing and what to do.
    pub fn check(&self) -> Result<(), String> {
        let ours = |name: &&String| name.starts_with(&format!("{PACKAGE}/"));
        let unknown = |names: &[String], known: &[&str]| -> Vec<String> {
            let known =
                |name: &str| known.iter().any(|known| name == format!("{PACKAGE}/{known}@{INTERFACE}"));
            names.iter().filter(ours).filter(|name| !known(name)).cloned().collect()
        };
        let mut missing = unknown(&self.imports, &IMPORTS);
        missing.extend(unknown(&self.exports, &EXPORTS));
        if !missing.is_empty() {
            return Err(self.other_version(&missing));
        }
        if !self.exports.iter().any(|name| *name == format!("{PACKAGE}/tools@{INTERFACE}")) {
            return Err(format!(
                "it does not export {PACKAGE}/tools@{INTERFACE}, so it is no Airlock plugin: build it for the world \
                 `plugin` of wit/v0.1"
            ));
        }
        match self.imports.iter().find(|name| !is_ours(name) && !is_wasi(name)) {
            Some(name) if name.starts_with("wasi:http") => Err(format!(
                "it imports {name}, which plugins do not have: send requests with {PACKAGE}/http@{INTERFACE}, which \
                 asks for a grant"
            )),
            Some(name) if name.starts_with("wasi:") => Err(format!(
                "it imports {name}, which plugins do not have: they have WASI 0.2 without {}; build it for wasm32-wasip2",
                name.split('/').next().unwrap_or_default()
            )),
            Some(name) => Err(format!(
                "it imports {name}, which plugins do not have: compose it into the component, or leave it out"
            )),
            None => Ok(()),
        }
    }

    fn other_version(&self, missing: &[String]) -> String {
        let version = missing
            .iter()
            .find_map(|name| name.rsplit_once('@'))
            .map_or("an unknown one", |(_, version)| version);
        let advice = if version == INTERFACE {
            "update airlock, which may have them"
        } else {
            "update airlock, or build the plugin with the SDK for that version (wit/v0.1)"
        };
        format!(
            "it was built for version {version} of the interface {PACKAGE}, and this airlock has {INTERFACE}, in which \
             there is no {}: {advice}",
            missing.join(", ")
        )
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with(&format!("{PACKAGE}/"))
}

fn is_wasi(name: &str) -> bool {
    let Some((path, version)) = name.rsplit_once('@') else { return false };
    let package = path.split('/').next().unwrap_or_default();
    WASI.contains(&package) && version.starts_with("0.2.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(imports: &[&str], exports: &[&str]) -> Result<(), String> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Names { imports: own(imports), exports: own(exports) }.check()
    }

    const TOOLS: &str = "airlock:plugin/tools@0.1.0";

    #[test]
    fn what_this_version_has_is_accepted() {
        assert_eq!(check(&[], &[TOOLS]), Ok(()));
        let imports = ["airlock:plugin/types@0.1.0", "airlock:plugin/kv@0.1.0", "wasi:cli/environment@0.2.6"];
        assert_eq!(check(&imports, &[TOOLS, "airlock:plugin/commands@0.1.0"]), Ok(()));
    }

    #[test]
    fn another_version_is_named_with_what_is_missing_and_what_to_do() {
        for (imports, exports, words) in [
            (
                vec!["airlock:plugin/kv@0.2.0"],
                vec![TOOLS],
                ["0.2.0", "airlock:plugin/kv@0.2.0", "update airlock"],
            ),
            (
                vec![],
                vec!["airlock:plugin/tools@1.0.0"],
                ["1.0.0", "airlock:plugin/tools@1.0.0", "update airlock"],
            ),
            (
                vec!["airlock:plugin/mail@0.1.0"],
                vec![TOOLS],
                ["0.1.0", "airlock:plugin/mail@0.1.0", "update airlock"],
            ),
            (vec![], vec!["wasi:cli/run@0.2.0"], ["does not export", "tools@0.1.0", "wit/v0.1"]),
            (
                vec!["wasi:http/types@0.2.0"],
                vec![TOOLS],
                ["wasi:http/types@0.2.0", "airlock:plugin/http", "grant"],
            ),
            (
                vec!["wasi:cli/environment@0.3.0"],
                vec![TOOLS],
                ["wasi:cli/environment@0.3.0", "WASI 0.2", "wasm32-wasip2"],
            ),
            (vec!["acme:db/rows"], vec![TOOLS], ["acme:db/rows", "do not have", "compose"]),
        ] {
            let error = check(&imports, &exports).unwrap_err();
            for word in words {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
    }
}
