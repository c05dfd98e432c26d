//! What the user configured: the file, the model, the key.

use super::finding::Finding;
use crate::config::{self, Problem, Settings};
use crate::environment::Environment;

pub(super) fn findings(environment: &Environment, settings: &Settings, problems: &[Problem]) -> Vec<Finding> {
    let file = config::user_file(environment);
    let is_there = if file.exists() { "" } else { " (not there, and not needed)" };
    let mut findings = Vec::new();
    if problems.is_empty() {
        let text = format!("{}{is_there}", file.display());
        findings.push(Finding::well("configuration", "Configuration", text));
    }
    findings.extend(problems.iter().map(|Problem { place, what, advice }| {
        Finding::failed("configuration", "Configuration", format!("{place}: {what}"), advice.as_str())
    }));
    findings.push(Finding::well("model", "Model", settings.model.clone()));
    findings.push(key(settings));
    findings
}

fn key(settings: &Settings) -> Finding {
    let (name, title) = ("key", "API key");
    match (&settings.api_key, &settings.base_url) {
        (Some(_), Ok(address)) => Finding::well(name, title, format!("set, for {address}")),
        (Some(_), Err(problem)) => Finding::failed(
            name,
            title,
            format!("it is sent nowhere: {}: {}", problem.place, problem.what),
            problem.advice.as_str(),
        ),
        (None, _) => Finding::failed(
            name,
            title,
            "none",
            "set ANTHROPIC_API_KEY, or api_key in your config.toml (in VS Code: \"Airlock: Set API Key\")",
        ),
    }
}
