//! Ties `docs/protocol.md` to the types that it explains.

use serde_json::Value;
use sha2::{Digest, Sha256};

const DOC: &str = include_str!("../../docs/protocol.md");
const TYPES: &str = include_str!("protocol.rs");

/// When this fails: bring `docs/protocol.md` in line with what changed, then put the new hash on its last line.
#[test]
fn the_document_was_looked_at_when_the_types_changed() {
    let hash: String = Sha256::digest(TYPES).iter().map(|byte| format!("{byte:02x}")).collect();
    let last = format!("<!-- protocol.rs: sha256 {hash} -->");
    assert_eq!(
        DOC.trim_end().lines().last(),
        Some(last.as_str()),
        "update docs/protocol.md, then its last line"
    );
}

#[test]
fn every_method_and_every_field_is_in_the_document() {
    let methods = ["new", "list", "load", "prompt", "cancel", "close", "update"];
    for method in ["list", "accept", "reject"].map(|name| format!("airlock/changes/{name}")) {
        assert!(DOC.contains(&method), "{method} is not explained");
    }
    for method in methods.map(|name| format!("airlock/session/{name}")) {
        assert!(DOC.contains(&method), "{method} is not explained");
    }
    let fields = TYPES.lines().filter_map(|line| {
        let line = line.trim().trim_start_matches("pub ");
        let name = line.split_once(": ")?.0;
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_').then_some(name)
    });
    for field in fields {
        let mut words = field.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let name = words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..]);
        assert!(DOC.contains(&name), "{name} is not explained");
    }
}

#[test]
fn every_example_is_json() {
    let mut examples = 0;
    for block in DOC.split("```json\n").skip(1) {
        let text = block.split("```").next().unwrap_or_default();
        serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        examples += 1;
    }
    assert!(examples > 10);
}
