//! The environment variables that set something. An invalid one leaves what the file or the default said, but for
//! the key and where it is sent: those that belong to each other must not be mixed with others.

use super::check::{self, Fault, fault};
use super::settings::Settings;
use crate::environment::Environment;
use crate::problem::Problem;

/// Puts what the variables say into the settings.
pub(super) fn apply(environment: &Environment, settings: &mut Settings, problems: &mut Vec<Problem>) {
    let mut problem = |name: &str, fault: Fault| {
        let problem = Problem::in_variable(name, fault.what, fault.advice);
        problems.push(problem.clone());
        problem
    };
    if let Some(text) = environment.variable("ANTHROPIC_API_KEY") {
        settings.api_key = match check::api_key(text) {
            Ok(key) => Some(key),
            Err(fault) => {
                problem("ANTHROPIC_API_KEY", fault);
                None
            }
        };
    }
    if let Some(text) = environment.variable("ANTHROPIC_BASE_URL") {
        settings.base_url = check::base_url(text).map_err(|fault| problem("ANTHROPIC_BASE_URL", fault));
    }
    let mut set = |name: &str, setter: &mut dyn FnMut(&str) -> Result<(), Fault>| {
        if let Some(Err(fault)) = environment.variable(name).map(setter) {
            problem(name, fault);
        }
    };
    set("MODEL", &mut |text| {
        settings.model = check::model(text)?;
        Ok(())
    });
    set("MAX_TOKENS", &mut |text| {
        settings.max_tokens = check::small_in(text.trim().parse().ok(), &check::TOKENS)?;
        Ok(())
    });
    set("SAFEDIR", &mut |text| {
        settings.safedir = Some(environment.working_dir.join(text));
        Ok(())
    });
    set("USE_SANDBOX", &mut |text| {
        settings.use_sandbox = yes_or_no(text)?;
        Ok(())
    });
}

fn yes_or_no(text: &str) -> Result<bool, Fault> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => fault("this is neither true nor false", "give true or false"),
    }
}
