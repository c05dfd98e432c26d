//! `[plugins.NAME]` of the user's `config.toml`: what a plugin is told, and the secrets that go into its requests.

use super::check::{self, Fault};
use super::file::{Entry, Source, Value, unknown_key};
use super::settings::PluginSettings;
use crate::problem::Problem;
use std::collections::BTreeMap;

const KEYS: [&str; 2] = ["config", "secrets"];
const ADVICE: &str =
    "write [plugins.NAME.config], or [plugins.NAME.secrets] and below it the secrets, such as TOKEN = \"…\"";

/// Reads them. A plugin with a mistake in its settings has none.
pub(super) fn set<'t>(
    source: &Source<'t>,
    line: usize,
    value: Value<'t>,
    plugins: &mut BTreeMap<String, PluginSettings>,
    problems: &mut Vec<Problem>,
) {
    let tables = match value.table(ADVICE) {
        Ok(table) => source.entries_of(table),
        Err(fault) => return problems.push(source.problem(line, "plugins", fault)),
    };
    for Entry { key, line, value } in tables {
        let entries = value.table(ADVICE).map(|table| source.entries_of(table));
        match entries.and_then(|entries| settings(source, entries)) {
            Ok(settings) => drop(plugins.insert(key, settings)),
            Err(fault) => problems.push(source.problem(line, &format!("plugins.{key}"), fault)),
        }
    }
}

fn settings<'t>(source: &Source<'t>, entries: Vec<Entry<'t>>) -> Result<PluginSettings, Fault> {
    let mut settings = PluginSettings { config: serde_json::json!({}), secrets: BTreeMap::new() };
    for Entry { key, value, .. } in entries {
        match key.as_str() {
            "config" => {
                let config = value.json();
                value.table(ADVICE)?;
                settings.config = config;
            }
            "secrets" => {
                for Entry { key, value, .. } in source.entries_of(value.table(ADVICE)?) {
                    settings.secrets.insert(key, check::token(value.text()?)?);
                }
            }
            _ => return unknown_key(&key, &KEYS),
        }
    }
    Ok(settings)
}
