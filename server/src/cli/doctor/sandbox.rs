//! The sandbox: its parts, and one that is started to prove that they work together.

use super::finding::{Finding, State};
use crate::config::{IsolationWish, Settings};
use crate::environment::Environment;
use crate::sandbox::{Isolation, Part, SandboxError, Trial, survey, try_out};

const NAME: &str = "sandbox";
const TITLE: &str = "Sandbox";

/// What was found, and what kind of wall was proved.
pub(super) async fn findings(
    environment: &Environment,
    settings: &Settings,
) -> (Vec<Finding>, Option<Isolation>) {
    if !settings.use_sandbox {
        let text = "switched off: the agent can chat, and use no tools";
        let off = Finding::hint(NAME, TITLE, text, "set use_sandbox = true, or USE_SANDBOX=true");
        return (vec![off], None);
    }
    let parts = survey(environment, settings.isolation).await;
    let tried = try_out(environment, settings.isolation, settings.image.clone()).await;
    let mut findings: Vec<Finding> = parts
        .into_iter()
        .map(|Part { name, title, found, is_required }| {
            // What came up needed nothing more.
            Finding::of_sandbox(name, title, found, is_required && tried.is_err())
        })
        .collect();
    match tried {
        Ok(trial) => {
            findings.extend(microvm(&trial, settings.isolation));
            findings.push(proved(&trial));
            (findings, Some(trial.isolation))
        }
        Err(SandboxError { what, remedy, .. }) => {
            let is_told = findings.iter().any(|finding| {
                finding.state == State::Failed && finding.remedy.as_ref().is_some_and(|told| *told == remedy)
            });
            let mut failed = Finding::failed(NAME, TITLE, format!("none can be started: {what}"), remedy);
            if is_told {
                failed.remedy = None;
            }
            findings.push(failed);
            (findings, None)
        }
    }
}

/// What counts is the boot: that krun and its device are there proves nothing.
fn microvm(trial: &Trial, wish: IsolationWish) -> Option<Finding> {
    let (name, title) = ("microvm", "MicroVM");
    match (trial.isolation, &trial.no_microvm) {
        (Isolation::Microvm, _) => Some(Finding::well(name, title, "one was booted")),
        (Isolation::Container, Some(SandboxError { what, remedy, .. }))
            if wish != IsolationWish::Container =>
        {
            Some(Finding::hint(name, title, format!("none came up: {what}"), remedy.clone()))
        }
        _ => None,
    }
}

fn proved(trial: &Trial) -> Finding {
    let text = format!("one was started: {}", trial.description);
    let shortcomings = trial.shortcomings.iter().map(|shortcoming| format!("\n{shortcoming}"));
    Finding::well(NAME, TITLE, std::iter::once(text).chain(shortcomings).collect::<String>())
}
