//! `cargo xtask fuzz`: every fuzz target for a while, two at a time, each with a line on what came of it.
//!
//! What a run finds to be worth keeping stays in `target/fuzz/corpus` and is where the next run begins. An input that
//! breaks a property stays in `target/fuzz/findings`.

use crate::{components, in_repository, repository};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pinned, so that a run today and one next year agree.
const CARGO_FUZZ: &str = "0.13.2";

/// So that the machine stays usable.
const AT_ONCE: usize = 2;

/// No input may take longer, nor more memory.
const INPUT_MAX_S: u32 = 20;
const MEMORY_MAX_MIB: u32 = 2048;

/// Runs the targets, or one of them; `true` when nothing was found.
pub(crate) fn run(seconds: u32, only: Option<&str>) -> Result<bool> {
    let targets: Vec<String> =
        targets()?.into_iter().filter(|name| only.is_none_or(|only| only == name)).collect();
    if targets.is_empty() {
        bail!("there is no such target; there are {}", self::targets()?.join(", "));
    }
    build(only)?;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(name) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let held = match fuzz(name, seconds) {
                        Ok(Outcome { line, held }) => {
                            println!("{name}: {line}");
                            held
                        }
                        Err(error) => {
                            println!("{name}: FAILED: {error:#}");
                            false
                        }
                    };
                    *found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += usize::from(!held);
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    println!("{} targets, {found} with a finding", targets.len());
    Ok(found == 0)
}

fn targets() -> Result<Vec<String>> {
    let folder = repository().join("tests/fuzz/fuzz_targets");
    let names = std::fs::read_dir(&folder)?.map(|file| Ok(file?.path()));
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = names.collect::<Result<Vec<_>>>()?.into_iter().filter_map(stem).collect();
    names.sort_unstable();
    Ok(names)
}

fn home() -> PathBuf {
    repository().join("target/fuzz")
}

/// Compiles the targets. There is no sanitizer: nothing here is unsafe, and without one a stable compiler will do.
fn build(only: Option<&str>) -> Result<()> {
    let program = components::cargo_program("cargo-fuzz", CARGO_FUZZ)?;
    eprintln!("building the fuzz targets; the first time this takes some minutes");
    let status = in_repository(&program)
        .args(["fuzz", "build", "--fuzz-dir", "tests/fuzz", "--sanitizer", "none", "--codegen-units", "16"])
        // What is fuzzed is what is shipped.
        .arg("--no-cfg-fuzzing")
        .arg("--target-dir")
        .arg(home())
        .args(only)
        .status()
        .context("cannot start cargo-fuzz")?;
    if !status.success() {
        bail!("the fuzz targets cannot be built");
    }
    Ok(())
}

struct Outcome {
    line: String,
    held: bool,
}

fn fuzz(name: &str, seconds: u32) -> Result<Outcome> {
    let program = home().join(format!("{}-unknown-linux-gnu/release/{name}", std::env::consts::ARCH));
    let [found, findings, logs] = ["corpus", "findings", "logs"].map(|folder| home().join(folder));
    let (found, log) = (found.join(name), logs.join(format!("{name}.log")));
    for folder in [&found, &findings, &logs] {
        std::fs::create_dir_all(folder)?;
    }
    let log_file = std::fs::File::create(&log)?;
    // Some write files, and a disk would be most of what they wait for.
    let memory = Path::new("/dev/shm");
    let temporary = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let status = Command::new("nice")
        .env("TMPDIR", temporary)
        .args(["-n", "10"])
        .arg(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_MAX_S}"))
        .arg(format!("-rss_limit_mb={MEMORY_MAX_MIB}"))
        .arg(format!("-artifact_prefix={}/{name}-", findings.display()))
        // New inputs go into the first folder; the second is only read.
        .arg(&found)
        .arg(repository().join("tests/fuzz/corpus").join(name))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log_file)
        .status()?;
    let told = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    Ok(outcome(&told, status.success(), &log))
}

/// What libFuzzer told, in a line.
fn outcome(told: &str, well: bool, log: &Path) -> Outcome {
    let coverage = told.lines().rev().find_map(|line| line.split_once(" cov: ")?.1.split(' ').next());
    let coverage = coverage.unwrap_or("0");
    // `Done 812 runs in 11 second(s)`
    let done = told.lines().rev().find_map(|line| line.strip_prefix("Done "));
    if let (true, Some((runs, time))) = (well, done.and_then(|done| done.split_once(" runs in "))) {
        let seconds = time.split(' ').next().unwrap_or("?");
        let line = format!("{runs} executions in {seconds} s, coverage {coverage}, no finding");
        return Outcome { line, held: true };
    }
    let input =
        told.lines().rev().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path));
    let input = input.unwrap_or("no input was kept");
    let line = format!("FOUND {input} (coverage {coverage}; what happened is in {})", log.display());
    Outcome { line, held: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_a_line_and_a_finding_by_its_input() {
        let log = Path::new("/logs/a.log");
        let well =
            "#2 INITED cov: 10 ft: 11\n#9 NEW    cov: 12 ft: 13 corp: 3/9b\nDone 812 runs in 11 second(s)\n";
        let outcome = super::outcome(well, true, log);
        assert_eq!(
            (outcome.line.as_str(), outcome.held),
            ("812 executions in 11 s, coverage 12, no finding", true)
        );
        let badly =
            "#9 NEW    cov: 12 ft: 13\npanicked\nartifact_prefix='/f/'; Test unit written to /f/crash-1\n";
        let outcome = super::outcome(badly, false, log);
        assert!(!outcome.held && outcome.line.starts_with("FOUND /f/crash-1 "), "{}", outcome.line);
        assert!(!super::outcome("", false, log).held, "one that did not even start");
        assert!(!super::outcome(badly, true, log).held, "one that did not come to its end");
    }
}
