//! Runs a project's tests in the sandbox and tells only what failed: the model need not read the rest.

mod report;

use airlock_plugin::{Error, Result, exec, run, tool};
use report::Report;
use std::time::Duration;

/// Prints the command that runs the tests of the project that it is run in.
const FIND: &str = "if [ -f Cargo.toml ]; then echo cargo test --no-fail-fast; \
                    elif [ -f go.mod ]; then echo go test ./...; \
                    elif [ -f pytest.ini ] || [ -f conftest.py ]; then echo python3 -m pytest -q; \
                    elif compgen -G 'test*.py' >/dev/null; then echo python3 -m unittest discover; \
                    elif compgen -G 'tests/test*.py' >/dev/null; then echo python3 -m unittest discover -s tests; \
                    fi";

/// The host ends a call after 30 seconds: a command that takes longer should say so before.
const TESTS_MAX: Duration = Duration::from_secs(25);

/// Runs the project's tests in the sandbox and gives how many passed and failed, and the message of each failure. Use it
/// instead of running tests with bash: the output is much shorter.
#[tool(effects = ["exec"])]
fn run_tests(
    /// The command line that runs them; found out when left out (cargo, go, pytest, unittest).
    command: Option<String>,
) -> Result<Report> {
    let command = match command {
        Some(command) => command,
        None => found()?,
    };
    run::progress(&command);
    let outcome = exec::run(&command, TESTS_MAX)?;
    Ok(Report::of(command, &outcome))
}

fn found() -> Result<String> {
    let outcome = exec::run(FIND, Duration::from_secs(5))?;
    match outcome.output.trim() {
        "" => {
            Err(Error::not_found("how to run the tests is not clear from the files here: give the command"))
        }
        command => Ok(command.to_owned()),
    }
}

airlock_plugin::export!(tools: [run_tests]);

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_plugin::{Kind, testing::Host};

    #[test]
    fn the_command_is_found_out_and_run() {
        let host = Host::new().command(FIND, 0, "cargo test --no-fail-fast\n").command(
            "cargo test --no-fail-fast",
            0,
            "test result: ok. 3 passed; 0 failed; 0 ignored\n",
        );
        let report = host.run(|| run_tests(None)).unwrap();
        assert_eq!((report.passed, report.failed, report.exit_code), (3, 0, Some(0)));
        assert_eq!(host.progress(), ["cargo test --no-fail-fast"]);
    }

    #[test]
    fn a_project_that_is_not_known_needs_the_command() {
        let error = host_that_finds_nothing().run(|| run_tests(None)).unwrap_err();
        assert_eq!(*error.kind(), Kind::NotFound);
    }

    fn host_that_finds_nothing() -> Host {
        Host::new().command(FIND, 0, "")
    }
}
