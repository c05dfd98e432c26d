//! `plugin.toml`: who a plugin is, and what it asks for.

use super::origin::Origin;
use super::powers::{HttpPower, Powers, SecretUse};
use crate::limits::{PLUGIN_ASKED_MAX_BYTES, PLUGIN_NAME_MAX_CHARS, PLUGIN_ORIGINS_MAX, PLUGIN_PATHS_MAX};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name of the file.
pub const MANIFEST: &str = "plugin.toml";
/// The name of the component beside it.
pub const COMPONENT: &str = "plugin.wasm";

/// Who a plugin is, and what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its name: small letters, digits, `-` and `_`.
    pub name: String,
    /// Its version, for people.
    pub version: String,
    /// What it is for, in a line.
    pub description: String,
    /// What it asks for.
    pub asks: Powers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    version: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    wants: Powers,
    #[serde(default)]
    secrets: BTreeMap<String, SecretUse>,
}

impl Manifest {
    /// Takes the text of a `plugin.toml`; what is wrong with it is said with what to do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let File { name, version, description, wants, secrets } =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        check_name(&name)?;
        if !wants.secrets.is_empty() {
            return Err("secrets stand in [secrets.NAME], not in [wants]: move them there".to_owned());
        }
        let mut asks = Powers { secrets, ..wants };
        if asks.http.len() > PLUGIN_ORIGINS_MAX || asks.secrets.len() > PLUGIN_ORIGINS_MAX {
            return Err(format!(
                "a plugin may ask for {PLUGIN_ORIGINS_MAX} origins and as many secrets: nobody can judge more"
            ));
        }
        for power in &mut asks.http {
            check_http(power)?;
        }
        for (name, secret) in &mut asks.secrets {
            check_secret(name, secret)?;
            if !asks.http.iter().any(|power| power.origin == secret.origin) {
                return Err(format!(
                    "the secret {name} is for {}, which is not under [wants] http: add it there",
                    secret.origin
                ));
            }
        }
        Ok(Self { name, version: one_line(&version), description: one_line(&description), asks })
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || name.len() > PLUGIN_NAME_MAX_CHARS || !name.chars().all(plain) {
        return Err(format!(
            "{name:?} is no name for a plugin: a small letter, then up to 63 small letters, digits, \"-\" or \"_\""
        ));
    }
    Ok(())
}

fn check_http(power: &mut HttpPower) -> Result<(), String> {
    power.origin = origin(&power.origin)?;
    for method in &mut power.methods {
        *method = method.to_ascii_uppercase();
        let plain = method.chars().all(|c| c.is_ascii_uppercase() || c == '-');
        if method.is_empty() || !plain || method.len() > 20 || method == "CONNECT" {
            return Err(format!("{method:?} is no method of a request: give GET, POST and the like"));
        }
    }
    for path in &power.paths {
        if !path.starts_with('/') {
            return Err(format!("the path {path:?} does not begin with \"/\": give it from the origin on"));
        }
        // The user is shown them, and must read what is there.
        if path.len() > PLUGIN_ASKED_MAX_BYTES || !path.chars().all(|c| c.is_ascii_graphic()) {
            return Err(format!(
                "the path {path:?} is longer than {PLUGIN_ASKED_MAX_BYTES} bytes, or has spaces or other letters than \
                 an address has: write those as %20 and the like"
            ));
        }
    }
    if power.local {
        return Err("only the user can say that an origin is local: leave `local` out".to_owned());
    }
    let HttpPower { origin, paths, methods, .. } = power;
    if methods.is_empty() || paths.is_empty() {
        return Err(format!("{origin} has no methods or no paths: leave them out for GET and /"));
    }
    if methods.len() > PLUGIN_PATHS_MAX || paths.len() > PLUGIN_PATHS_MAX {
        return Err(format!("{origin} may have {PLUGIN_PATHS_MAX} paths and as many methods"));
    }
    Ok(())
}

fn origin(untrusted_origin: &str) -> Result<String, String> {
    let origin = Origin::parse(untrusted_origin)?.to_string();
    if origin.len() > PLUGIN_ASKED_MAX_BYTES {
        return Err(format!("the origin {origin} is longer than {PLUGIN_ASKED_MAX_BYTES} bytes"));
    }
    Ok(origin)
}

