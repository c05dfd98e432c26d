//! `airlock doctor`: what is there, what is missing, and how to get it.

use super::exit::Exit;
use super::fail;
use crate::config::{self, Settings};
use crate::environment::Environment;
use crate::neutral::neutral;
use crate::sandbox::{Isolation, try_out};
use std::io::{self, Write};

/// One finding.
struct Finding {
    is_well: bool,
    text: String,
}

/// Looks at everything, and says what it found. It fails when something is missing.
pub(super) async fn run(environment: &Environment) -> Exit {
    let mut findings = configuration(environment);
    let (settings, _) = config::load(environment);
    findings.push(key(&settings));
    findings.push(sandbox(environment, &settings).await);
    match report(&findings) {
        Ok(()) if findings.iter().all(|finding| finding.is_well) => Exit::Well,
        Ok(()) => Exit::Failed,
        Err(error) => fail(&error.into()),
    }
}

fn report(findings: &[Finding]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Airlock {}", env!("CARGO_PKG_VERSION"))?;
    for Finding { is_well, text } in findings {
        writeln!(stdout, "{} {}", if *is_well { "[ok]" } else { "[!!]" }, neutral(text))?;
    }
    stdout.flush()
}

fn well(text: impl Into<String>) -> Finding {
    Finding { is_well: true, text: text.into() }
}

fn missing(text: impl Into<String>) -> Finding {
    Finding { is_well: false, text: text.into() }
}

fn configuration(environment: &Environment) -> Vec<Finding> {
    let file = config::user_file(environment);
    let (settings, problems) = config::load(environment);
    let is_there = if file.exists() { "" } else { " (not there, and not needed)" };
    let mut findings = vec![well(format!("Configuration: {}{is_there}", file.display()))];
    findings.extend(problems.iter().map(|problem| missing(format!("Configuration: {problem}"))));
    findings.push(well(format!("Model: {}", settings.model)));
    findings
}

fn key(settings: &Settings) -> Finding {
    match (&settings.api_key, &settings.base_url) {
        (Some(_), Ok(address)) => well(format!("API key: set, for {address}")),
        (None, _) => missing(
            "API key: none. Set ANTHROPIC_API_KEY, or api_key in your config.toml (in VS Code: \"Airlock: Set API Key\")",
        ),
        (Some(_), Err(problem)) => missing(format!("API: {problem}")),
    }
}

async fn sandbox(environment: &Environment, settings: &Settings) -> Finding {
    if !settings.use_sandbox {
        return missing(
            "Sandbox: switched off (use_sandbox, USE_SANDBOX). The agent can chat, and use no tools",
        );
    }
    match try_out(environment, settings.isolation, settings.image.clone()).await {
        Ok(trial) => {
            let kind = match trial.isolation {
                Isolation::Microvm => "microVM",
                Isolation::Container => "container",
            };
            // What it is, and beneath it what is to be said of that.
            well(format!("Sandbox: {kind}. It is {}", trial.description.replacen("; ", "\n     ", 1)))
        }
        Err(error) => missing(format!("Sandbox: {error}")),
    }
}
