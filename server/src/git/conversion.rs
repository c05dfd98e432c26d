//! What git would change in a file on its way in. Filters are programs, so none is run; then a file that needs one is
//! not committed at all: its raw content may be a secret that the filter encrypts, or gigabytes that it stores elsewhere.

use super::blobs::Lines;
use super::{GitError, Room};
use std::collections::HashMap;

/// The attributes that make git change content.
const ATTRIBUTES: [&str; 5] = ["filter", "text", "eol", "ident", "working-tree-encoding"];

/// The attributes of paths, as the room's index says.
pub(super) struct Attributes(HashMap<String, HashMap<String, String>>);

impl Attributes {
    pub(super) async fn of(room: &Room, names: &[String]) -> Result<Self, GitError> {
        if names.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let mut input = names.join("\0").into_bytes();
        input.push(0);
        let call = room.call("look up attributes").args(["check-attr", "--cached", "-z", "--stdin"]);
        let output = call.args(ATTRIBUTES).input(input).run().await?;
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let mut all: HashMap<String, HashMap<String, String>> = HashMap::new();
        for triple in fields.as_chunks().0 {
            let [name, attribute, value] = triple.map(|field| String::from_utf8_lossy(field).into_owned());
            all.entry(name).or_default().insert(attribute, value);
        }
        Ok(Self(all))
    }

    /// Why a file cannot be committed as it is.
    pub(super) fn why_not(&self, room: &Room, name: &str, lines: Lines) -> Option<String> {
        let attribute = |wanted: &str| {
            let value = self.0.get(name).and_then(|all| all.get(wanted)).map(String::as_str);
            value.filter(|value| !matches!(*value, "unspecified" | "unset"))
        };
        if let Some(filter) = attribute("filter")
            && ["clean", "process"].iter().any(|kind| {
                let key = format!("filter.{filter}.{kind}");
                room.own.get(&key).is_some() || room.users.get(&key).is_some()
            })
        {
            return Some(format!(
                "git passes it through the filter {filter:?}, which is not run here: commit it yourself"
            ));
        }
        let encoding = attribute("working-tree-encoding").filter(|name| !name.eq_ignore_ascii_case("utf-8"));
        if encoding.is_some() || attribute("ident").is_some() {
            return Some("git changes its content on the way in: commit it yourself".to_owned());
        }
        let is_text = match self.0.get(name).and_then(|all| all.get("text")).map(String::as_str) {
            Some("unset") => false,
            Some("auto") => lines != Lines::ReturnsInBinary,
            Some("unspecified") | None => {
                attribute("eol").is_some() || (converts_all(room) && lines != Lines::ReturnsInBinary)
            }
            Some(_) => true,
        };
        (lines != Lines::Plain && is_text)
            .then(|| "git changes its line ends on the way in: commit it yourself".to_owned())
    }
}

/// Whether the line ends of every text are changed.
fn converts_all(room: &Room) -> bool {
    let value = room.own.get("core.autocrlf").or_else(|| room.users.get("core.autocrlf"));
    value.is_some_and(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0"))
}
