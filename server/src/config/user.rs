//! The user's own `config.toml`.

use super::check::{self, Fault, fault};
use super::file::{Entry, Source, Value, unknown_key};
use super::forges;
use super::plugins;
use super::settings::{IsolationWish, Prices, Settings};
use crate::limits;
use crate::nearest::nearest;
use crate::patterns::Patterns;
use crate::problem::Problem;
use crate::storage;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every key that the file may hold.
pub(super) const KEYS: [&str; 20] = [
    "api_key",
    "base_url",
    "forges",
    "image",
    "isolation",
    "max_rounds",
    "max_session_cost_usd",
    "max_session_disk_gib",
    "max_session_tokens",
    "max_tokens",
    "model",
    "permission_timeout_s",
    "plugins",
    "prices",
    "protected",
    "retries",
    "safedir",
    "stream_silence_s",
    "thinking",
    "use_sandbox",
];

const PRICE_ADVICE: &str = "write [prices.\"MODEL\"], and below it input, output, cache_read and cache_write";
const PRICE_KEYS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// Puts what the file says into the settings, key by key.
pub(super) fn apply(path: &Path, settings: &mut Settings, problems: &mut Vec<Problem>) {
    let text = match storage::read_text(path, limits::CONFIG_FILE_MAX_BYTES) {
        Ok(None) => return,
        Ok(Some(text)) => text,
        Err(error) => {
            let what = format!("cannot be read: {error}");
            let advice = "correct that; until then nothing in this file is used";
            let problem = Problem::in_file(path, what, advice);
            // It may say where requests go, and what the wall must be.
            settings.base_url = Err(problem.clone());
            settings.isolation = IsolationWish::Microvm;
            return problems.push(problem);
        }
    };
    let source = Source { path, text: &text };
    match source.entries() {
        Err(problem) => {
            problems.push(problem);
            fail_closed(&source, &[], settings, problems);
        }
        Ok(entries) => {
            let keys: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
            for Entry { key, line, value } in entries {
                if key == "prices" {
                    set_prices(&source, line, value, &mut settings.prices, problems);
                } else if key == "forges" {
                    forges::set(&source, line, value, &mut settings.forges, problems);
                } else if key == "plugins" {
                    plugins::set(&source, line, value, &mut settings.plugins, problems);
                } else if let Err(fault) = set(settings, &key, &value) {
                    let problem = source.problem(line, &key, fault);
                    if key == "base_url" {
                        settings.base_url = Err(problem.clone());
                    }
                    problems.push(problem);
                }
            }
            fail_closed(&source, &keys, settings, problems);
        }
    }
}

/// A slip must not send requests elsewhere than the user said, nor weaken the wall: not in the name, not in the place,
/// not in another line of the file.
fn fail_closed(source: &Source<'_>, read: &[String], settings: &mut Settings, problems: &mut Vec<Problem>) {
    let lost = |key: &str| {
        let line = if read.iter().any(|other| other == key) { None } else { meant(source.text, key) };
        line.map(|line| {
            let advice =
                format!("write {key} = \"…\" above the first line in [brackets], in a file that is TOML");
            (line, Fault { what: "this line does not count".to_owned(), advice })
        })
    };
    if let Some((line, fault)) = lost("base_url") {
        let problem = source.problem(line, "base_url", fault);
        settings.base_url = Err(problem.clone());
        problems.push(problem);
    }
    if let Some((line, fault)) = lost("isolation") {
        settings.isolation = IsolationWish::Microvm;
        problems.push(source.problem(line, "isolation", only_a_microvm(fault)));
    }
}

/// The first line that seems to set this key. Plugins have settings of their own, with any name.
fn meant(text: &str, key: &str) -> Option<usize> {
    let mut is_plugins = false;
    text.lines().map(str::trim).zip(1..).find_map(|(line, number)| {
        if let Some(table) = line.strip_prefix('[') {
            is_plugins = table.trim_start_matches('[').trim_start().starts_with("plugins");
        }
        let (name, _) = line.split_once('=')?;
        let name = name.trim().trim_matches(['"', '\'']);
        (!is_plugins && !line.starts_with('#') && nearest(name, KEYS) == Some(key)).then_some(number)
    })
}

fn set(settings: &mut Settings, key: &str, value: &Value<'_>) -> Result<(), Fault> {
    let seconds = 1..=limits::SETTING_TIME_MAX_S;
    match key {
        "api_key" => settings.api_key = Some(check::api_key(value.text()?)?),
        "base_url" => settings.base_url = Ok(check::base_url(value.text()?)?),
        "image" => settings.image = Some(check::image(value.text()?)?),
        "isolation" => settings.isolation = isolation(settings, value)?,
        "max_rounds" => settings.max_rounds = rounds(value)?,
        "max_session_cost_usd" => settings.max_session_cost_usd = Some(check::usd(value.number()?)?),
        "max_session_disk_gib" => {
            settings.max_session_disk_gib =
                check::whole_in(value.whole()?, &(1..=limits::SETTING_DISK_GIB_MAX))?;
        }
        "max_session_tokens" => settings.max_session_tokens = Some(session_tokens(value)?),
        "max_tokens" => settings.max_tokens = check::small_in(value.whole()?, &check::TOKENS)?,
        "model" => settings.model = check::model(value.text()?)?,
        "permission_timeout_s" => settings.permission_timeout_s = check::whole_in(value.whole()?, &seconds)?,
        "protected" => settings.protected = protected(settings, value)?,
        "retries" => {
            settings.retries = check::small_in(value.whole()?, &(0..=limits::SETTING_RETRIES_MAX))?;
        }
        "safedir" => settings.safedir = Some(safedir(value.text()?)?),
        "stream_silence_s" => settings.stream_silence_s = check::whole_in(value.whole()?, &seconds)?,
        "thinking" => settings.thinking = check::thinking(value.text()?)?,
        "use_sandbox" => settings.use_sandbox = value.yes_or_no()?,
        _ => return unknown_key(key, &KEYS),
    }
    Ok(())
}