fn check_secret(name: &str, secret: &mut SecretUse) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > PLUGIN_NAME_MAX_CHARS || !name.chars().all(plain) {
        return Err(format!("{name:?} is no name for a secret: capital letters, digits and \"_\" only"));
    }
    secret.origin = origin(&secret.origin)?;
    secret.header = secret.header.to_ascii_lowercase();
    let known = reqwest::header::HeaderName::from_bytes(secret.header.as_bytes());
    let fits = secret.header.len() <= PLUGIN_NAME_MAX_CHARS;
    if known.is_err() || !fits || super::http::is_ours(&secret.header) {
        return Err(format!("the secret {name} cannot go into the header {:?}", secret.header));
    }
    let fits = secret.prefix.len() <= PLUGIN_NAME_MAX_CHARS;
    if !fits || reqwest::header::HeaderValue::from_str(&secret.prefix).is_err() {
        return Err(format!("the prefix of the secret {name} cannot stand in a header"));
    }
    Ok(())
}

/// Fit for a list.
fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_manifest_is_read() {
        let manifest = Manifest::parse(
            r#"
            name = "issues"
            version = "1.2.0"
            description = "Fetches issues"
            [wants]
            http = [{ origin = "https://API.github.com:443", paths = ["/repos"], methods = ["get"] }]
            workspace = ["read"]
            kv = true
            [secrets.TOKEN]
            origin = "https://api.github.com"
            header = "Authorization"
            prefix = "Bearer "
            "#,
        )
        .unwrap();
        assert_eq!(
            manifest.asks.words(),
            ["workspace:read", "kv", "http:https://api.github.com", "secret:TOKEN"]
        );
        assert_eq!(manifest.asks.http[0].methods, ["GET"]);
        assert_eq!(manifest.asks.secrets["TOKEN"].header, "authorization");
    }

    #[test]
    fn what_a_person_could_misread_is_refused() {
        let asking = |paths: &str, methods: &str| {
            let http = format!("{{origin = \"https://a\", paths = [{paths}], methods = [{methods}]}}");
            Manifest::parse(&format!("name = \"a\"\nversion = \"1\"\n[wants]\nhttp = [{http}]"))
        };
        assert!(asking("\"/a/b%20c\"", "\"GET\"").is_ok());
        let long = format!("\"/{}\"", "a".repeat(PLUGIN_ASKED_MAX_BYTES));
        let many = vec!["\"/a\""; PLUGIN_PATHS_MAX + 1].join(",");
        for path in [
            "\"/a\\nkv — keep\"",
            "\"/a b\"",
            "\"/\\u001b[2K\"",
            "\"/\\u202e\"",
            "\"/\\u00e4\"",
            &long,
            &many,
        ] {
            assert!(asking(path, "\"GET\"").is_err(), "{path}");
        }
        for method in ["\"\"", "\"GET,POST\"", "\"GET POST\"", "\"CONNECT\"", "\"A123\""] {
            assert!(asking("\"/\"", method).is_err(), "{method}");
        }
        let origin = "{origin = \"https://a\"},".repeat(PLUGIN_ORIGINS_MAX + 1);
        let many = format!("name = \"a\"\nversion = \"1\"\n[wants]\nhttp = [{origin}]");
        assert!(Manifest::parse(&many).is_err());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("name = \"A\"\nversion = \"1\"", "no name for a plugin"),
            ("name = \"../a\"\nversion = \"1\"", "no name for a plugin"),
            ("name = \"a\"", "missing field `version`"),
            ("name = \"a\"\nversion = \"1\"\n[wants]\nroot = true", "unknown field"),
            ("name = \"a\"\nversion = \"1\"\n[wants]\nworkspace = [\"write\"]", "unknown variant"),
            ("name = \"a\"\nversion = \"1\"\n[wants]\nhttp = [{origin = \"https://u@a\"}]", "origin"),
            ("name = \"a\"\nversion = \"1\"\n[wants]\nhttp = [{origin = \"https://a/path\"}]", "origin"),
            (
                "name = \"a\"\nversion = \"1\"\n[secrets.T]\norigin = \"https://a\"\nheader = \"x\"",
                "not under [wants] http",
            ),
            (
                "name = \"a\"\nversion = \"1\"\n[wants]\nhttp = [{origin = \"https://a\"}]\n[secrets.T]\norigin = \"https://a\"\nheader = \"host\"",
                "cannot go into the header",
            ),
        ] {
            let error = Manifest::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
