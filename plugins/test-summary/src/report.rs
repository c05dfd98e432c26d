//! What the output of tests says: cargo, go, pytest and unittest, told by their own words.

use airlock_plugin::{data, exec::Outcome};

const FAILURES_MAX: usize = 20;
const MESSAGE_MAX_CHARS: usize = 1500;
const TAIL_MAX_CHARS: usize = 2000;

/// What came of the tests.
#[data]
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) command: String,
    pub(crate) exit_code: Option<i32>,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) failures: Vec<Failure>,
    /// The end of the output, when it says that something failed and we do not know what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
}

/// A test that failed.
#[data]
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) name: String,
    pub(crate) message: String,
}

impl Report {
    pub(crate) fn of(command: String, outcome: &Outcome) -> Self {
        let output = &outcome.output;
        let readers = [cargo, go, pytest, unittest];
        let mut failures =
            readers.iter().map(|read| read(output)).find(|found| !found.is_empty()).unwrap_or_default();
        let counted = output.lines().map(|line| counts(line.trim()));
        let (mut passed, mut failed) = counted.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1));
        failed = failed.max(failures.len());
        if output.lines().any(|line| line.starts_with("Ran ")) {
            // unittest counts all that ran.
            passed = passed.saturating_sub(failed);
        }
        failures.truncate(FAILURES_MAX);
        let unclear = !outcome.success() && failures.is_empty();
        let output = unclear.then(|| tail(output, TAIL_MAX_CHARS));
        Self { command, exit_code: outcome.exit_code, passed, failed, failures, output }
    }
}

/// How many passed and failed, as a closing line says it.
fn counts(line: &str) -> (usize, usize) {
    let before = |words: &[&str]| {
        let parts = line.split([',', ';', '.', '(', ')', '=']).map(str::trim);
        let count =
            |part: &str| words.iter().find_map(|word| part.strip_suffix(word)?.trim().parse::<usize>().ok());
        parts.filter_map(count).sum::<usize>()
    };
    if line.starts_with("test result: ") {
        return (before(&["passed"]), before(&["failed"]));
    }
    // pytest closes with "1 failed, 2 passed in 0.12s", between equal signs or not.
    if let Some((summary, _)) = line.trim_matches([' ', '=']).rsplit_once(" in ")
        && (summary.contains(" passed") || summary.contains(" failed"))
    {
        let count = |word: &str| {
            let part = summary.split(", ").find_map(|part| part.strip_suffix(word));
            part.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
        };
        return (count(" passed"), count(" failed"));
    }
    if line.starts_with("--- PASS: ") {
        return (1, 0);
    }
    if let Some(ran) = line.strip_prefix("Ran ").and_then(|rest| rest.split(' ').next()) {
        return (ran.parse().unwrap_or_default(), 0);
    }
    (0, 0)
}

/// `---- name stdout ----`, and what follows.
fn cargo(output: &str) -> Vec<Failure> {
    blocks(
        output,
        |line| line.strip_prefix("---- ")?.strip_suffix(" stdout ----").map(str::to_owned),
        |line| line == "failures:" || line.starts_with("test result: "),
    )
}

/// `--- FAIL: Name (0.00s)`, and what is indented below it.
fn go(output: &str) -> Vec<Failure> {
    blocks(
        output,
        |line| Some(line.trim().strip_prefix("--- FAIL: ")?.split(' ').next()?.to_owned()),
        |line| line.starts_with("FAIL") || line.starts_with("ok ") || line.trim().starts_with("--- "),
    )
}

/// `FAILED path::name - message`, of the short summary.
fn pytest(output: &str) -> Vec<Failure> {
    let failed = output.lines().filter_map(|line| line.strip_prefix("FAILED "));
    failed
        .filter(|rest| rest.contains("::"))
        .map(|rest| {
            let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
            Failure { name: name.to_owned(), message: message.to_owned() }
        })
        .collect()
}

/// `FAIL: name (place)` or `ERROR: …`, and the traceback that follows.
fn unittest(output: &str) -> Vec<Failure> {
    blocks(
        output,
        |line| line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")).map(str::to_owned),
        |line| line.starts_with("=====") || line.starts_with("Ran "),
    )
}

/// Failures that begin with a line that names them and go on until the next one, or a line that ends them.
fn blocks(output: &str, name: impl Fn(&str) -> Option<String>, ends: impl Fn(&str) -> bool) -> Vec<Failure> {
    let mut failures = Vec::<Failure>::new();
    let mut open = false;
    for line in output.lines() {
        if let Some(name) = name(line) {
            failures.push(Failure { name, message: String::new() });
            open = true;
        } else if ends(line) {
            open = false;
        } else if let (true, Some(failure)) = (open, failures.last_mut()) {
            failure.message.push_str(line);
            failure.message.push('\n');
        }
    }
    for failure in &mut failures {
        failure.message = tail(failure.message.trim().trim_matches('-').trim(), MESSAGE_MAX_CHARS);
    }
    failures
}

/// The end of a text: what went wrong is mostly said last.
fn tail(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    let rest: String = text.chars().skip(count.saturating_sub(chars_max)).collect();
    if count > chars_max { format!("…{rest}") } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(exit_code: i32, output: &str) -> Report {
        Report::of(
            "test".to_owned(),
            &Outcome { exit_code: Some(exit_code), output: output.to_owned(), cut: false },
        )
    }

    fn told(report: &Report) -> (usize, usize, Vec<(&str, &str)>) {
        let failures =
            report.failures.iter().map(|failure| (failure.name.as_str(), failure.message.as_str()));
        (report.passed, report.failed, failures.collect())
    }

    #[test]
    fn cargo_is_read() {
        let output = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\n\
                      thread 'b' panicked at src/lib.rs:3:5:\nleft: 1\n\nfailures:\n    b\n\n\
                      test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\
                      test result: ok. 4 passed; 0 failed; 0 ignored\n";
        let message = "thread 'b' panicked at src/lib.rs:3:5:\nleft: 1";
        assert_eq!(told(&report(101, output)), (5, 1, vec![("b", message)]));
    }

    #[test]
    fn pytest_is_read() {
        let output =
            "..F\nFAILED tests/test_a.py::test_b - assert 1 == 2\n=== 1 failed, 2 passed in 0.12s ===\n";
        assert_eq!(told(&report(1, output)), (2, 1, vec![("tests/test_a.py::test_b", "assert 1 == 2")]));
    }

    #[test]
    fn unittest_is_read() {
        let output = "F.\n======\nFAIL: test_b (t.T.test_b)\n------\nTraceback:\nAssertionError: 1 != 2\n\n------\n\
                      Ran 2 tests in 0.001s\n\nFAILED (failures=1)\n";
        let report = report(1, output);
        assert_eq!((report.passed, report.failed), (1, 1));
        assert_eq!(report.failures[0].name, "test_b (t.T.test_b)");
        assert!(report.failures[0].message.contains("1 != 2"), "{report:?}");
    }

    #[test]
    fn go_is_read() {
        let output =
            "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n    b_test.go:7: no\nFAIL\nFAIL\tx\t0.1s\n";
        assert_eq!(told(&report(1, output)), (1, 1, vec![("TestB", "b_test.go:7: no")]));
    }

    #[test]
    fn what_is_not_known_comes_with_the_end_of_its_output() {
        let report = report(2, "make: *** No rule to make target 'test'.\n");
        assert_eq!(report.output.as_deref(), Some("make: *** No rule to make target 'test'.\n"));
    }
}
