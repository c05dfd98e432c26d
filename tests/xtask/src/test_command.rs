//! `cargo xtask test`: format, lints, docs, and every test of both workspaces, counted in one closing line.

use crate::supply_chain::{self, Verdict};
use crate::{cargo, components, repository, vscode};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Tests that only `--all` runs.
    left: usize,
}

/// Plugins have a workspace of their own: they are components, and tested natively.
const PLUGINS: [&str; 2] = ["--manifest-path", "plugins/Cargo.toml"];

/// Runs every test, those with `#[ignore]` only for `--all`; `true` when nothing failed.
pub(crate) fn run(all: bool, filter: Option<&str>) -> Result<bool> {
    let mut tally = Tally::default();
    components::set_up()?;
    if filter.is_none() {
        check("format", &["fmt", "--all", "--check"], &[], &mut tally)?;
        let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
        check("lints", &clippy, &[], &mut tally)?;
        let doc = ["doc", "--workspace", "--no-deps", "--quiet", "--document-private-items"];
        check("docs", &doc, &[("RUSTDOCFLAGS", "-D warnings")], &mut tally)?;
        check_plugins(&mut tally)?;
        let mut luacheck = Command::new("luacheck");
        luacheck.current_dir(repository().join("editors/nvim")).args(["--quiet", "lua"]);
        run_check("lua", &mut luacheck, &mut tally)?;
        for (name, mut command) in vscode::checks()? {
            run_check(name, &mut command, &mut tally)?;
        }
        check_supply_chain(&mut tally)?;
    }
    test(&[], all, filter, &mut tally)?;
    test(&PLUGINS, all, filter, &mut tally)?;
    if tally.left > 0 {
        println!("{} left to cargo xtask test --all", tally.left);
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(tally.failed == 0 && tally.passed > 0)
}

/// The same checks for plugins, and their lints also as what they are compiled for.
fn check_plugins(tally: &mut Tally) -> Result<()> {
    let of_plugins = |words: &[&'static str], then: &[&'static str]| [words, &PLUGINS, then].concat();
    check("format of plugins", &of_plugins(&["fmt"], &["--all", "--check"]), &[], tally)?;
    let clippy =
        of_plugins(&["clippy"], &["--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]);
    check("lints of plugins", &clippy, &[], tally)?;
    let components = ["--workspace", "--target", "wasm32-wasip2", "--quiet", "--", "-D", "warnings"];
    check("lints of components", &of_plugins(&["clippy"], &components), &[], tally)?;
    let doc = of_plugins(&["doc"], &["--package", "airlock-plugin", "--no-deps", "--quiet"]);
    check("docs of the SDK", &doc, &[("RUSTDOCFLAGS", "-D warnings")], tally)
}

fn check_supply_chain(tally: &mut Tally) -> Result<()> {
    for (name, verdict) in supply_chain::checks()? {
        match verdict {
            Verdict::Good => {
                println!("{name} ... ok");
                tally.passed += 1;
            }
            Verdict::Bad(why) => {
                println!("{name} ... FAILED\n{why}");
                tally.failed += 1;
            }
            Verdict::NotAsked(why) => println!("{name} ... not checked: {why}"),
        }
    }
    Ok(())
}

/// A step that is one check, counted as one test.
fn check(name: &str, arguments: &[&str], environment: &[(&str, &str)], tally: &mut Tally) -> Result<()> {
    run_check(name, cargo().args(arguments).envs(environment.iter().copied()), tally)
}

fn run_check(name: &str, command: &mut Command, tally: &mut Tally) -> Result<()> {
    let start = Instant::now();
    let status = command.status()?;
    let verdict = if status.success() { "ok" } else { "FAILED" };
    println!("{name} ... {verdict} ({:.1} s)", start.elapsed().as_secs_f32());
    if status.success() {
        tally.passed += 1
    } else {
        tally.failed += 1
    }
    Ok(())
}

/// `cargo test`, its output passed through and its result lines added up.
fn test(workspace: &[&str], all: bool, filter: Option<&str>, tally: &mut Tally) -> Result<()> {
    let mut cargo = cargo();
    if all {
        // What a test and others share looks at it: `tests/src/tier.rs`.
        cargo.env("AIRLOCK_TEST_ALL", "1");
    }
    let mut child = cargo
        .arg("test")
        .args(workspace)
        .args(["--workspace", "--no-fail-fast", "--quiet", "--"])
        .args(all.then_some("--include-ignored"))
        .args(filter)
        .env("AIRLOCK_TEST_CACHE", components::cache()?)
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().context("cargo test has a piped stdout")?;
    let failed_before = tally.failed;
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        println!("{line}");
        if let Some((passed, failed, left)) = result_line(&line) {
            tally.passed += passed;
            tally.failed += failed;
            tally.left += left;
        }
    }
    let status = child.wait()?;
    // A crash or a compile error fails without a result line.
    if !status.success() && tally.failed == failed_before {
        tally.failed += 1;
    }
    Ok(())
}

/// `test result: ok. 12 passed; 0 failed; 1 ignored; …` as (12, 0, 1).
fn result_line(line: &str) -> Option<(usize, usize, usize)> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count = |unit: &str| counts.split("; ").find_map(|part| part.strip_suffix(unit)?.trim().parse().ok());
    Some((count("passed")?, count("failed")?, count("ignored")?))
}

#[cfg(test)]
mod tests {
    use super::result_line;

    #[test]
    fn a_result_line_is_counted_and_nothing_else_is() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s";
        assert_eq!(result_line(line), Some((12, 3, 1)));
        assert_eq!(result_line("12 passed; 3 failed"), None);
        assert_eq!(result_line("test result: nonsense"), None);
    }
}
