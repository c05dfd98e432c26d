//! A user's `config.toml`.

use airlock::config::{self as configuration, IsolationWish, Problem, Settings};
use airlock::environment::Environment;
use tempfile::TempDir;

/// In no text that a fuzzer makes up, so it must not be in what is told of one.
const KEY: &str = "sk-ant-api03-Zq8vT1xW";

thread_local! {
    static HOME: TempDir = {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("config")).unwrap();
        home
    };
}

/// Nothing fails; what is wrong is told without the key; and a mistake never weakens the wall or sends the key
/// somewhere else.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (settings, problems) = load(&text);
    for problem in &problems {
        assert!(!problem.what.is_empty() && !problem.advice.is_empty());
    }
    if let Ok(url) = &settings.base_url {
        let behind = url.strip_prefix("https://").or(url.strip_prefix("http://")).expect("http or https");
        let host = behind.split('/').next().unwrap_or_default();
        assert!(!host.is_empty() && !host.contains('@'), "{url} tells a name or a password");
        assert!(!url.ends_with('/') && !url.contains(['?', '#', ' ', '\n']), "{url}");
    }
    if toml::de::DeTable::parse(&text).is_err() {
        assert!(!problems.is_empty(), "a broken file goes without a word");
        assert!(settings.api_key.is_none(), "half of a broken file is used");
    } else if let Ok(table) = toml::from_str(&text) {
        check_meant(&table, &settings, &problems);
    }

    for text in [format!("api_key = \"{KEY}\"\n{text}"), format!("{text}\napi_key = \"{KEY}\"\n")] {
        let (settings, problems) = load(&text);
        assert!(!problems.iter().any(|problem| problem.to_string().contains(KEY)), "the key is told");
        if let Err(problem) = settings.base_url {
            assert!(!problem.to_string().contains(KEY), "the key is told");
        }
    }
}

fn load(text: &str) -> (Settings, Vec<Problem>) {
    HOME.with(|home| {
        std::fs::write(home.path().join("config/config.toml"), text).unwrap();
        configuration::load(&Environment::for_test(home.path(), &[]))
    })
}

fn check_meant(table: &toml::Table, settings: &Settings, problems: &[Problem]) {
    match table.get("isolation") {
        // A name that is only misspelt counts as the strictest wish.
        None => assert!(
            settings.isolation == IsolationWish::Auto
                || (settings.isolation == IsolationWish::Microvm && !problems.is_empty())
        ),
        Some(value) => match value.as_str() {
            Some("auto") => assert!(settings.isolation == IsolationWish::Auto),
            Some("container") => assert!(settings.isolation == IsolationWish::Container),
            _ => assert!(settings.isolation == IsolationWish::Microvm, "a mistake weakens the wall"),
        },
    }
    if let Some(value) = table.get("base_url") {
        assert!(settings.base_url.is_err() || value.is_str(), "the key goes where nobody said");
        let told = settings.base_url.as_ref().err().is_none_or(|problem| problems.contains(problem));
        assert!(told, "an address that is not used, without a word");
    }
    match table.get("use_sandbox").and_then(toml::Value::as_bool) {
        Some(wanted) => assert_eq!(settings.use_sandbox, wanted),
        None => assert!(settings.use_sandbox),
    }
}