/// A mistake in this one fails closed: who wrote `micorvm` does not get a container.
fn isolation(settings: &mut Settings, value: &Value<'_>) -> Result<IsolationWish, Fault> {
    let wish = value.text().and_then(check::isolation);
    wish.map_err(|fault| {
        settings.isolation = IsolationWish::Microvm;
        only_a_microvm(fault)
    })
}

fn only_a_microvm(Fault { what, advice }: Fault) -> Fault {
    Fault { what, advice: format!("{advice}; until then nothing but a microVM is used") }
}

pub(super) fn rounds(value: &Value<'_>) -> Result<u32, Fault> {
    check::small_in(value.whole()?, &(1..=limits::SETTING_ROUNDS_MAX))
}

pub(super) fn session_tokens(value: &Value<'_>) -> Result<u64, Fault> {
    check::whole_in(value.whole()?, &(1..=i64::MAX as u64))
}

/// A mistake in one takes no other along.
fn protected(settings: &mut Settings, value: &Value<'_>) -> Result<Patterns, Fault> {
    let texts = value.texts()?;
    let (patterns, wrong) = Patterns::parse(texts.iter().map(String::as_str));
    let Some(first) = texts.iter().position(|text| wrong.iter().any(|(other, _)| other == text)) else {
        return Ok(patterns);
    };
    settings.protected = patterns;
    fault(
        format!("number {} of the list isn't a pattern for paths", first + 1),
        "write it as in \"deploy/*.sh\" or \"ops/\"; the others count",
    )
}

fn safedir(text: &str) -> Result<PathBuf, Fault> {
    let path = PathBuf::from(text);
    if !path.is_absolute() {
        return fault("this is not an absolute path", "give the whole path, from / on");
    }
    Ok(path)
}

/// Reads `[prices."model"]`. A model with a mistake in its prices has none: a wrong cost is worse than no cost.
fn set_prices<'t>(
    source: &Source<'t>,
    line: usize,
    value: Value<'t>,
    prices: &mut BTreeMap<String, Prices>,
    problems: &mut Vec<Problem>,
) {
    let models = match value.table(PRICE_ADVICE) {
        Ok(table) => source.entries_of(table),
        Err(fault) => return problems.push(source.problem(line, "prices", fault)),
    };
    for Entry { key: model, line, value } in models {
        let entries = match value.table(PRICE_ADVICE) {
            Ok(table) => source.entries_of(table),
            Err(fault) => {
                problems.push(source.problem(line, &format!("prices.{model}"), fault));
                continue;
            }
        };
        match prices_of(&model, entries) {
            Ok(found) => drop(prices.insert(model, found)),
            Err((inner, key, fault)) => problems.push(source.problem(inner.unwrap_or(line), &key, fault)),
        }
    }
}

fn prices_of(model: &str, entries: Vec<Entry<'_>>) -> Result<Prices, (Option<usize>, String, Fault)> {
    let mut found = BTreeMap::new();
    for Entry { key, line, value } in entries {
        let amount = if PRICE_KEYS.contains(&key.as_str()) {
            value.number().and_then(check::usd)
        } else if KEYS.contains(&key.as_str()) {
            fault("this key is no price", "move it above the first line in [brackets]")
        } else {
            unknown_key(&key, &PRICE_KEYS)
        };
        match amount {
            Ok(amount) => drop(found.insert(key, amount)),
            Err(fault) => return Err((Some(line), format!("prices.{model}.{key}"), fault)),
        }
    }
    let take = |name: &str| match found.get(name) {
        Some(amount) => Ok(*amount),
        None => fault(
            format!("{name} is missing"),
            "give input, output, cache_read and cache_write, in USD for a million tokens",
        )
        .map_err(|fault| (None, format!("prices.{model}"), fault)),
    };
    Ok(Prices {
        input: take("input")?,
        output: take("output")?,
        cache_read: take("cache_read")?,
        cache_write: take("cache_write")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> (Settings, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        storage::replace(&path, text.as_bytes()).unwrap();
        let (mut settings, mut problems) = (Settings::default(), Vec::new());
        apply(&path, &mut settings, &mut problems);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_mistake_in_one_pattern_takes_no_other_along() {
        let (settings, problems) = applied("protected = [\"ops/\", \"../x\", \"a.sh\"]\n");
        assert!(settings.protected.have("ops/x") && settings.protected.have("a.sh"));
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert!(problems[0].contains("config.toml:1") && problems[0].contains("number 2"), "{problems:#?}");
        let (settings, problems) = applied("protected = \"ops/\"\n");
        assert!(
            !settings.protected.have("ops/x") && problems[0].contains("a list of texts"),
            "{problems:#?}"
        );
    }
}
