//! Which values a setting takes. The same checks serve files and environment variables.
//!
//! Architecture invariant: a [`Fault`] never repeats the value, which may be a key in the wrong place.

use super::settings::{ForgeKind, IsolationWish, Thinking};
use crate::limits;
use crate::secret::Secret;
use std::ops::RangeInclusive;

/// Why a value is not taken.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) advice: String,
}

pub(super) fn fault<T>(what: impl Into<String>, advice: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { what: what.into(), advice: advice.into() })
}

/// Values that `max_tokens` takes.
pub(super) const TOKENS: RangeInclusive<u64> = 1..=limits::SETTING_TOKENS_MAX;

pub(super) fn api_key(text: &str) -> Result<Secret, Fault> {
    let advice = "copy the key again from https://platform.claude.com";
    match Secret::new(text) {
        None => fault("the API key is blank", advice),
        Some(key) if !key.expose().chars().all(|letter| letter.is_ascii_graphic()) => {
            fault("the API key holds characters that no key has", advice)
        }
        Some(key) => Ok(key),
    }
}

pub(super) fn base_url(text: &str) -> Result<String, Fault> {
    let advice = "give it as in https://api.anthropic.com";
    let Ok(url) = reqwest::Url::parse(text.trim()) else {
        return fault("the base URL is not a URL", advice);
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return fault("the base URL is neither http nor https", advice);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return fault(
            "the base URL holds a user name or password",
            "take it out; the key belongs in api_key or ANTHROPIC_API_KEY",
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return fault("the base URL has something behind its path", advice);
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Scheme, host and port, and nothing else.
pub(super) fn origin(text: &str) -> Result<String, Fault> {
    let advice = "give scheme and host, as in https://github.com";
    let url = match reqwest::Url::parse(text.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => url,
        _ => return fault("this is no origin of a forge", advice),
    };
    let bare = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !bare || url.path() != "/" || url.fragment().is_some() {
        return fault("this is more than the origin of a forge", advice);
    }
    Ok(url.origin().ascii_serialization())
}

pub(super) fn forge_kind(text: &str) -> Result<ForgeKind, Fault> {
    match text {
        "github" => Ok(ForgeKind::Github),
        "gitea" => Ok(ForgeKind::Gitea),
        _ => fault("this is no kind of forge", "give \"github\" or \"gitea\" (which Forgejo speaks, too)"),
    }
}

pub(super) fn token(text: &str) -> Result<Secret, Fault> {
    match Secret::new(text) {
        Some(token) if token.expose().chars().all(|letter| letter.is_ascii_graphic()) => Ok(token),
        _ => fault("the token is blank or holds characters that no token has", "copy it again"),
    }
}

pub(super) fn model(text: &str) -> Result<String, Fault> {
    let name = text.trim();
    let plain = name.chars().all(|letter| !letter.is_whitespace() && !letter.is_control());
    if name.is_empty() || name.len() > limits::MODEL_NAME_MAX_BYTES || !plain {
        return fault(
            "this is not the name of a model",
            "give one name without spaces, such as \"claude-sonnet-5\"",
        );
    }
    Ok(name.to_owned())
}

/// The name of an image. It stands in a URL and in advice to the user, so it is no more than a name.
pub(super) fn image(text: &str) -> Result<String, Fault> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/:@".contains(letter);
    let is_name = text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && text.len() <= limits::IMAGE_NAME_MAX_BYTES
        && text.chars().all(plain);
    if !is_name {
        return fault("this is not the name of an image", "give one such as \"docker.io/library/debian:12\"");
    }
    Ok(text.to_owned())
}

pub(super) fn whole_in(number: Option<u64>, range: &RangeInclusive<u64>) -> Result<u64, Fault> {
    match number.filter(|number| range.contains(number)) {
        Some(number) => Ok(number),
        None => fault(
            "this is not a number in its range",
            format!("give a whole number from {} to {}", range.start(), range.end()),
        ),
    }
}

/// [`whole_in`] for settings that are 32 bits wide; their ranges are, too.
pub(super) fn small_in(number: Option<u64>, range: &RangeInclusive<u64>) -> Result<u32, Fault> {
    let number = whole_in(number, range)?;
    u32::try_from(number).map_or_else(|_| fault("this number is too large", "give a smaller one"), Ok)
}

pub(super) fn usd(number: Option<f64>) -> Result<f64, Fault> {
    match number.filter(|number| number.is_finite() && *number >= 0.0) {
        Some(number) => Ok(number),
        None => fault("this is not an amount of money", "give US dollars, such as 2.5"),
    }
}

pub(super) fn thinking(text: &str) -> Result<Thinking, Fault> {
    match text {
        "auto" => Ok(Thinking::Auto),
        "off" => Ok(Thinking::Off),
        _ => fault("this is no way to think", "give \"auto\" or \"off\""),
    }
}

pub(super) fn isolation(text: &str) -> Result<IsolationWish, Fault> {
    match text {
        "auto" => Ok(IsolationWish::Auto),
        "microvm" => Ok(IsolationWish::Microvm),
        "container" => Ok(IsolationWish::Container),
        _ => fault("this is no kind of isolation", "give \"auto\", \"microvm\" or \"container\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_http_without_secrets_and_without_a_slash_at_its_end() {
        for (text, expected) in [
            ("https://api.anthropic.com/", "https://api.anthropic.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            (" https://proxy.example/claude// ", "https://proxy.example/claude"),
        ] {
            assert_eq!(base_url(text).unwrap(), expected);
        }
        for text in [
            "",
            "api.anthropic.com",
            "ftp://a.b",
            "file:///etc/passwd",
            "https://user@a.b",
            "https://:word@a.b",
            "https://a.b/?key=1",
            "https://a.b/#x",
            "https://",
        ] {
            let fault = base_url(text).unwrap_err();
            assert!(!fault.advice.is_empty(), "{text}");
        }
    }

    #[test]
    fn an_image_is_a_name_and_nothing_else() {
        for name in ["debian", "localhost:5000/a_b/c.d-e:12", "x@sha256:00ff", "0123abcd"] {
            assert_eq!(image(name).unwrap(), name);
        }
        for name in ["", "-v", "--privileged", "a b", "a;b", "a`b`", "../x", "a?b", "ä", &"a".repeat(1000)] {
            assert!(image(name).is_err(), "{name}");
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        assert_eq!(small_in(Some(1), &TOKENS).unwrap(), 1);
        for number in [None, Some(0), Some(limits::SETTING_TOKENS_MAX + 1)] {
            assert!(small_in(number, &TOKENS).is_err());
        }
        assert_eq!(usd(Some(0.0)).unwrap(), 0.0);
        for number in [None, Some(-1.0), Some(f64::NAN), Some(f64::INFINITY)] {
            assert!(usd(number).is_err());
        }
    }
}
