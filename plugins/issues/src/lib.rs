//! Issues of GitHub, or of a server of your own that speaks its API. The token is the host's business: it is added to
//! requests outside of the plugin.

use airlock_plugin::{Error, Result, data, http, run, tool};

const API: &str = "https://api.github.com";
const COMMENTS_MAX: usize = 20;

/// The user's settings.
#[data]
struct Settings {
    /// Another server's API, such as https://github.example.com/api/v3.
    #[serde(default = "api")]
    api: String,
}

fn api() -> String {
    API.to_owned()
}

/// An issue as GitHub gives it, as far as we look at it.
#[data]
struct Raw {
    number: u64,
    title: String,
    state: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    labels: Vec<Label>,
    #[serde(default)]
    comments: u64,
    user: Option<User>,
}

#[data]
struct Label {
    name: String,
}

#[data]
struct User {
    login: String,
}

#[data]
struct RawComment {
    user: Option<User>,
    #[serde(default)]
    body: Option<String>,
}

/// Fetches an issue or pull request of a GitHub repository with its discussion, as text. Use it when the user names an
/// issue.
#[tool(effects = ["http"])]
fn fetch_issue(
    /// The repository, as owner/name.
    repository: String,
    /// The issue's number.
    number: u64,
) -> Result<String> {
    let base = format!("{}/issues/{number}", repository_url(&repository)?);
    let issue: Raw =
        fetch(&base).map_err(|error| error.context(format!("issue {number} of {repository}")))?;
    let mut text = head(&issue);
    text.push_str(&format!("\n\n{}", issue.body.as_deref().unwrap_or_default().trim()));
    if issue.comments > 0 {
        let comments: Vec<RawComment> = fetch(&format!("{base}/comments?per_page={COMMENTS_MAX}"))?;
        for comment in &comments {
            let body = comment.body.as_deref().unwrap_or_default().trim();
            text.push_str(&format!("\n\n--- {} wrote:\n{body}", login(&comment.user)));
        }
        let left_out = issue.comments.saturating_sub(comments.len() as u64);
        if left_out > 0 {
            text.push_str(&format!("\n\n[{left_out} more comments]"));
        }
    }
    Ok(text)
}

/// Lists the open issues of a GitHub repository, the newest first.
#[tool(effects = ["http"])]
fn list_issues(
    /// The repository, as owner/name.
    repository: String,
    /// Only issues with this label.
    label: Option<String>,
) -> Result<String> {
    let mut url = format!("{}/issues?state=open&per_page=30", repository_url(&repository)?);
    if let Some(label) = label {
        url.push_str(&format!("&labels={}", escape(&label)));
    }
    let issues: Vec<Raw> = fetch(&url).map_err(|error| error.context(&repository))?;
    if issues.is_empty() {
        return Ok("There are none.".to_owned());
    }
    Ok(issues.iter().map(head).collect::<Vec<_>>().join("\n"))
}

fn fetch<T: serde::de::DeserializeOwned>(url: &str) -> Result<T> {
    let request = http::Request::new("GET", url)
        .header("accept", "application/vnd.github+json")
        .header("user-agent", "airlock-issues");
    request.send()?.success()?.json()
}

/// The address of a repository. Names are checked: one with a slash or dots could ask for something else.
fn repository_url(repository: &str) -> Result<String> {
    let Settings { api } = run::config()?;
    let plain = |name: &str| {
        !name.is_empty()
            && !name.starts_with('.')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    match repository.split_once('/') {
        Some((owner, name)) if plain(owner) && plain(name) => {
            Ok(format!("{}/repos/{owner}/{name}", api.trim_end_matches('/')))
        }
        _ => Err(Error::invalid(format!("{repository:?} is no repository: give owner/name"))),
    }
}

fn head(issue: &Raw) -> String {
    let labels: Vec<&str> = issue.labels.iter().map(|label| label.name.as_str()).collect();
    let labels = if labels.is_empty() { String::new() } else { format!(" [{}]", labels.join(", ")) };
    format!("#{} {} ({}, by {}){labels}", issue.number, issue.title, issue.state, login(&issue.user))
}

fn login(user: &Option<User>) -> &str {
    user.as_ref().map_or("somebody", |user| user.login.as_str())
}

/// As a value in a query.
fn escape(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

airlock_plugin::export!(tools: [fetch_issue, list_issues]);

#[cfg(test)]
mod tests {
    use super::*;
    use airlock_plugin::{Kind, testing::Host};
    use serde_json::json;

    const ISSUE: &str = "https://api.github.com/repos/o/r/issues/7";

    fn issue(comments: u64) -> String {
        json!({"number": 7, "title": "It breaks", "state": "open", "body": "When I look.", "comments": comments,
               "labels": [{"name": "bug"}], "user": {"login": "ann"}})
        .to_string()
    }

    fn fetch_seven(host: &Host) -> Result<String> {
        host.run(|| fetch_issue("o/r".to_owned(), 7))
    }

    #[test]
    fn an_issue_comes_with_its_discussion() {
        let host = Host::new().answer("GET", ISSUE, 200, issue(3)).answer(
            "GET",
            &format!("{ISSUE}/comments?per_page=20"),
            200,
            json!([{"user": {"login": "bo"}, "body": "Me too."}, {"user": null, "body": null}]).to_string(),
        );
        let text = fetch_seven(&host).unwrap();
        assert!(
            text.starts_with("#7 It breaks (open, by ann) [bug]\n\nWhen I look.\n\n--- bo wrote:\nMe too."),
            "{text}"
        );
        assert!(text.contains("somebody wrote") && text.ends_with("[1 more comments]"), "{text}");
    }

    #[test]
    fn what_the_server_refuses_is_said_in_the_kind_of_error() {
        for (status, kind) in [(404, Kind::NotFound), (401, Kind::Denied), (503, Kind::Unavailable)] {
            let error = fetch_seven(&Host::new().answer("GET", ISSUE, status, "")).unwrap_err();
            assert_eq!(*error.kind(), kind);
            assert!(error.message().starts_with("issue 7 of o/r: the server answered"), "{error}");
        }
    }

    #[test]
    fn a_repository_that_is_none_sends_no_request() {
        for name in ["", "o", "o/r/x", "../r", "o/..", "o/r?x", "o /r"] {
            let host = Host::new();
            assert_eq!(
                *host.run(|| fetch_issue(name.to_owned(), 1)).unwrap_err().kind(),
                Kind::Invalid,
                "{name}"
            );
            assert!(host.requests().is_empty());
        }
    }

    #[test]
    fn another_server_is_asked_when_the_user_says_so() {
        let url =
            "https://git.example.com/api/v3/repos/o/r/issues?state=open&per_page=30&labels=good%20first";
        let host = Host::new()
            .config(json!({"api": "https://git.example.com/api/v3/"}))
            .answer("GET", url, 200, "[]");
        let text = host.run(|| list_issues("o/r".to_owned(), Some("good first".to_owned()))).unwrap();
        assert_eq!(text, "There are none.");
    }
}
