//! The project's own commands, a file each.
#![allow(
    clippy::disallowed_methods,
    reason = "the walls are the server's; this runs on a developer's machine"
)]

mod bench_command;
mod claude_code;
mod components;
mod demo_command;
mod dist;
mod fuzz_command;
mod lab;
mod neovim;
mod other_editors;
mod soak_command;
mod supply_chain;
mod test_command;
mod vscode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Airlock's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play the main job for real, without a key: a task in a real sandbox, reviewed and accepted in the terminal
    Demo {
        /// Answer the questions itself, as without a terminal
        #[arg(long)]
        unattended: bool,
    },
    /// Set up what the tests need, then check format, lints and docs and run every test
    Test {
        /// Also run the tests that take too long to run before every change
        #[arg(long)]
        all: bool,
        /// Run only tests whose name contains this
        filter: Option<String>,
    },
    /// Measure the release build against its goals; fails when one is missed
    Bench {
        /// Compare with this release build of an earlier commit; fails when a median is worse than 1.1 times its
        #[arg(long, value_name = "BINARY")]
        against: Option<PathBuf>,
    },
    /// Give every property random bytes until the time is over; fails when one does not hold
    Fuzz {
        /// How long each target runs
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Run only this one
        target: Option<String>,
    },
    /// Keep one server busy with sessions, cancels and crashes, then see that nothing leaked and nothing was lost
    Soak {
        /// How long it is kept busy
        #[arg(long, default_value_t = 20.0)]
        minutes: f64,
        /// Make the same choices again
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Make a release archive in target/dist, for machines without Rust
    Dist {
        /// Pack this one, which was built elsewhere, instead of building it here
        #[arg(long, value_name = "FILE")]
        binary: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Demo { unattended } => demo_command::run(unattended),
        Command::Test { all, filter } => test_command::run(all, filter.as_deref()),
        Command::Bench { against } => bench_command::run(against.as_deref()),
        Command::Fuzz { seconds, target } => fuzz_command::run(seconds, target.as_deref()),
        Command::Soak { minutes, seed } => soak_command::run(minutes, seed),
        Command::Dist { binary } => dist::run(binary.as_deref()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("tests/xtask is two levels down")
        .to_owned()
}

/// Builds a program of the tests and Airlock itself for release, and gives the command that starts it.
fn release_program(name: &str) -> anyhow::Result<Option<std::process::Command>> {
    // Both at once, so that what they share is built once.
    let build = ["build", "--release", "--quiet", "--workspace", "--bin", name, "--bin", "airlock"];
    if !cargo().args(build).status()?.success() {
        return Ok(None);
    }
    let release = target_folder()?.join("release");
    let mut program = std::process::Command::new(release.join(name));
    program.env("AIRLOCK_BIN", release.join("airlock"));
    Ok(Some(program))
}

/// Where cargo builds to.
fn target_folder() -> anyhow::Result<PathBuf> {
    // We are `target/debug/xtask`.
    let ourselves = std::env::current_exe()?;
    Ok(ourselves.ancestors().nth(2).context("a program is in the target folder")?.to_owned())
}

/// The cargo that runs us, so that every step uses the same toolchain.
fn cargo() -> std::process::Command {
    in_repository(Path::new(&std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())))
}

/// A program at the top of the repository, that builds as a developer's own cargo does.
fn in_repository(program: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.current_dir(repository());
    // What `cargo run` tells of this package. Build scripts of dependencies look at it, and with other values than a
    // developer's own cargo has, they and all that needs them would be built again.
    let ours = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(ours)) {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_of_ours_that_a_document_names_exists() {
        let commands = Arguments::command();
        for name in
            ["README.md", "CONTRIBUTING.md", "server/docs/architecture.md", "editors/vscode/README.md"]
        {
            let text = std::fs::read_to_string(repository().join(name)).expect(name);
            let named = text.split("cargo xtask ").skip(1);
            for word in
                named.filter_map(|rest| rest.split(|letter: char| !letter.is_ascii_lowercase()).next())
            {
                assert!(commands.find_subcommand(word).is_some(), "{name} names `cargo xtask {word}`");
            }
        }
        let readme = std::fs::read_to_string(repository().join("README.md")).expect("a README");
        for first in ["cargo xtask demo", "cargo xtask test"] {
            assert!(readme.contains(first), "the README begins with {first}");
        }
    }
}
