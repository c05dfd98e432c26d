//! `/standup`: what was done since yesterday, for the daily stand-up.

use airlock_plugin::{Error, Result, command, exec};
use std::time::Duration;

/// Writes your stand-up from the commits since yesterday, or since when you say.
#[command(hint = "[since when]")]
fn standup(since: &str) -> Result<String> {
    let since = match since.trim() {
        "" => "yesterday",
        since => since,
    };
    let commits = exec::run(&log_command(since)?, Duration::from_secs(10))?;
    if !commits.success() {
        return Err(Error::failed(format!("git cannot tell the commits: {}", commits.output.trim())));
    }
    let commits = match commits.output.trim() {
        "" => "(none)",
        commits => commits,
    };
    Ok(format!(
        "Write my stand-up: what was done, what is next, what blocks. A few lines each, for colleagues who know the \
         project; group related commits, leave out what only matters to me. If something is unclear from the list, look at \
         the commit with `git show`.\n\nCommits since {since}:\n{commits}"
    ))
}

/// The time goes into a command line, so it may hold only what a time needs.
fn log_command(since: &str) -> Result<String> {
    if !since.chars().all(|c| c.is_ascii_alphanumeric() || " -:.".contains(c)) {
        return Err(Error::invalid(format!(
            "{since:?} is no time: say it as in \"2 days ago\" or \"2026-05-01\""
        )));
    }
    Ok(format!(
        "git -c safe.directory='*' log --no-merges --since='{since}' --pretty='%h %s (%an)' --max-count=100"
    ))
}

airlock_plugin::export!(commands: [standup]);

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_plugin::{Kind, testing::Host};

    #[test]
    fn the_commits_are_in_the_prompt() {
        let host = Host::new().command(&log_command("2 days ago").unwrap(), 0, "abc123 Fix it (Ann)\n");
        let prompt = host.expand::<standup>("2 days ago").unwrap();
        assert!(prompt.ends_with("Commits since 2 days ago:\nabc123 Fix it (Ann)"), "{prompt}");
    }

    #[test]
    fn without_words_it_is_since_yesterday_and_without_commits_it_says_so() {
        let host = Host::new().command(&log_command("yesterday").unwrap(), 0, "");
        assert!(host.expand::<standup>("").unwrap().ends_with("Commits since yesterday:\n(none)"));
    }

    #[test]
    fn what_could_be_a_command_is_no_time() {
        let host = Host::new();
        for words in ["'; rm -rf .; '", "$(id)", "`id`", "a\nb"] {
            assert_eq!(*host.expand::<standup>(words).unwrap_err().kind(), Kind::Invalid, "{words}");
        }
        assert!(host.ran().is_empty());
    }

    #[test]
    fn a_folder_without_git_is_said() {
        let host =
            Host::new().command(&log_command("yesterday").unwrap(), 128, "fatal: not a git repository\n");
        let error = host.expand::<standup>("").unwrap_err();
        assert_eq!(error.message(), "git cannot tell the commits: fatal: not a git repository");
    }
}
