//! What a plugin brings: its `plugin.toml`, and the section of its component.

use crate::input::Input;
use crate::json::has_fractions;
use airlock::limits::{PLUGIN_ASKED_MAX_BYTES, PLUGIN_NAME_MAX_CHARS};
use airlock::plugins::section::{self, Listing};
use airlock::plugins::{Manifest, Origin};

/// What is taken is what a person can be shown and judge; and a listing that is written is the one that is read.
pub fn plugin_files(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    if input.byte().is_multiple_of(2) {
        manifest(&String::from_utf8_lossy(input.rest()));
    } else {
        component(input.rest());
    }
}

fn manifest(text: &str) {
    let manifest = match Manifest::parse(text) {
        Ok(manifest) => manifest,
        Err(why) => return assert!(!why.is_empty()),
    };
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    assert!(manifest.name.starts_with(|letter: char| letter.is_ascii_lowercase()));
    assert!(manifest.name.len() <= PLUGIN_NAME_MAX_CHARS && manifest.name.chars().all(plain));
    for line in [&manifest.version, &manifest.description] {
        assert!(!line.chars().any(char::is_control), "{line:?} is no line");
    }
    let asked: Vec<_> = manifest.asks.http.iter().map(|power| &power.origin).collect();
    for power in &manifest.asks.http {
        is_origin(&power.origin);
        assert!(!power.local && !power.paths.is_empty() && !power.methods.is_empty());
        assert!(power.paths.iter().all(|path| path.starts_with('/') && is_shown_as_it_is(path)));
        assert!(power.methods.iter().all(|method| is_shown_as_it_is(method)));
    }
    for (name, secret) in &manifest.asks.secrets {
        assert!(
            is_shown_as_it_is(name) && asked.contains(&&secret.origin),
            "a secret for an origin without a grant"
        );
        is_origin(&secret.origin);
    }
    assert!(manifest.asks.words().iter().all(|word| is_shown_as_it_is(word)));
}

fn is_origin(origin: &str) {
    assert!(origin.len() <= PLUGIN_ASKED_MAX_BYTES);
    assert!(origin.starts_with("https://") || origin.starts_with("http://"));
    assert_eq!(
        Origin::parse(origin).map(|again| again.to_string()).as_deref(),
        Ok(origin),
        "not itself again"
    );
    assert!(is_shown_as_it_is(origin) && !origin.contains('@'));
}

fn is_shown_as_it_is(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_graphic())
}

fn component(bytes: &[u8]) {
    let listing = match section::read(bytes) {
        Err(why) => return assert!(!why.is_empty()),
        Ok(None) => Listing { interface: "0.1.0".to_owned(), tools: Vec::new(), commands: Vec::new() },
        Ok(Some(listing)) => {
            assert_eq!(listing.check(), Ok(()));
            listing
        }
    };
    if listing.tools.iter().any(|tool| has_fractions(&tool.input_schema)) {
        return;
    }
    let written = section::write(bytes, &listing).unwrap();
    assert_eq!(section::read(&written), Ok(Some(listing.clone())), "written and read again");
    assert_eq!(section::write(&written, &listing).as_ref(), Ok(&written), "there is one section");
}
