//! What others wrote and Airlock ships: under which licence, from where, how much, and what is known against it.
//!
//! Two of the checks ask somebody: the advisories of Rust's crates and those of npm. Where they cannot be reached, that
//! is said in a line, and nothing is counted.

use crate::components::cargo_program;
use crate::{cargo, in_repository, repository, vscode};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Pinned, so that a run today and one next year agree.
const CARGO_DENY: &str = "0.20.2";

/// Each has a lock file of its own.
const WORKSPACES: [(&str, &str); 4] = [
    ("Airlock", "Cargo.toml"),
    ("plugins", "plugins/Cargo.toml"),
    ("the tests' plugins", "tests/guests/Cargo.toml"),
    ("fuzz targets", "tests/fuzz/Cargo.toml"),
];

/// How many there may be, and what to do about one more.
const BUDGET: &str = "tests/xtask/dependency_budget.json";

/// What may be in the VS Code package. As `deny.toml` says for crates.
const NPM_LICENCES: [&str; 7] =
    ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];
/// Packages that are allowed with another one, and why.
const NPM_EXCEPTIONS: [(&str, &str); 3] = [
    // Only the program beside markdown-it uses it, which is not in the bundle.
    ("argparse", "PSF-2.0"),
    // The font of icons; its notice is in the package.
    ("@vscode/codicons", "CC-BY-4.0"),
    // Either; we take the second.
    ("dompurify", "(MPL-2.0 OR Apache-2.0)"),
];

/// A check: its name, and what is wrong, if something is.
pub(crate) enum Verdict {
    Good,
    Bad(String),
    /// Who would know cannot be asked from here.
    NotAsked(String),
}

/// Installs what the checks need.
pub(crate) fn set_up() -> Result<()> {
    cargo_program("cargo-deny", CARGO_DENY).map(drop)
}

/// All checks, in order.
pub(crate) fn checks() -> Result<Vec<(String, Verdict)>> {
    let mut verdicts = Vec::new();
    for (name, manifest) in WORKSPACES {
        let verdict = deny(manifest, &["licenses", "bans", "sources"])?;
        verdicts.push((format!("licences and sources of {name}"), verdict));
    }
    verdicts.push(("advisories".to_owned(), advisories()?));
    verdicts.push(("budget of crates".to_owned(), budget("crates of airlock", crates_of_airlock()?)?));
    let packages = npm_packages()?;
    verdicts.push(("licences of npm packages".to_owned(), npm_licences(&packages)));
    verdicts.push((
        "budget of npm packages".to_owned(),
        budget("npm packages of the extension", packages.len())?,
    ));
    verdicts.push(("npm audit".to_owned(), npm_audit()?));
    Ok(verdicts)
}

fn deny_command(manifest: &str) -> Result<Command> {
    let mut command = in_repository(&cargo_program("cargo-deny", CARGO_DENY)?);
    command.args(["--log-level", "error", "--manifest-path", manifest, "--config", "deny.toml"]);
    Ok(command)
}

fn deny(manifest: &str, checks: &[&str]) -> Result<Verdict> {
    let out = deny_command(manifest)?.args(["--locked", "check"]).args(checks).output()?;
    if out.status.success() {
        return Ok(Verdict::Good);
    }
    let told = String::from_utf8_lossy(&out.stderr);
    Ok(Verdict::Bad(format!(
        "{told}\ndeny.toml says what is allowed and why; take another crate, or argue there"
    )))
}

fn advisories() -> Result<Verdict> {
    let fetched = deny_command("Cargo.toml")?.args(["fetch", "db"]).output()?;
    if !fetched.status.success() {
        return Ok(Verdict::NotAsked("the database of advisories cannot be reached from here".to_owned()));
    }
    for (_, manifest) in WORKSPACES {
        if let bad @ Verdict::Bad(_) = deny(manifest, &["advisories"])? {
            return Ok(bad);
        }
    }
    Ok(Verdict::Good)
}

