//! `[forges."https://…"]` of the user's `config.toml`: where pull requests may be made, and with which token.

use super::check::{self, Fault, fault};
use super::file::{Entry, Source, Value, unknown_key};
use super::settings::{Forge, ForgeKind};
use crate::problem::Problem;
use crate::secret::Secret;
use std::collections::BTreeMap;

const KEYS: [&str; 3] = ["api", "kind", "token"];
const ADVICE: &str = "write [forges.\"https://github.com\"], and below it token";

/// Reads them. One with a mistake is left out: its token must not go to another place than the user meant.
pub(super) fn set<'t>(
    source: &Source<'t>,
    line: usize,
    value: Value<'t>,
    forges: &mut BTreeMap<String, Forge>,
    problems: &mut Vec<Problem>,
) {
    let tables = match value.table(ADVICE) {
        Ok(table) => source.entries_of(table),
        Err(fault) => return problems.push(source.problem(line, "forges", fault)),
    };
    for Entry { key, line, value } in tables {
        let entries = value.table(ADVICE).map(|table| source.entries_of(table));
        let forge = check::origin(&key).and_then(|origin| Ok((forge(&origin, entries?)?, origin)));
        match forge {
            Ok((forge, origin)) => drop(forges.insert(origin, forge)),
            Err(fault) => problems.push(source.problem(line, "forges", fault)),
        }
    }
}

fn forge(origin: &str, entries: Vec<Entry<'_>>) -> Result<Forge, Fault> {
    let (mut api, mut kind, mut token) = (None, usual_kind(origin), None);
    for Entry { key, value, .. } in entries {
        match key.as_str() {
            "api" => api = Some(check::base_url(value.text()?)?),
            "kind" => kind = Some(check::forge_kind(value.text()?)?),
            "token" => token = Some(check::token(value.text()?)?),
            _ => return unknown_key(&key, &KEYS),
        }
    }
    let Some(kind) = kind else {
        return fault(format!("{origin} has no kind"), "give kind = \"github\" or kind = \"gitea\"");
    };
    let Some(token): Option<Secret> = token else {
        return fault(
            format!("{origin} has no token"),
            "give token = \"…\", as made in your account's settings there",
        );
    };
    Ok(Forge { kind, api: api.unwrap_or_else(|| usual_api(origin, kind)), token })
}

fn usual_kind(origin: &str) -> Option<ForgeKind> {
    match origin {
        "https://github.com" => Some(ForgeKind::Github),
        "https://gitea.com" | "https://codeberg.org" => Some(ForgeKind::Gitea),
        _ => None,
    }
}

fn usual_api(origin: &str, kind: ForgeKind) -> String {
    match (origin, kind) {
        ("https://github.com", ForgeKind::Github) => "https://api.github.com".to_owned(),
        (_, ForgeKind::Github) => format!("{origin}/api/v3"),
        (_, ForgeKind::Gitea) => format!("{origin}/api/v1"),
    }
}