/// What is linked into the program, on the machine that most have.
fn crates_of_airlock() -> Result<usize> {
    let target = "x86_64-unknown-linux-gnu";
    let tree = ["tree", "--locked", "--package", "airlock", "--edges", "normal", "--prefix", "none"];
    let out = cargo().args(tree).args(["--target", target]).output()?;
    if !out.status.success() {
        bail!("cargo tree failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    Ok(count_crates(&String::from_utf8(out.stdout)?))
}

/// Lines of `name v1.2.3 (where from) (*)`, most of them many times.
fn count_crates(tree: &str) -> usize {
    let crates: BTreeSet<Vec<&str>> =
        tree.lines().filter(|line| !line.is_empty()).map(|line| line.split(' ').take(2).collect()).collect();
    crates.len()
}

fn budget(of: &str, count: usize) -> Result<Verdict> {
    let text = std::fs::read_to_string(repository().join(BUDGET))?;
    let budgets: Value = serde_json::from_str(&text).with_context(|| BUDGET.to_owned())?;
    let allowed = budgets[of].as_u64().with_context(|| format!("{BUDGET} says nothing of {of:?}"))?;
    if count as u64 <= allowed {
        return Ok(Verdict::Good);
    }
    Ok(Verdict::Bad(format!(
        "{count} {of}, and the budget is {allowed}: do without the new one, or switch off features that bring it; if it \
         is worth having, raise the number in {BUDGET} and say why in the commit"
    )))
}

/// The packages that the extension is bundled from, as its lock file has them: their names and licences.
fn npm_packages() -> Result<Vec<(String, String)>> {
    let lock = std::fs::read_to_string(repository().join("editors/vscode/package-lock.json"))?;
    let lock: Value = serde_json::from_str(&lock).context("editors/vscode/package-lock.json")?;
    Ok(shipped(&lock))
}

fn shipped(lock: &Value) -> Vec<(String, String)> {
    let none = serde_json::Map::new();
    let packages = lock["packages"].as_object().unwrap_or(&none);
    let is_shipped = |package: &Value| package["dev"] != true && package["devOptional"] != true;
    let named = packages.iter().filter(|(path, package)| !path.is_empty() && is_shipped(package));
    named
        .map(|(path, package)| {
            let name = path.rsplit("node_modules/").next().unwrap_or(path);
            (name.to_owned(), package["license"].as_str().unwrap_or("none").to_owned())
        })
        .collect()
}

fn npm_licences(packages: &[(String, String)]) -> Verdict {
    let is_allowed = |name: &str, licence: &str| {
        NPM_LICENCES.contains(&licence) || NPM_EXCEPTIONS.contains(&(name, licence))
    };
    let wrong: Vec<String> = packages
        .iter()
        .filter(|(name, licence)| !is_allowed(name, licence))
        .map(|(name, licence)| format!("{name} is licensed as {licence}"))
        .collect();
    if wrong.is_empty() {
        return Verdict::Good;
    }
    Verdict::Bad(format!("{}: take another package, or argue in supply_chain.rs", wrong.join("; ")))
}

/// Also what the extension is built with: who writes a bundler writes the bundle.
fn npm_audit() -> Result<Verdict> {
    let out = vscode::npm_in_extension()?.args(["audit", "--json", "--audit-level=high"]).output()?;
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    Ok(audited(&answer))
}

fn audited(answer: &Value) -> Verdict {
    let counts = &answer["metadata"]["vulnerabilities"];
    let Some(high) = counts["high"].as_u64().zip(counts["critical"].as_u64()).map(|(high, more)| high + more)
    else {
        return Verdict::NotAsked("the registry does not answer about advisories from here".to_owned());
    };
    if high == 0 {
        return Verdict::Good;
    }
    let named = answer["vulnerabilities"].as_object().map(|found| found.keys().cloned().collect::<Vec<_>>());
    Verdict::Bad(format!(
        "{high} high or critical, among {}: npm audit says more",
        named.unwrap_or_default().join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bad(verdict: Verdict) -> Option<String> {
        match verdict {
            Verdict::Good | Verdict::NotAsked(_) => None,
            Verdict::Bad(why) => Some(why),
        }
    }

    #[test]
    fn a_crate_counts_once_and_two_versions_of_it_twice() {
        assert_eq!(
            count_crates("a v1.0.0 (/w)\nb v1.0.0\nb v2.0.0\nb v1.0.0 (*)\n\nc v1.0.0 (proc-macro)\n"),
            4
        );
    }

    #[test]
    fn a_budget_that_is_passed_fails_with_what_to_do() {
        assert!(bad(budget("crates of airlock", 1).unwrap()).is_none());
        let why = bad(budget("crates of airlock", 100_000).unwrap()).unwrap();
        assert!(why.contains("raise the number"), "{why}");
        assert!(budget("nothing", 1).is_err());
    }

    #[test]
    fn only_what_is_shipped_is_looked_at_and_an_unknown_licence_fails() {
        let lock = json!({"packages": {
            "": {"license": "MIT"},
            "node_modules/preact": {"license": "MIT"},
            "node_modules/a/node_modules/@b/c": {"license": "GPL-3.0"},
            "node_modules/d": {},
            "node_modules/eslint": {"dev": true, "license": "GPL-3.0"},
        }});
        let packages = shipped(&lock);
        let names: Vec<_> = packages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["preact", "@b/c", "d"]);
        let why = bad(npm_licences(&packages)).unwrap();
        assert!(why.contains("@b/c is licensed as GPL-3.0; d is licensed as none"), "{why}");
        assert!(bad(npm_licences(&packages[..1])).is_none());
    }

    #[test]
    fn an_audit_that_is_not_answered_is_said_and_a_high_finding_fails() {
        assert!(matches!(audited(&json!({"message": "405"})), Verdict::NotAsked(_)));
        let counts = |high: u64| json!({"metadata": {"vulnerabilities": {"high": high, "critical": 0}}, "vulnerabilities": {"x": {}}});
        assert!(matches!(audited(&counts(0)), Verdict::Good));
        assert!(bad(audited(&counts(1))).unwrap().contains("among x"));
    }
}
